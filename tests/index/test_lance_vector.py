"""What the contract leaves to the LanceDB index."""

import dataclasses
import warnings

import numpy as np
import pytest
from brute_force_index import BruteForceVectorIndex

from knowledge_index.domain.errors import IndexStateError, UsageError
from knowledge_index.domain.grants import Scope
from knowledge_index.domain.search import SearchFilters
from knowledge_index.embed.base import EmbeddingSignature
from knowledge_index.index import VectorRow, open_vector_index
from knowledge_index.index.lance_vector import LanceVectorIndex

SIGNATURE = EmbeddingSignature("tiny", "0" * 64, 4, "mean", 256)
SCOPE = Scope(frozenset(), frozenset({"class-a"}), 0)
EAST = np.asarray([1, 0, 0, 0], dtype=np.float32)


def row(key: str, vector: np.ndarray) -> VectorRow:
    return VectorRow(key, "class-a", "M-1", vector)


@pytest.mark.parametrize(
    "change",
    [{"model": "other"}, {"weights_sha256": "1" * 64}, {"dimensions": 5}, {"pooling": "cls"}, {"max_tokens": 128}],
)
def test_another_signature_is_refused_once_there_are_vectors(tmp_path, change):
    other = dataclasses.replace(SIGNATURE, **change)
    open_vector_index(tmp_path, other)
    open_vector_index(tmp_path, SIGNATURE).add([row("k", EAST)])
    with pytest.raises(IndexStateError, match="ki run") as raised:
        open_vector_index(tmp_path, other)
    assert SIGNATURE.id in str(raised.value)
    assert other.id in str(raised.value)
    assert open_vector_index(tmp_path, SIGNATURE).row_keys() == {"k"}


@pytest.mark.parametrize("content", [None, "{", '{"model": "tiny"}', "[]"])
def test_a_lost_signature_is_refused(tmp_path, content):
    open_vector_index(tmp_path, SIGNATURE).add([row("k", EAST)])
    file = tmp_path / "signature.json"
    if content is None:
        file.unlink()
    else:
        file.write_text(content)
    with pytest.raises(IndexStateError, match="cannot be read"):
        open_vector_index(tmp_path, SIGNATURE)


def test_a_table_of_other_dimensions_is_refused(tmp_path):
    LanceVectorIndex(tmp_path, 4).add([row("k", EAST)])
    with pytest.raises(IndexStateError, match="holds 4 dimensions"):
        LanceVectorIndex(tmp_path, 5).row_keys()


@pytest.mark.parametrize(
    ("vector", "message"),
    [
        (EAST[:3], "shape"),
        (np.stack([EAST, EAST]), "shape"),
        (EAST * 2, "length 2"),
        (EAST * 0, "length 0"),
        (EAST * np.float32("nan"), "length nan"),
    ],
)
def test_what_is_no_unit_vector_is_refused_before_anything_is_written(tmp_path, vector, message):
    index = open_vector_index(tmp_path, SIGNATURE)
    with pytest.raises(UsageError, match=message):
        index.add([row("good", EAST), row("bad", vector)])
    assert index.row_keys() == set()
    index.add([row("good", EAST)])
    with pytest.raises(UsageError, match=message):
        index.search(vector, SCOPE, SearchFilters(), 5)


def test_what_a_killed_creation_left_is_no_obstacle(tmp_path):
    (tmp_path / "vectors.lance" / "data").mkdir(parents=True)
    index = open_vector_index(tmp_path, SIGNATURE)
    assert index.row_keys() == set()
    assert index.add([row("k", EAST)]) == 1


def test_nothing_new_makes_no_version(tmp_path):
    index = open_vector_index(tmp_path, SIGNATURE)
    index.add([row("k", EAST)])
    before = sorted(tmp_path.rglob("*"))
    assert index.add([row("k", EAST)]) == 0
    assert sorted(tmp_path.rglob("*")) == before


