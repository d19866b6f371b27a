"""Fixtures that several packages' tests share."""

from pathlib import Path

import pytest

from small_firm import SmallFirm, write_estate


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
