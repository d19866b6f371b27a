import json
from pathlib import Path
from typing import Any

import pytest

from knowledge_index.benchmark.spans.eval_set import load_eval_set
from knowledge_index.benchmark.spans.prepare_cuad import prepare_cuad
from knowledge_index.domain.errors import InputError

TYPES = ("Document Name", "Parties", "Governing Law", "Audit Rights", "Insurance", "Non-Compete")


def contract(title: str) -> dict[str, Any]:
    sentences = [f"This is what {title} says about {each}, and more of it." for each in TYPES]
    text = "\n\n".join(sentences)
    questions = []
    for each, sentence in zip(TYPES, sentences, strict=True):
        start = text.index(sentence)
        answers = [
            {"text": sentence[:20], "answer_start": start},
            {"text": sentence[10:30], "answer_start": start + 10},
        ]
        questions.append(
            {
                "id": f"{title}__{each}",
                "question": f'Highlight the parts (if any) of this contract related to "{each}" '
                "that should be "
                f"reviewed by a lawyer. Details: Is there anything about {each}?",
                "answers": [] if each == "Insurance" else answers,
                "is_impossible": each == "Insurance",
            }
        )
    return {"title": title, "paragraphs": [{"context": text, "qas": questions}]}


def write(folder: Path, entries: list[dict[str, Any]]) -> Path:
    file = folder / "cuad.json"
    file.write_text(json.dumps({"version": "x", "data": entries}), "utf-8")
    return file


def prepare(file: Path, out: Path, **changes: Any) -> Any:
    options = {"seed": 42, "documents": 3, "questions": 50, "include_metadata_clauses": False, "allow_other_file": True}
    return prepare_cuad(file, out, **{**options, **changes})


@pytest.fixture
def cuad(tmp_path: Path) -> Path:
    return write(tmp_path, [contract(f"ACME_{number}-EX-10.{number}-SUPPLY AGREEMENT") for number in range(8)])


def test_a_sample_is_read_back_and_slices_to_its_annotations(cuad: Path, tmp_path: Path) -> None:
    made = prepare(cuad, tmp_path / "out.json")
    assert (made.documents, made.queries, made.gold_spans, made.documents_in_file) == (3, 9, 9, 8)
    found = load_eval_set(tmp_path / "out.json")
    assert {each.clause_type for each in found.queries} == {"Governing Law", "Audit Rights", "Non-Compete"}
    for each in found.queries:
        assert each.query == f"Is there anything about {each.clause_type}?"
        # The two annotations share ten characters.
        (span,) = each.gold_spans
        text = found.document(each.doc_id).text
        assert text[span.start : span.end] == text[span.start :][:30]
        assert text[span.start :].startswith("This is what ACME")
    assert found.documents[0].doc_id == found.documents[0].title.lower().replace("_", "-").replace(".", "-").replace(
        " ", "-"
    )


def test_a_seed_gives_the_same_bytes_and_another_seed_others(cuad: Path, tmp_path: Path) -> None:
    contents = []
    for seed in (1, 1, 2):
        prepare(cuad, tmp_path / "out.json", seed=seed)
        contents.append((tmp_path / "out.json").read_bytes())
    assert contents[0] == contents[1] != contents[2]


def test_questions_are_spread_over_the_contracts(cuad: Path, tmp_path: Path) -> None:
    prepare(cuad, tmp_path / "out.json", documents=4, questions=6)
    found = load_eval_set(tmp_path / "out.json")
    counts = [sum(each.doc_id == document.doc_id for each in found.queries) for document in found.documents]
    assert sorted(counts) == [1, 1, 2, 2]


def test_metadata_clauses_are_asked_only_when_wanted(cuad: Path, tmp_path: Path) -> None:
    prepare(cuad, tmp_path / "out.json", include_metadata_clauses=True)
    assert {"Document Name", "Parties"} < {each.clause_type for each in load_eval_set(tmp_path / "out.json").queries}


def test_another_file_is_refused_unless_allowed(cuad: Path, tmp_path: Path) -> None:
    with pytest.raises(
        InputError, match=r"ed0b77d85bdf4014d7495800e8e4a70565b48ee6f8a2e5dca9cf8655dbf10eae.*--allow-other"
    ):
        prepare(cuad, tmp_path / "out.json", allow_other_file=False)


def test_an_annotation_that_stands_elsewhere_stops_everything(tmp_path: Path) -> None:
    entries = [contract("A"), contract("B")]
    entries[1]["paragraphs"][0]["qas"][2]["answers"][0]["answer_start"] += 1
    with pytest.raises(InputError, match="'B', question 'B__Governing Law': the annotated text"):
        prepare(write(tmp_path, entries), tmp_path / "out.json")
    assert not (tmp_path / "out.json").exists()


def test_a_file_of_another_form_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "cuad.json"
    file.write_text('{"data": [{"title": "A"}]}', "utf-8")
    with pytest.raises(InputError, match="CUAD's form is SQuAD's"):
        prepare(file, tmp_path / "out.json")
