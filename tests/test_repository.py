"""What stands around the code stays true: documents, pins, licences, scripts and container files."""

import ast
import os
import re
import shlex
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Any

import pytest
import typer
import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

import knowledge_index
from knowledge_index.access.groups_file import load_groups_file
from knowledge_index.cli.app import app
from knowledge_index.config import load_config
from knowledge_index.domain.errors import KnowledgeIndexError
from knowledge_index.sources.acl_map import load_acl_map

ROOT = Path(__file__).resolve().parents[1]
DOCUMENTS = sorted(
    [*ROOT.glob("*.md"), *ROOT.glob("docs/*.md"), ROOT / "external/README.md", ROOT / "testdata/README.md"]
)
GLOBAL_OPTIONS = {"--home", "--set", "--debug", "--version", "--help"}
# The commands as they were asked for; there may be more, never fewer.
PROMISED_OPTIONS = {
    "generate-benchmark": {"--source", "--areas", "--matters", "--docs-target", "--seed"},
    "freeze-gold": {"--name", "--to", "--force"},
    "add-source": {"--name", "--acl-map"},
    "sync": {"--source", "--rehash", "--confirm-deletions"},
    "watch": {"--source", "--debounce", "--full-scan-every"},
    "remove-source": {"--yes"},
    "run": {"--limit", "--strict"},
    "status": {"--json"},
    "search": {"--as", "--limit", "--json", "--deleted", "--receipt"},
    "show": {"--as", "--state", "--changes"},
    "ask": {"--as", "--json", "--explain", "--limit", "--matter", "--receipt"},
    "verify": {"--key", "--text", "--document", "--json"},
    "replay": {"--query", "--as", "--json"},
    "keys show": {"--json"},
    "keys rotate": set(),
    "keys export": set(),
    "golden run": {"--k", "--as", "--min-hit-rate", "--json"},
    "run-retrieval-eval": {"--baseline", "--report", "--run-dir", "--min-lift"},
    "principals set-groups": {"--json"},
    "access explain": {"--as"},
    "break-glass open": {"--path", "--source", "--reason", "--minutes"},
    "break-glass list": set(),
    "break-glass revoke": set(),
    "audit verify": {"--checkpoint"},
    "audit checkpoint": set(),
    "audit show": {"--since", "--json"},
    "mcp": {"--as", "--http", "--allow-remote"},
    "tokens create": {"--for", "--expires", "--audience"},
    "tokens list": set(),
    "tokens revoke": set(),
    "config show": set(),
    "spans prepare-cuad": {"--seed", "--documents", "--include-metadata-clauses", "--allow-other-file"},
    "spans adapt": {"--docs", "--queries", "--out"},
    "spans run": {"--config", "--baseline", "--out"},
    "spans run-corpus": {"--corpus", "--mini", "--config", "--out"},
}
_CODE_BLOCK = re.compile(r"^```(\w*)\n(.*?)^```", re.MULTILINE | re.DOTALL)
_CODE_SPAN = re.compile(r"`([^`\n]+)`")
_LINK = re.compile(r"\]\(([^)\s]+)\)")
_PATH = re.compile(r"(?:tests|src|scripts|benchmarks|testdata|\.ci)/[\w./-]*")
_MACHINE_PATH = re.compile(r"(?<![\w.~/>}])/(?:root|home|Users|work|workspace)/")
_MAX_FILE_BYTES = 1024 * 1024


def _name(document: Path) -> str:
    return document.relative_to(ROOT).as_posix()


@cache
def _kept_files() -> tuple[Path, ...]:
    """Every file that the repository holds or would take in."""
    listing = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], cwd=ROOT, capture_output=True
    )
    if listing.returncode:
        pytest.skip("this is no git checkout, so there is no telling which files belong to it")
    return tuple(sorted(ROOT / name for name in os.fsdecode(listing.stdout).split("\0") if name and _is_file(name)))


