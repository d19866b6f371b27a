"""Fixtures that several packages' tests share."""

from pathlib import Path

import pytest

from small_firm import SmallFirm, write_estate

pytest.register_assert_rewrite("gold_files")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--regenerate-gold",
        action="store_true",
        help="write the expectations in tests/data anew from what the converters make now",
    )


@pytest.fixture
def regenerate_gold(request: pytest.FixtureRequest) -> bool:
    """Whether this run writes gold instead of comparing with it; off in every run but a deliberate one."""
    return bool(request.config.getoption("--regenerate-gold"))


@pytest.fixture
def firm(tmp_path: Path) -> SmallFirm:
    """A small firm whose files are written and neither synced nor indexed."""
    firm = SmallFirm.in_folder(tmp_path / "firm")
    write_estate(firm)
    return firm


@pytest.fixture(scope="session")
def shared_firm(tmp_path_factory: pytest.TempPathFactory) -> SmallFirm:
    """A small firm, synced and indexed, for tests that only read it."""
    firm = SmallFirm.in_folder(tmp_path_factory.mktemp("shared") / "firm")
    write_estate(firm)
    firm.sync_and_run()
    return firm
