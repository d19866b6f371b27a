"""What the contract leaves to the index of compartments."""

import dataclasses
import json
import math
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import fields
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from knowledge_index.domain.errors import IndexStateError, UsageError
from knowledge_index.domain.grants import Scope
from knowledge_index.domain.search import SearchFilters
from knowledge_index.index import LexicalRow, open_lexical_index
from knowledge_index.index.segment import Segment, build_segment, decoded, encoded, merge_segments, without_rows

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


def files_of(folder: Path) -> list[Path]:
    return sorted(folder.glob("*/*.segment"))


def test_only_what_is_in_force_stays_on_disk(tmp_path):
    index = open_lexical_index(tmp_path)
    for number in range(9):
        index.add([row(f"k-{number}", "rent")])
    assert len(files_of(tmp_path)) == 2
    (tmp_path / "killed").mkdir()
    (tmp_path / "killed" / "77.segment").write_bytes(b"half of a")
    index.rebuild([row("l", "rent")])
    assert len(files_of(tmp_path)) == 1
    assert found_keys(index, "rent") == ["l"]
    index.remove(["l"])
    assert sorted(each.name for each in tmp_path.iterdir()) == ["CURRENT"]
    assert found_keys(index, "rent") == []


def test_a_change_in_one_compartment_leaves_the_files_of_the_others_alone(tmp_path):
    index = open_lexical_index(tmp_path)
    index.add([row("mine", "rent"), row("mine too", "lease"), LexicalRow("theirs", "class-b", "M-1", "rent", ())])
    before = {file: file.stat().st_mtime_ns for file in files_of(tmp_path)}
    index.remove(["mine"])
    index.add([row("mine again", "rent")])
    after = {file: file.stat().st_mtime_ns for file in files_of(tmp_path)}
    assert len(before) == 2
    assert len(before.items() & after.items()) == 1


def test_the_scope_decides_which_files_are_read(tmp_path):
    index = open_lexical_index(tmp_path)
    index.add([row("mine", "rent"), LexicalRow("theirs", "class-b", "M-1", "rent", ())])
    manifest = json.loads((tmp_path / "CURRENT").read_text())
    (theirs,) = manifest["compartments"]["class-b"]
    (tmp_path / theirs["name"]).unlink()
    assert found_keys(open_lexical_index(tmp_path), "rent") == ["mine"]


@pytest.mark.parametrize(
    ("pointer", "message"),
    [
        ("not json", "damaged"),
        ("[]", "damaged"),
        (json.dumps({"next_number": 1}), "damaged"),
        (json.dumps({"format": 1, "generation": 1}), "format 1"),
        (
            json.dumps(
                {
                    "format": 2,
                    "next_number": 9,
                    "compartments": {"class-a": [{"name": "x/1.segment", "rows": 1, "size_bytes": 1, "crc32": 1}]},
                }
            ),
            "missing|No such file",
        ),
    ],
)
def test_a_damaged_index_says_what_to_do_and_a_rebuild_mends_it(tmp_path, pointer, message):
    index = open_lexical_index(tmp_path)
    index.add([row("k", "rent")])
    (tmp_path / "CURRENT").write_text(pointer)
    for call in (index.row_keys, lambda: found_keys(index, "rent"), lambda: index.add([row("l", "rent")])):
        with pytest.raises(IndexStateError, match=message) as raised:
            call()
        assert "ki doctor --repair" in str(raised.value)
    assert index.compare([row("k", "rent")]).damaged
    index.rebuild([row("l", "rent")])
    assert found_keys(index, "rent") == ["l"]
    assert not index.compare([row("l", "rent")])


def bm25(weight: float, count: int, length: int, mean_length: float) -> float:
    return weight * 2.2 * count / (count + 1.2 * (0.25 + 0.75 * length / mean_length))


def test_scores_are_those_of_the_formula(tmp_path):
    """Worked out by hand: 3 visible rows of 4, 2 and 6 words; "rent" in 2 of them, "tenant" in 1, "rent tenant" too."""
    index = open_lexical_index(tmp_path)
    index.add([row("a", "rent rent of a"), row("b", "rent tenant")])
    index.add([row("c", "one two six ten day"), LexicalRow("hidden", "class-b", "M-1", "rent tenant " * 50, ())])
    rent, tenant, mean = math.log(1 + 1.5 / 2.5), math.log(1 + 2.5 / 1.5), 11 / 3
    expected = {
        "a": bm25(rent, 2, 4, mean),
        "b": bm25(rent, 1, 2, mean) + bm25(tenant, 1, 2, mean) + 2 * bm25(rent + tenant, 1, 2, mean),
    }
    found = index.search_text("tenant rent", SCOPE, NO_FILTER, 9)
    assert [each.row_key for each in found] == ["b", "a"]
    found = {each.row_key: each.score for each in index.search_text("rent tenant", SCOPE, NO_FILTER, 9)}
    assert found == pytest.approx(expected, abs=1e-9)


words_of_a_row = st.lists(st.sampled_from(["rent", "rent", "lease", "tenant", "harbour", "12"]), max_size=9)
contents = st.lists(
    st.tuples(words_of_a_row, st.sampled_from("abcd"), st.sampled_from(["file:1", "date:2"])), max_size=30
)


def rows_of(drawn) -> list[LexicalRow]:  # type: ignore[no-untyped-def]
    return [
        LexicalRow(f"k-{number}", f"class-{acl}", f"M-{number % 2}", " ".join(text), (identifier,))
        for number, (text, acl, identifier) in enumerate(drawn)
    ]


