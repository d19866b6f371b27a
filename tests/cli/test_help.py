"""What someone reads who has never seen the program."""

import re
from importlib.metadata import version

import pytest
from command_line import Ki
from typer.main import get_command

from knowledge_index.cli.app import app

COMMANDS = sorted(get_command(app).commands)  # type: ignore[attr-defined]


def test_the_command_list_cuts_no_sentence(ki: Ki) -> None:
    outcome = ki("--help")
    assert outcome.code == 0
    listed = dict(re.findall(r"^  ([a-z-]+) {2,}(\S.*)$", outcome.out.split("Commands:")[1], re.MULTILINE))
    assert sorted(listed) == COMMANDS
    assert all(text.endswith(".") and not text.endswith("...") for text in listed.values())


@pytest.mark.parametrize("command", COMMANDS)
def test_every_option_and_argument_is_explained(ki: Ki, command: str) -> None:
    outcome = ki(command, "--help")
    assert outcome.code == 0
    for parameter in get_command(app).commands[command].params:  # type: ignore[attr-defined]
        assert parameter.name == "help" or parameter.help, parameter.name


def test_the_version_is_the_packages(ki: Ki) -> None:
    assert ki("--version").out == f"ki {version('knowledge_index')}\n"


def test_without_a_command_the_help_is_shown_and_nothing_succeeded(ki: Ki) -> None:
    outcome = ki()
    assert outcome.code == 2
    assert "Commands:" in outcome.out + outcome.err