def _is_file(name: str) -> bool:
    return (ROOT / name).is_file()


@cache
def _project() -> dict[str, Any]:
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


@cache
def _pins() -> dict[str, str]:
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    return {canonicalize_name(name): version for name, _, version in (line.partition("==") for line in lines)}


@cache
def _options() -> dict[str, set[str]]:
    """The options of each command, by what a user types."""
    commands: dict[str, set[str]] = {}

    def visit(command: Any, words: tuple[str, ...]) -> None:
        for name, child in getattr(command, "commands", {}).items():
            visit(child, (*words, name))
        if not hasattr(command, "commands"):
            commands[" ".join(words)] = {option for each in command.params for option in each.opts} | {"--help"}

    visit(typer.main.get_command(app), ())
    return commands


def _command_lines(document: Path) -> Iterator[list[str]]:
    """The words of every command line that a document shows."""
    text = document.read_text(encoding="utf-8")
    lines = [
        line.removeprefix("$ ").partition(" #")[0].partition("    #")[0]
        for language, block in _CODE_BLOCK.findall(text)
        if language == "console"
        for line in block.splitlines()
    ]
    for line in [*lines, *_CODE_SPAN.findall(_CODE_BLOCK.sub("", text))]:
        try:
            words = shlex.split(line)
        except ValueError:
            continue
        while words and re.fullmatch(r"[A-Z_]+=.*", words[0]):
            words.pop(0)
        if words[:4] == ["docker", "compose", "exec", "app"]:
            words = words[4:]
        if words:
            yield words


@pytest.mark.parametrize("command", PROMISED_OPTIONS)
def test_help_names_every_promised_option(command: str) -> None:
    help_text = subprocess.run(
        [sys.executable, "-c", "from knowledge_index.cli import main; main()", *command.split(), "--help"],
        capture_output=True,
        text=True,
        check=True,
        env={name: value for name, value in os.environ.items() if not name.startswith("KI_")} | {"COLUMNS": "120"},
    ).stdout
    assert {option for option in PROMISED_OPTIONS[command] if option not in help_text} == set()


@pytest.mark.parametrize("document", DOCUMENTS, ids=_name)
def test_documents_show_commands_that_exist(document: Path) -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    targets = set(re.findall(r"^([a-z-]+):", makefile, re.MULTILINE))
    for words in _command_lines(document):
        if words[0] == "make":
            assert {word for word in words[1:] if "=" not in word} <= targets, words
        elif words[0] in ("ki", ".venv/bin/ki"):
            _assert_known(words[1:])


def _assert_known(words: list[str]) -> None:
    while words and words[0].startswith("-"):
        option = words.pop(0)
        assert option in GLOBAL_OPTIONS, option
        if option in ("--home", "--set"):
            words.pop(0)
    if not words:
        return
    command = next((" ".join(words[:n]) for n in (2, 1) if " ".join(words[:n]) in _options()), None)
    assert command, f"ki {' '.join(words)}"
    shown = {option for word in words for option in re.findall(r"(?<![\w-])--[a-z-]+", word)}
    assert shown <= _options()[command], f"ki {' '.join(words)}"


def test_the_readme_shows_every_command() -> None:
    shown = {" ".join(words[1:3]) for words in _command_lines(ROOT / "README.md") if words[0] == "ki"}
    missing = [command for command in _options() if not any(f"{each} ".startswith(f"{command} ") for each in shown)]
    assert missing == []


@pytest.mark.parametrize("document", DOCUMENTS, ids=_name)
def test_documents_name_files_that_exist(document: Path) -> None:
    text = document.read_text(encoding="utf-8")
    links = [link.partition("#")[0] for link in _LINK.findall(text) if "://" not in link]
    missing = [link for link in links if link and not (document.parent / link).exists()]
    prose = _CODE_BLOCK.sub("", text)
    missing += [path for path in _CODE_SPAN.findall(prose) if _PATH.fullmatch(path) and not (ROOT / path).exists()]
    assert missing == []