@settings(max_examples=40, deadline=None)
@given(drawn=contents, data=st.data(), query=words_of_a_row.filter(bool).map(" ".join))
def test_an_answer_is_that_of_an_index_of_the_visible_rows_alone(drawn, data, query):
    """Whatever else it holds, held, or is told to leave out; and in however many segments the rows lie."""
    rows = rows_of(drawn)
    gone = data.draw(st.sets(st.sampled_from([each.row_key for each in rows] or [""]), max_size=5))
    left_out = data.draw(st.sets(st.sampled_from([each.row_key for each in rows] or [""]), max_size=5))
    visible = [
        each for each in rows if each.acl_class_id in ("class-a", "class-b") and each.row_key not in gone | left_out
    ]
    scope = Scope(frozenset(), frozenset({"class-a", "class-b"}), 0)
    without = SearchFilters(excluded_row_keys=frozenset(left_out))
    with tempfile.TemporaryDirectory() as name:
        index, alone = open_lexical_index(Path(name) / "index"), open_lexical_index(Path(name) / "alone")
        for part in data.draw(st.permutations([rows[::3], rows[1::3], rows[2::3]])):
            index.add(part)
        index.remove(gone)
        alone.rebuild(visible)
        for pool in (1, 3, 100):
            expected = alone.search_text(query, scope, NO_FILTER, pool)
            assert index.search_text(query, scope, without, pool) == expected
            found = index.search_identifiers(["file:1", "date:2"], scope, without, pool)
            assert found == alone.search_identifiers(["file:1", "date:2"], scope, NO_FILTER, pool)


@settings(max_examples=40, deadline=None)
@given(drawn=contents, cuts=st.sets(st.integers(0, 30), max_size=3), gone=st.sets(st.integers(0, 30)))
def test_segments_merged_read_back_and_thinned_are_those_built_at_once(drawn, cuts, gone):
    rows = rows_of(drawn)
    edges = [0, *sorted(cuts), len(rows)]
    merged = merge_segments([build_segment(rows[start:end]) for start, end in pairwise(edges)])
    assert_same(decoded(encoded(merged)), build_segment(rows))
    kept = [each for number, each in enumerate(rows) if number not in gone]
    assert_same(without_rows(merged, {f"k-{number}" for number in gone}), build_segment(kept))


def assert_same(segment: Segment, expected: Segment) -> None:
    for each in fields(Segment):
        assert getattr(segment, each.name).tolist() == getattr(expected, each.name).tolist(), each.name
        assert getattr(segment, each.name).dtype == getattr(expected, each.name).dtype, each.name


def test_many_compartments_answer_as_few_do(tmp_path):
    """Above a number of segments they are merged in memory for the search."""
    rows = [LexicalRow(f"k-{n:03}", f"class-{n % 40}", f"M-{n % 3}", f"rent lease {n} {n % 7}", ()) for n in range(160)]
    few = [dataclasses.replace(each, acl_class_id="class-0") for each in rows]
    many, one = open_lexical_index(tmp_path / "many"), open_lexical_index(tmp_path / "one")
    many.add(rows)
    one.add(few)
    scope = Scope(frozenset(), frozenset(f"class-{n}" for n in range(40)), 0)
    for query in ("rent 3", "lease 3 5 17", "rent lease"):
        for filters in (NO_FILTER, SearchFilters(frozenset({"M-1"}))):
            assert many.search_text(query, scope, filters, 20) == one.search_text(query, scope, filters, 20)


def test_a_comparison_tells_each_kind_of_difference(tmp_path):
    index = open_lexical_index(tmp_path)
    kept, extra = row("kept", "rent", "file:1"), row("extra", "rent")
    index.add([kept, extra, row("moved", "rent"), row("reworded", "rent"), row("renamed", "rent", "file:1")])
    expected = [
        kept,
        row("missing", "rent"),
        LexicalRow("moved", "class-b", "M-1", "rent", ()),
        row("reworded", "lease"),
        row("renamed", "rent", "file:2"),
    ]
    found = index.compare(expected)
    assert (found.missing, found.extra) == ({"missing"}, {"extra"})
    assert (found.altered, found.damaged) == ({"moved", "reworded", "renamed"}, ())


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
    "damage",
    [
        lambda content: content[: len(content) // 2],
        lambda content: b"",
        lambda content: content[:500] + b"\xa5" + content[501:],
        lambda content: bytes(len(content)),
    ],
)
@pytest.mark.parametrize("row_count", [3, 30_000])
def test_a_damaged_file_of_the_index_says_what_to_do(tmp_path, damage, row_count):
    rows = [row(f"key-{number}", f"rent {number} lease", "file:1") for number in range(row_count)]
    open_lexical_index(tmp_path).add(rows)
    for file in files_of(tmp_path):
        file.write_bytes(damage(file.read_bytes()))
    index = open_lexical_index(tmp_path)
    calls = (
        index.row_keys,
        lambda: found_keys(index, "rent 7"),
        lambda: index.search_identifiers({"file:1"}, SCOPE, NO_FILTER, 10),
        lambda: index.add([row("new", "rent")]),
        lambda: index.remove(["key-1"]),
    )
    for call in calls:
        with pytest.raises(IndexStateError, match="ki doctor --repair"):
            call()
    found = index.compare(rows)
    assert found.missing == {each.row_key for each in rows}
    assert len(found.damaged) == 1
