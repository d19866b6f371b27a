import pytest

from knowledge_index.sources.noise import is_noise


@pytest.mark.parametrize(
    "name",
    [
        *(".DS_Store", "Thumbs.db", "thumbs.db", "desktop.ini", "Desktop.ini"),
        *("~$Lease.docx", "~$", ".~lock.Lease.docx#", "~WRL0003.tmp", "8A3F12BC.TMP", "Lease.docx.tmp"),
    ],
)
def test_programs_own_files_are_noise_in_any_folder(name: str) -> None:
    assert is_noise(name)
    assert is_noise(f"Mandate/M-1/{name}")


@pytest.mark.parametrize(
    "path",
    [
        *("Lease.docx", "Thumbs.db.docx", "My Thumbs.db", "desktop.ini.txt", "~Lease.docx", "Lease~$.docx"),
        *(".~lock.Lease.docx", "lock#", "tmp", "Lease.tmp.docx", "~$folder/Lease.docx", "x.tmp/Lease.docx", ".hidden"),
    ],
)
def test_papers_with_odd_names_are_not(path: str) -> None:
    assert not is_noise(path)