def test_the_readmes_examples_are_read_as_shown(tmp_path: Path) -> None:
    blocks = _CODE_BLOCK.findall((ROOT / "README.md").read_text(encoding="utf-8"))
    acl_map, groups = tmp_path / "acl-by-path.json", tmp_path / "groups.json"
    for file, text in zip((acl_map, groups), [text for language, text in blocks if language == "json"], strict=True):
        file.write_text(text, encoding="utf-8")
    (tmp_path / "config.toml").write_text(dict(blocks)["toml"], encoding="utf-8")
    assert load_groups_file(groups).declarations
    assert [str(grant.principal) for grants in load_acl_map(acl_map).values() for grant in grants]
    assert load_config(tmp_path, {}).origins


def test_the_readmes_exit_codes_are_the_errors_own() -> None:
    table = re.findall(r"^\| (\d+) \|", (ROOT / "README.md").read_text(encoding="utf-8"), re.MULTILINE)

    def codes(error: type[KnowledgeIndexError]) -> set[int]:
        return {error.exit_code}.union(*(codes(each) for each in error.__subclasses__()))

    assert {int(code) for code in table} == {0, 1, 70, 130} | codes(KnowledgeIndexError)


def test_the_architecture_has_a_heading_for_every_package() -> None:
    text = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    headings = re.findall(r"^## (\w+)/: .*\?$", text, re.MULTILINE)
    packages = [file.parent.name for file in (ROOT / "src/knowledge_index").glob("*/__init__.py")]
    assert sorted(headings) == sorted(packages)


def test_versions_agree() -> None:
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert _project()["version"] == knowledge_index.__version__
    assert f"## [{knowledge_index.__version__}]" in changelog


def test_no_kept_file_is_large() -> None:
    assert [_name(file) for file in _kept_files() if file.stat().st_size > _MAX_FILE_BYTES] == []


def test_no_kept_text_names_a_path_of_one_machine() -> None:
    found = []
    for file in _kept_files():
        try:
            text = file.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue
        found += [f"{_name(file)}: {line}" for line in text.splitlines() if _MACHINE_PATH.search(line)]
    assert found == []


def test_public_data_is_ignored() -> None:
    kept = [_name(file) for file in _kept_files() if file.is_relative_to(ROOT / "external")]
    assert kept == ["external/README.md"]


@pytest.mark.parametrize("script", [".ci/run", "scripts/demo.sh"])
def test_scripts_can_be_run(script: str) -> None:
    assert os.access(ROOT / script, os.X_OK)
    subprocess.run(["bash", "-n", ROOT / script], check=True)


def _requirements() -> list[Requirement]:
    extras = _project()["optional-dependencies"].values()
    return [Requirement(text) for text in [*_project()["dependencies"], *(text for extra in extras for text in extra)]]


@cache
def _needed() -> dict[str, metadata.Distribution]:
    """Every distribution that a development install brings on this platform, by canonical name."""
    found: dict[str, metadata.Distribution] = {}
    waiting = _requirements()
    while waiting:
        requirement = waiting.pop()
        name = canonicalize_name(requirement.name)
        # What PyTorch's builds for graphics cards bring is pinned by PyTorch itself, and absent from its CPU build.
        if name in found or name.startswith(("nvidia-", "cuda-")) or name == "triton":
            continue
        found[name] = metadata.distribution(name)
        for text in found[name].requires or []:
            child = Requirement(text)
            if child.marker is None or any(
                child.marker.evaluate({"extra": extra}) for extra in ("", *requirement.extras)
            ):
                waiting.append(child)
    return found


def test_constraints_pin_everything_that_is_installed() -> None:
    pins = _pins()
    installed = {name: each.version.partition("+")[0] for name, each in _needed().items()}
    assert {name: version for name, version in installed.items() if pins.get(name) != version} == {}
    assert [str(each) for each in _requirements() if pins[canonicalize_name(each.name)] not in each.specifier] == []


