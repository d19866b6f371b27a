import os
import re
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from knowledge_index.config.home import Home
from knowledge_index.domain.errors import BusyError, ConfigurationError

HOLD_THE_LOCK = """
import sys
from pathlib import Path
from knowledge_index.config.home import Home
with Home(Path(sys.argv[1])).writing():
    print("held", flush=True)
    sys.stdin.read()
"""
MAKE_THE_HOME = """
import sys
from pathlib import Path
from knowledge_index.config.home import Home
sys.stdin.read()
home = Home(Path(sys.argv[1]))
home.create()
print(home.installation_key().hex())
"""


def mode_of(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.fixture
def home(tmp_path: Path) -> Home:
    home = Home(tmp_path / "home")
    home.create()
    return home


def test_a_home_is_for_its_owner_alone(tmp_path: Path) -> None:
    home = Home(tmp_path / "deep" / "er" / "home")
    before = os.umask(0)
    try:
        home.create()
    finally:
        os.umask(before)
    assert mode_of(home.folder) == 0o700
    assert mode_of(home.key_file) == 0o600
    assert [each.name for each in home.folder.iterdir()] == ["installation.key"]


def test_a_home_has_one_key_for_good(home: Home) -> None:
    key = home.installation_key()
    assert len(key) == 32
    assert re.fullmatch(r"[0-9a-f]{64}\n", home.key_file.read_text(encoding="ascii"))
    home.create()
    assert home.installation_key() == key


def test_two_homes_have_two_keys(home: Home, tmp_path: Path) -> None:
    other = Home(tmp_path / "other")
    other.create()
    assert other.installation_key() != home.installation_key()


def test_first_runs_at_the_same_moment_agree_on_one_key(tmp_path: Path) -> None:
    folder = tmp_path / "home"
    started = [
        subprocess.Popen(
            [sys.executable, "-c", MAKE_THE_HOME, str(folder)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        for _ in range(3)
    ]
    for each in started:
        assert each.stdin is not None
        each.stdin.close()
    keys = set()
    for each in started:
        assert each.stdout is not None
        keys.add(each.stdout.read().strip())
        each.stdout.close()
        assert each.wait() == 0
    assert keys == {Home(folder).installation_key().hex()}
    assert [each.name for each in folder.iterdir()] == ["installation.key"]


@pytest.mark.parametrize("content", [b"", b"00" * 31, b"00" * 33, b"zz" * 32, b"\xff" * 64])
def test_a_damaged_key_is_refused_and_not_replaced(home: Home, content: bytes) -> None:
    home.key_file.write_bytes(content)
    home.create()
    with pytest.raises(ConfigurationError, match=re.escape(str(home.key_file))):
        home.installation_key()
    assert home.key_file.read_bytes() == content


def test_a_missing_key_is_an_error_not_a_new_key(home: Home) -> None:
    home.key_file.unlink()
    with pytest.raises(ConfigurationError, match=re.escape(str(home.key_file))):
        home.installation_key()


def test_a_file_in_the_homes_place_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "home"
    file.write_bytes(b"")
    with pytest.raises(ConfigurationError, match="--home or KI_HOME"):
        Home(file).create()


def test_everything_of_a_home_lies_in_it(home: Home) -> None:
    places = [home.catalog_file, home.lexical_folder, home.vector_folder, home.vector_cache_file, home.key_file]
    assert all(place.is_relative_to(home.folder) for place in [*places, home.writer_lock_file])
    assert len(set(places)) == len(places)


def test_a_second_holder_in_the_same_process_is_refused(home: Home) -> None:
    with home.writing():
        with pytest.raises(BusyError, match=re.escape(str(home.folder))), Home(home.folder).writing():
            pytest.fail("two writers at once")
        # Being refused must not have released the first holder's lock.
        with pytest.raises(BusyError), home.writing():
            pytest.fail("two writers at once")
    with home.writing():
        pass


def test_the_lock_is_released_when_the_work_fails(home: Home) -> None:
    with pytest.raises(RuntimeError, match="failed"), home.writing():
        raise RuntimeError("failed")
    with home.writing():
        pass


def test_another_process_is_refused_until_the_first_has_ended(home: Home) -> None:
    other = subprocess.Popen(
        [sys.executable, "-c", HOLD_THE_LOCK, str(home.folder)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert other.stdout is not None
        assert other.stdout.readline() == "held\n"
        with pytest.raises(BusyError, match="another ki process"), home.writing():
            pytest.fail("two writers at once")
    finally:
        # Killed, not ended in good order: a crash must not leave the home locked.
        other.kill()
        other.communicate()
    with home.writing():
        pass


def test_being_busy_is_a_missing_precondition() -> None:
    assert BusyError.exit_code == 3


def test_a_lost_key_of_a_home_in_use_is_not_replaced(home: Home) -> None:
    home.catalog_file.write_bytes(b"")
    home.key_file.unlink()
    with pytest.raises(ConfigurationError, match="restore it from a backup"):
        home.create()
    assert not home.key_file.exists()


def test_a_home_that_cannot_be_locked_says_why(home: Home) -> None:
    home.writer_lock_file.mkdir()
    with pytest.raises(ConfigurationError, match="cannot be locked for writing") as error, home.writing():
        pytest.fail("written without a lock")
    assert str(home.writer_lock_file) in str(error.value)
    assert "--home" in str(error.value)
