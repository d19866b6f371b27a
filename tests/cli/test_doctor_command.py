"""``ki doctor`` finds and mends what differs between the stores; ``ki status --as`` tells callers their own part."""

import json
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest
from command_line import Ki

from knowledge_index.domain.grants import Scope
from knowledge_index.domain.search import SearchFilters
from knowledge_index.index import LexicalRow, open_lexical_index, open_profile_index, open_vector_index
from small_firm import CORPORATE, OUTSIDER, REAL_ESTATE, SmallFirm, WordEmbedder


def row_keys(home: Path, kind: str = "passage") -> list[str]:
    with closing(sqlite3.connect(home / "catalog.sqlite")) as connection:
        return [
            key
            for (key,) in connection.execute("SELECT row_key FROM index_row WHERE kind = ? ORDER BY row_key", (kind,))
        ]


def lose_a_lexical_row(home: Path) -> None:
    open_lexical_index(home / "index" / "lexical").remove(row_keys(home)[:1])


def lose_a_profile(home: Path) -> None:
    open_profile_index(home / "index" / "profiles").remove(row_keys(home, "profile")[:1])


def lose_a_vector(home: Path) -> None:
    open_vector_index(home / "index" / "vector", WordEmbedder().signature).remove(row_keys(home)[:2])


def add_an_unknown_row(home: Path) -> None:
    open_lexical_index(home / "index" / "lexical").add([LexicalRow("unknown", "class-x", "M-1", "rent", ())])


def put_a_row_behind_another_wall(home: Path) -> None:
    index = open_lexical_index(home / "index" / "lexical")
    index.remove(row_keys(home)[:1])
    index.add([LexicalRow(row_keys(home)[0], "class-x", "M-1", "rent", ())])


def flip_a_byte_of_a_compartment(home: Path) -> None:
    file = sorted((home / "index" / "lexical").glob("*/*.segment"))[0]
    content = bytearray(file.read_bytes())
    content[len(content) // 2] ^= 0xFF
    file.write_bytes(content)


def cut_the_vectors_short(home: Path) -> None:
    for file in (home / "index" / "vector" / "vectors.lance" / "data").iterdir():
        file.write_bytes(file.read_bytes()[:100])


def cut_the_scanned_vectors_short(home: Path) -> None:
    for file in (home / "index" / "vector" / "scan").glob("*.vectors"):
        file.write_bytes(file.read_bytes()[:100])


def leave_an_intent(home: Path) -> None:
    with closing(sqlite3.connect(home / "catalog.sqlite")) as connection:
        connection.execute("INSERT OR REPLACE INTO meta VALUES ('index_intent', '[\"half written\"]')")
        connection.commit()


@pytest.mark.parametrize(
    ("harm", "told"),
    [
        (lose_a_lexical_row, "lexical index: 1 rows missing"),
        (lose_a_profile, "profile index: 1 rows missing"),
        (lose_a_vector, "vector index: 2 rows missing"),
        (add_an_unknown_row, "lexical index: 1 rows extra"),
        (put_a_row_behind_another_wall, "lexical index: 1 rows altered"),
        (flip_a_byte_of_a_compartment, "is not the file that was written"),
        (cut_the_vectors_short, "vector index: "),
        (cut_the_scanned_vectors_short, "is gone or damaged"),
        (leave_an_intent, "1 rows whose write or removal did not end"),
    ],
)
def test_the_doctor_finds_it_says_it_and_mends_it(ki: Ki, indexed_home: Path, harm, told) -> None:  # type: ignore[no-untyped-def]
    asked = ("--home", indexed_home, "search", "gearbox price", "--as", CORPORATE, "--json")
    expected = ki(*asked).out
    healthy = ki("--home", indexed_home, "doctor")
    assert (healthy.code, healthy.out) == (0, "The stores agree.\n")
    harm(indexed_home)
    found = ki("--home", indexed_home, "doctor")
    assert found.code == 1
    assert told in found.out
    mended = ki("--home", indexed_home, "doctor", "--repair")
    assert mended.code == 0
    assert told in mended.out
    assert mended.out.endswith("Repaired: the stores agree.\n")
    assert ki("--home", indexed_home, "doctor").code == 0
    assert ki(*asked).out == expected


def test_a_change_that_waits_for_a_run_is_no_difference(ki: Ki, indexed_home: Path, firm_files: SmallFirm) -> None:
    for path in list(firm_files.acl)[:2]:
        (firm_files.root / path).unlink()
    assert ki("--home", indexed_home, "sync").code == 0
    assert ki("--home", indexed_home, "doctor").code == 0


def test_a_caller_is_told_of_visible_documents_alone(ki: Ki, indexed_home: Path) -> None:
    counts = {"name": "dms", "documents": 6, "searchable": 6, "waiting": 0, "unreadable": 0}
    told = ki("--home", indexed_home, "status", "--as", CORPORATE, "--json")
    assert told.json() == {"sources": [counts]}
    assert ki("--home", indexed_home, "status", "--as", REAL_ESTATE, "--json").json()["sources"][0]["documents"] == 4
    assert ki("--home", indexed_home, "status", "--as", OUTSIDER, "--json").json() == {"sources": []}
    assert ki("--home", indexed_home, "status", "--as", OUTSIDER).out == "There is nothing that this caller may see.\n"
    assert "6 documents visible" in ki("--home", indexed_home, "status", "--as", CORPORATE).out


def test_vectors_that_a_run_finished_are_searched_without_the_engine(indexed_home: Path) -> None:
    """Its import takes longer than everything else that a search does."""
    with closing(sqlite3.connect(indexed_home / "catalog.sqlite")) as connection:
        classes = [each for (each,) in connection.execute("SELECT DISTINCT acl_class_id FROM index_row")]
    script = (
        "import json, sys\nfrom pathlib import Path\nimport numpy as np\n"
        "from knowledge_index.domain.grants import Scope\nfrom knowledge_index.domain.search import SearchFilters\n"
        "from knowledge_index.embed.base import EmbeddingSignature\n"
        "from knowledge_index.index import open_vector_index\n"
        "signature = EmbeddingSignature('words', '0' * 64, 16, 'sum', 512)\n"
        "scope = Scope(frozenset(), frozenset(json.loads(sys.argv[2])), 0)\n"
        "vector = np.eye(16, dtype=np.float32)[0]\n"
        "found = open_vector_index(Path(sys.argv[1]), signature).search(vector, scope, SearchFilters(), 1000)\n"
        "assert not {'lancedb', 'pyarrow'} & sys.modules.keys()\n"
        "print(json.dumps([[row.row_key, row.score] for row in found]))\n"
    )
    folder = indexed_home / "index" / "vector"
    arguments = [sys.executable, "-c", script, str(folder), json.dumps(classes)]
    mapped = json.loads(subprocess.run(arguments, check=True, capture_output=True, text=True).stdout)
    (folder / "scan" / "CURRENT").unlink()
    scope = Scope(frozenset(), frozenset(classes), 0)
    index = open_vector_index(folder, WordEmbedder().signature)
    rows = index.search(np.eye(16, dtype=np.float32)[0], scope, SearchFilters(), 1000)
    assert mapped == [[row.row_key, row.score] for row in rows]
    # One vector for each window of a passage.
    assert {key.partition("#")[0] for key, _ in mapped} == set(row_keys(indexed_home))