def test_constraints_are_sorted_and_exact() -> None:
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    assert lines == sorted(lines, key=lambda line: line.partition("==")[0].casefold())
    assert [line for line in lines if not re.fullmatch(r"[\w.-]+==[\w.]+", line)] == []


def test_the_code_imports_what_the_project_declares() -> None:
    imported = set()
    for file in (ROOT / "src").rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                imported |= {alias.name.partition(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                imported.add(node.module.partition(".")[0])
    distributions = metadata.packages_distributions()
    used = {
        canonicalize_name(distributions[name][0]) for name in imported - sys.stdlib_module_names - {"knowledge_index"}
    }
    assert used == {canonicalize_name(Requirement(text).name) for text in _project()["dependencies"]}


def _licence(distribution: metadata.Distribution) -> str:
    """What a distribution states: the expression, else the classifiers, else the first line of the free text."""
    expression = distribution.metadata.get("License-Expression")
    classifiers = [each for each in distribution.metadata.get_all("Classifier") or [] if each.startswith("License ::")]
    free_text = (distribution.metadata.get("License") or "").strip()
    return expression or "; ".join(classifiers) or free_text.partition("\n")[0]


def test_no_dependency_is_under_a_gnu_licence() -> None:
    licences = {name: _licence(distribution) for name, distribution in _needed().items()}
    assert {name for name, licence in licences.items() if not licence} == set()
    assert {name: each for name, each in licences.items() if re.search(r"GPL|GNU|General Public", each)} == {}


def _instructions() -> list[tuple[str, str]]:
    text = (ROOT / "Dockerfile").read_text(encoding="utf-8")
    lines = re.sub(r"\\\n\s*", " ", re.sub(r"^\s*#.*\n", "", text, flags=re.MULTILINE)).splitlines()
    return [(line.partition(" ")[0], line.partition(" ")[2]) for line in lines if line.strip()]


def test_the_image_copies_files_that_exist_and_that_docker_may_see() -> None:
    ignored = (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines()
    copied = [
        source
        for instruction, rest in _instructions()
        if instruction in ("COPY", "ADD") and not rest.startswith("--from")
        for source in rest.split()[:-1]
    ]
    assert copied
    assert [source for source in copied if not (ROOT / source).exists() or f"!{source}" not in ignored] == []


def test_the_image_runs_as_a_plain_user_and_reports_its_health() -> None:
    instructions = _instructions()
    last_stage = instructions[max(place for place, each in enumerate(instructions) if each[0] == "FROM") :]
    stage = dict(last_stage)
    assert re.fullmatch(r"[1-9]\d*:[1-9]\d*", stage["USER"])
    assert "KI_HOME=/data" in stage["ENV"]
    assert stage["VOLUME"] == "/data"
    assert '"ki", "status"' in stage["HEALTHCHECK"]


def test_the_container_cannot_write_to_what_it_reads() -> None:
    compose = yaml.safe_load((ROOT / "docker-compose.yml").read_text(encoding="utf-8"))
    service = compose["services"]["app"]
    mounts = {each["target"]: each for each in service["volumes"]}
    assert mounts["/testdata"]["read_only"] is True
    assert mounts["/estate"]["read_only"] is True
    assert mounts["/data"]["type"] == "volume"
    assert mounts["/data"]["source"] in compose["volumes"]
    assert service["read_only"] is True
    assert service["cap_drop"] == ["ALL"]
    assert service["security_opt"] == ["no-new-privileges:true"]
    assert service["healthcheck"]["test"][:3] == ["CMD", "ki", "status"]
    binds = [each["source"] for each in service["volumes"] if each["type"] == "bind"]
    assert [path for path in binds if not (ROOT / re.sub(r"\$\{\w+:-(.*)\}", r"\1", path)).is_dir()] == []
