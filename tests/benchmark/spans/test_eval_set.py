import json
from pathlib import Path
from typing import Any

import pytest

from knowledge_index.benchmark.spans.eval_set import load_eval_set
from knowledge_index.domain.errors import InputError

TEXT = "1. Notice. A notice is given in writing."


def content(**changes: Any) -> dict[str, Any]:
    query = {"query_id": "q1", "doc_id": "a", "clause_type": "Notice", "query": "How?", "gold_spans": [[11, 40]]}
    return {
        "meta": {"name": "made up"},
        "documents": [{"doc_id": "a", "title": "A", "n_chars": 40, "text": TEXT, **changes.pop("document", {})}],
        "queries": [{**query, **changes.pop("query", {})}],
        **changes,
    }


def write(folder: Path, value: Any) -> Path:
    file = folder / "set.json"
    file.write_text(json.dumps(value), "utf-8")
    return file


def test_a_set_is_read_with_its_metadata_and_filters(tmp_path: Path) -> None:
    found = load_eval_set(write(tmp_path, content(document={"year": 2020}, query={"filters": {"year": 2020}})))
    assert found.name == "made up"
    assert found.document("a").metadata == {"year": 2020}
    assert found.queries[0].gold_spans == ((11, 40),)
    assert found.queries[0].filters == {"year": 2020}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"query": {"gold_spans": [[11, 41]]}}, "is no span"),
        ({"query": {"gold_spans": [[11, 11]]}}, "is no span"),
        ({"query": {"gold_spans": [[-1, 4]]}}, "is no span"),
        ({"query": {"gold_spans": []}}, "queries > 0 > gold_spans"),
        ({"query": {"doc_id": "b"}}, "asks document 'b'"),
        ({"query": {"query": " "}}, "is empty"),
        ({"query": {"gold_texts": ["A notice"]}}, "do not slice back"),
        ({"query": {"filters": {"year": 2020}}}, "filters by 'year'"),
        ({"document": {"heading": "x"}}, "the field 'heading' would hide a chunk's own"),
        ({"document": {"tags": ["x"]}}, "the field 'tags' is no text, number or truth value"),
        ({"document": {"n_chars": 39}}, "has 40 characters and not 39"),
        ({"document": {"text_sha256": "0" * 64}}, "another SHA-256"),
        ({"document": {"text": " \n", "n_chars": 2}}, "has no text"),
        ({"documents": []}, "documents"),
        ({"queries": []}, "queries"),
    ],
)
def test_a_set_that_contradicts_itself_is_refused(tmp_path: Path, changes: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        load_eval_set(write(tmp_path, content(**changes)))


@pytest.mark.parametrize("part", ["documents", "queries"])
def test_an_id_stands_once(tmp_path: Path, part: str) -> None:
    value = content()
    value[part] = value[part] * 2
    with pytest.raises(InputError, match="stands there 2 times"):
        load_eval_set(write(tmp_path, value))


def test_a_file_that_is_no_set_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be read"):
        load_eval_set(tmp_path / "none.json")
    (tmp_path / "text.json").write_text("no JSON", "utf-8")
    with pytest.raises(InputError, match="is no JSON"):
        load_eval_set(tmp_path / "text.json")
    with pytest.raises(InputError, match="an eval set has 'documents'"):
        load_eval_set(write(tmp_path, [1]))
