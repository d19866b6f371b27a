"""What the contract leaves to the Tantivy index."""

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import tantivy

from knowledge_index.domain.errors import BusyError, IndexStateError, UsageError
from knowledge_index.domain.grants import Scope
from knowledge_index.domain.search import SearchFilters
from knowledge_index.index import LexicalRow, open_lexical_index

SCOPE = Scope(frozenset(), frozenset({"class-a"}), 0)
NO_FILTER = SearchFilters()


def row(key: str, text: str, *identifiers: str) -> LexicalRow:
    return LexicalRow(key, "class-a", "M-1", text, identifiers)


def found_keys(index, query: str) -> list[str]:  # type: ignore[no-untyped-def]
    return [each.row_key for each in index.search_text(query, SCOPE, NO_FILTER, 10)]


def test_a_pasted_wording_ranks_first(tmp_path):
    index = open_lexical_index(tmp_path)
    index.add(
        [
            row("scattered", "Zero Harbour 12 Street. Street 12 Zero. Harbour Zero Street 12."),
            row("verbatim", "The premises at 12 Harbour Street, Zero, with all that belongs to them and more words"),
        ]
    )
    assert found_keys(index, "12 Harbour Street") == ["verbatim", "scattered"]


def test_stop_words_alone_are_found_by_their_wording(tmp_path):
    index = open_lexical_index(tmp_path)
    index.add([row("hamlet", "whether to be or not to be"), row("other", "not to the parties or such as may be")])
    assert found_keys(index, "to be or not to be")[0] == "hamlet"


@pytest.mark.parametrize("query", ["Kündigung Müller", "Ku\u0308ndigung Mu\u0308ller", "kuendigung mueller"])
@pytest.mark.parametrize("text", ["Kündigung Müller", "Ku\u0308ndigung Mu\u0308ller", "KUENDIGUNG MUELLER"])
def test_umlauts_meet_in_every_spelling(tmp_path, query, text):
    index = open_lexical_index(tmp_path)
    index.add([row("k", text)])
    assert found_keys(index, query) == ["k"]


def test_the_rarest_identifier_ranks_first(tmp_path):
    index = open_lexical_index(tmp_path)
    index.add([row(f"common-{number}", "x", "date:2024-01-01") for number in range(5)])
    index.add([row("rare", "x", "file:3 O 12/24", "amount:1", "amount:2", "amount:3")])
    found = index.search_identifiers({"date:2024-01-01", "file:3 O 12/24", "file:none"}, SCOPE, NO_FILTER, 1)
    assert [each.row_key for each in found] == ["rare"]


@pytest.mark.parametrize(
    "bad",
    [
        LexicalRow("k", "class-a", "M-1", 5, ()),  # type: ignore[arg-type]
        LexicalRow("k", "class-a", None, "text", ()),  # type: ignore[arg-type]
        LexicalRow("k", "class-a", "M-1", "text", (1,)),  # type: ignore[arg-type]
        LexicalRow("k", "class-a", "M-1", "text", "file:1"),  # type: ignore[arg-type]
        LexicalRow("", "class-a", "M-1", "text", ()),
        LexicalRow("k", "", "M-1", "text", ()),
        LexicalRow("k" * 70_000, "class-a", "M-1", "text", ()),
    ],
)
def test_a_malformed_row_is_refused_before_anything_is_written(tmp_path, bad):
    index = open_lexical_index(tmp_path)
    with pytest.raises(UsageError, match="lexical row"):
        index.add([row("good", "rent"), bad])
    assert index.row_keys() == set()
    with pytest.raises(UsageError, match="lexical row"):
        index.rebuild([row("good", "rent"), bad])
    assert index.add([row("good", "rent")]) == 1


def test_lone_surrogates_can_be_written_and_filtered_by(tmp_path):
    index = open_lexical_index(tmp_path)
    index.add([LexicalRow("k", "class-a", "M-\udce4", "rent \ud800", ("file:\udcff",))])
    filters = SearchFilters(frozenset({"M-\udce4"}))
    assert len(index.search_text("rent", SCOPE, filters, 5)) == 1
    assert len(index.search_identifiers(["file:\udcff"], SCOPE, filters, 5)) == 1


def test_a_write_beside_another_writer_is_refused(tmp_path):
    index = open_lexical_index(tmp_path)
    index.add([row("k", "rent")])
    other = tantivy.Index.open(str(tmp_path / "1")).writer(15_000_000, 1)
    with pytest.raises(BusyError, match="another process writes"):
        index.add([row("l", "rent")])
    assert found_keys(index, "rent") == ["k"]
    other.wait_merging_threads()
    assert index.add([row("l", "rent")]) == 1


def test_rebuilding_keeps_one_generation(tmp_path):
    index = open_lexical_index(tmp_path)
    index.add([row("k", "rent")])
    (tmp_path / "7").mkdir()
    index.rebuild([row("l", "rent")])
    assert sorted(each.name for each in tmp_path.iterdir()) == ["8", "CURRENT"]
    assert found_keys(index, "rent") == ["l"]