def test_adds_removes_and_compaction_leave_the_exact_result(tmp_path):
    generator = np.random.default_rng(3)
    matrix = generator.normal(size=(60, 4))
    matrix = (matrix / np.linalg.norm(matrix, axis=1, keepdims=True)).astype(np.float32)
    rows = [VectorRow(f"{n:02}", f"class-{n % 3}", f"M-{n % 2}", vector) for n, vector in enumerate(matrix)]
    index, reference = open_vector_index(tmp_path / "lance", SIGNATURE), BruteForceVectorIndex(tmp_path / "brute")
    scope = Scope(frozenset(), frozenset({"class-0", "class-2"}), 0)
    for start in range(0, 60, 20):
        for each in (index, reference):
            each.add(rows[start : start + 20])
            each.remove([f"{start + 1:02}", f"{start + 3:02}"])
        for filters in (SearchFilters(), SearchFilters(frozenset({"M-1"}))):
            expected = reference.search(EAST, scope, filters, 30)
            assert index.search(EAST, scope, filters, 30) == expected
        index.compact()
        assert index.search(EAST, scope, SearchFilters(), 30) == reference.search(EAST, scope, SearchFilters(), 30)


def test_scores_of_close_vectors_are_exact_and_complete(tmp_path):
    """Float32 distances of the engine order such neighbours by chance; the pool has to hold the exact best."""
    generator = np.random.default_rng(7)
    base = generator.normal(size=384)
    close = base + generator.normal(size=(400, 384)) * 1e-5
    close /= np.linalg.norm(close, axis=1, keepdims=True)
    matrix = close.astype(np.float32)
    query = (base / np.linalg.norm(base)).astype(np.float32)
    signature = dataclasses.replace(SIGNATURE, dimensions=384)
    index = open_vector_index(tmp_path, signature)
    index.add([row(f"{number:03}", vector) for number, vector in enumerate(matrix)])
    exact = matrix.astype(np.float64) @ query.astype(np.float64)
    exact /= np.linalg.norm(matrix.astype(np.float64), axis=1) * np.linalg.norm(query.astype(np.float64))
    scores = [round(float(each), 9) for each in exact]
    boundary = sorted(scores, reverse=True)[19]
    expected = {f"{number:03}" for number, score in enumerate(scores) if score >= boundary}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = index.search(query, SCOPE, SearchFilters(), 20)
    assert {each.row_key for each in found} == expected
    assert [each.score for each in found] == sorted((score for score in scores if score >= boundary), reverse=True)


@pytest.mark.parametrize(("part", "opened"), [("data", False), ("_versions", False), ("_versions", True)])
@pytest.mark.parametrize(
    "damage",
    [lambda content: content[: len(content) // 2], lambda content: b"\xa5" * (len(content) - 16) + content[-16:]],
)
def test_a_damaged_file_of_the_table_says_what_to_do(tmp_path, part, opened, damage):
    LanceVectorIndex(tmp_path, 4).add([row("k", EAST)])
    index = LanceVectorIndex(tmp_path, 4)
    if opened:
        assert index.row_keys() == {"k"}
    for file in (tmp_path / "vectors.lance" / part).iterdir():
        file.write_bytes(damage(file.read_bytes()))
    for call in (
        index.row_keys,
        lambda: index.search(EAST, SCOPE, SearchFilters(), 5),
        lambda: index.add([row("l", EAST)]),
    ):
        with pytest.raises(IndexStateError, match="delete the folder and run 'ki run'"):
            call()


def test_a_deleted_file_of_the_table_says_what_to_do(tmp_path):
    LanceVectorIndex(tmp_path, 4).add([row("k", EAST)])
    for file in (tmp_path / "vectors.lance" / "data").iterdir():
        file.unlink()
    with pytest.raises(IndexStateError, match="delete the folder and run 'ki run'"):
        LanceVectorIndex(tmp_path, 4).search(EAST, SCOPE, SearchFilters(), 5)
