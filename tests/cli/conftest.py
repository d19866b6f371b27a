import functools
import os
from pathlib import Path

import pytest
from command_line import Ki, in_this_process

from small_firm import SmallFirm, WordEmbedder, write_estate


@pytest.fixture(autouse=True)
def _no_settings_of_the_caller(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in [name for name in os.environ if name.startswith("KI_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))


@pytest.fixture
def ki(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Ki:
    """The command line in this process, with a made-up model in place of the packaged one."""
    monkeypatch.setattr("knowledge_index.embed.build_embedder", lambda settings: WordEmbedder())
    return functools.partial(in_this_process, capsys, monkeypatch)


@pytest.fixture
def firm_files(tmp_path: Path) -> SmallFirm:
    """The small firm's files and ACL map; its home is not what the commands are given."""
    firm = SmallFirm.in_folder(tmp_path / "firm")
    write_estate(firm)
    firm.sync()
    return firm


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home of ki"


@pytest.fixture
def indexed_home(ki: Ki, firm_files: SmallFirm, home: Path) -> Path:
    """A home in which the small firm went through add-source, sync and run."""
    added = ki("--home", home, "add-source", firm_files.root, "--name", "dms", "--acl-map", firm_files.acl_file)
    assert (added.code, added.err) == (0, "")
    assert ki("--home", home, "sync").code == 0
    assert ki("--home", home, "run").code == 0
    return home