def test_what_a_killed_first_write_left_is_no_obstacle(tmp_path):
    (tmp_path / "1").mkdir()
    (tmp_path / "1" / "meta.json").write_text("{")
    index = open_lexical_index(tmp_path)
    assert index.row_keys() == set()
    assert index.add([row("k", "rent")]) == 1


@pytest.mark.parametrize(
    ("pointer", "message"),
    [
        ("not json", "damaged"),
        (json.dumps({"generation": 1}), "damaged"),
        (json.dumps({"format": 0, "generation": 1}), "format 0"),
        (json.dumps({"format": 1, "generation": 9}), "cannot be opened"),
    ],
)
def test_a_damaged_index_says_what_to_do_and_a_rebuild_mends_it(tmp_path, pointer, message):
    index = open_lexical_index(tmp_path)
    index.add([row("k", "rent")])
    (tmp_path / "CURRENT").write_text(pointer)
    for call in (index.row_keys, lambda: found_keys(index, "rent"), lambda: index.add([row("l", "rent")])):
        with pytest.raises(IndexStateError, match=message) as raised:
            call()
        assert "ki run" in str(raised.value)
    index.rebuild([row("l", "rent")])
    assert found_keys(index, "rent") == ["l"]


WRITER = """
import sys
from pathlib import Path
from knowledge_index.index import LexicalRow, open_lexical_index
index = open_lexical_index(Path(sys.argv[1]))
rows = [LexicalRow(f"key-{number}", "class-a", "M-1", f"rent {number}", ()) for number in range(200)]
print("ready", flush=True)
while True:
    for start in range(0, 200, 20):
        index.add(rows[start : start + 20])
    index.rebuild(rows[:100])
"""


@pytest.mark.parametrize("delay_ms", [20, 90, 170, 260])
def test_a_killed_writer_leaves_an_index_that_goes_on(tmp_path, delay_ms):
    process = subprocess.Popen([sys.executable, "-c", WRITER, str(tmp_path)], stdout=subprocess.PIPE)
    assert process.stdout is not None
    process.stdout.readline()
    time.sleep(delay_ms / 1000)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    index = open_lexical_index(tmp_path)
    before = index.row_keys()
    assert len(before) % 20 == 0
    rows = [row(f"key-{number}", f"rent {number}") for number in range(200)]
    assert index.add(rows) == 200 - len(before)
    reference = open_lexical_index(tmp_path / "reference")
    reference.rebuild(rows)
    for query in ("rent", "rent 7", "99"):
        found = index.search_text(query, SCOPE, NO_FILTER, 20)
        assert found == reference.search_text(query, SCOPE, NO_FILTER, 20)


def test_a_search_of_an_absent_index_creates_nothing(tmp_path):
    index = open_lexical_index(tmp_path / "lexical")
    assert found_keys(index, "rent") == []
    assert not (tmp_path / "lexical").exists()


def test_opening_imports_no_engine():
    script = (
        "import sys\nfrom pathlib import Path\nimport knowledge_index.index\n"
        "knowledge_index.index.open_lexical_index(Path('x'))\n"
        "assert not {'tantivy', 'lancedb', 'pyarrow', 'torch'} & sys.modules.keys()\n"
    )
    subprocess.run([sys.executable, "-c", script], check=True, cwd=Path(__file__).parent)


@pytest.mark.parametrize(
    ("suffix", "damage"),
    [
        (".pos", lambda content: None),
        (".store", lambda content: None),
        (".idx", lambda content: bytes(len(content) - 180) + content[-180:]),
        (".store", lambda content: b"\xa5" * (len(content) - 180) + content[-180:]),
        (".term", lambda content: content[: len(content) // 2]),
    ],
)
def test_a_damaged_file_of_the_index_says_what_to_do(tmp_path, suffix, damage):
    rows = [row(f"key-{number}", f"rent {number}", "file:1") for number in range(300)]
    open_lexical_index(tmp_path).add(rows)
    for file in (tmp_path / "1").glob(f"*{suffix}"):
        content = damage(file.read_bytes())
        file.unlink() if content is None else file.write_bytes(content)
    index = open_lexical_index(tmp_path)
    calls = (
        index.row_keys,
        lambda: found_keys(index, "rent 7"),
        lambda: index.search_identifiers({"file:1"}, SCOPE, NO_FILTER, 10),
        lambda: index.add(rows[:1]),
    )
    refusals = [str(error) for error in map(error_of, calls) if error]
    # A call that reads nothing of what is damaged may do its work.
    assert refusals
    assert all("delete the folder and run 'ki run'" in each for each in refusals)


def error_of(call):  # type: ignore[no-untyped-def]
    try:
        call()
    except IndexStateError as error:
        return error
    return None
