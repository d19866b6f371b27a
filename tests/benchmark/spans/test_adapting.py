import hashlib
import json
from pathlib import Path
from typing import Any

import docx
import pytest
from reportlab.pdfgen.canvas import Canvas

from knowledge_index.benchmark.spans import adapting
from knowledge_index.benchmark.spans.adapting import adapt
from knowledge_index.benchmark.spans.eval_set import load_eval_set
from knowledge_index.domain.errors import InputError
from knowledge_index.domain.progress import SilentProgress

NOTICE = "A notice is given in writing."


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    folder = tmp_path / "docs"
    (folder / "leases").mkdir(parents=True)
    (folder / "terms.txt").write_text(f"1. Notice.\u00a0{NOTICE}\r\n2. Term. It runs a year. It ends.\r\n", "utf-8")
    (folder / "notes.md").write_text("# Notes\n\nThe rent is 900 euros.\n", "utf-8")
    word = docx.Document()
    word.add_paragraph("The tenant pays on the third working day.")
    word.save(str(folder / "leases" / "lease.docx"))
    canvas = Canvas(str(folder / "leases" / "annex.pdf"))
    canvas.drawString(100, 700, "The annex lists the rooms.")
    canvas.save()
    return folder


def line(**fields: Any) -> dict[str, Any]:
    return {"query": "How?", "doc_id": "terms", "clause_type": "Notice", **fields}


def run(docs: Path, *lines: dict[str, Any], metadata: list[dict[str, Any]] | None = None) -> Any:
    folder = docs.parent
    (folder / "queries.jsonl").write_text("".join(json.dumps(each) + "\n" for each in lines), "utf-8")
    metadata_file = None
    if metadata is not None:
        metadata_file = folder / "metadata.jsonl"
        metadata_file.write_text("".join(json.dumps(each) + "\n" for each in metadata), "utf-8")
    adapt(docs, folder / "queries.jsonl", folder / "out.json", metadata_file, SilentProgress())
    return load_eval_set(folder / "out.json")


def test_round_trip(docs: Path) -> None:
    found = run(
        docs,
        line(gold_texts=[NOTICE]),
        line(doc_id="leases/lease.docx", query="When is rent due?", gold_texts=["on the third working day"]),
        line(doc_id="leases/annex", gold_spans=[[4, 9]]),
        line(doc_id="notes.md", gold_texts=["900 euros"], filters={"kind": "note"}),
        metadata=[{"doc_id": "notes", "kind": "note"}],
    )
    assert [each.doc_id for each in found.documents] == ["leases/annex", "leases/lease", "notes", "terms"]
    gold = [[found.document(each.doc_id).text[slice(*span)] for span in each.gold_spans] for each in found.queries]
    assert gold == [[NOTICE], ["on the third working day"], ["annex"], ["900 euros"]]
    assert [each.query_id for each in found.queries] == ["q001", "q002", "q003", "q004"]
    assert found.queries[3].filters == {"kind": "note"}
    assert found.document("notes").metadata == {"kind": "note"}
    assert {each.extractor for each in found.documents} == {"docx", "pdf", "plaintext"}


def test_extractor_version_and_hash_of_every_text_are_recorded(docs: Path) -> None:
    run(docs, line(gold_texts=[NOTICE]))
    for each in json.loads((docs.parent / "out.json").read_text("utf-8"))["documents"]:
        assert each["extractor"]
        assert each["extractor_version"]
        assert each["text_sha256"] == hashlib.sha256(each["text"].encode()).hexdigest()
        assert each["n_chars"] == len(each["text"])


def test_overlapping_gold_is_merged(docs: Path) -> None:
    found = run(docs, line(gold_texts=["A notice is given", "notice is given in writing."]))
    assert found.queries[0].gold_spans == ((11, 40),)


def test_a_gold_text_with_other_blanks_is_found(docs: Path) -> None:
    found = run(docs, line(gold_texts=["A\u00a0notice is\u2003given"]))
    assert found.queries[0].gold_spans == ((11, 28),)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"gold_texts": ["It sleeps."]}, r"line 1: the gold text 'It sleeps\.' stands 0 times in document 'terms'"),
        ({"gold_texts": ["It "]}, r"the gold text 'It ' stands 2 times in document 'terms'"),
        ({"gold_texts": [" "]}, "stands 0 times"),
        ({"doc_id": "other", "gold_texts": ["x"]}, "asks document 'other'"),
        ({"gold_spans": [[0, 9999]]}, "is no span"),
        ({}, "needs either gold_texts or gold_spans"),
        ({"gold_texts": [NOTICE], "gold_spans": [[0, 4]]}, "needs either"),
        ({"gold_texts": [NOTICE], "golden": 1}, "golden"),
        ({"gold_texts": [NOTICE], "filters": {"kind": "x"}}, "filters by 'kind'"),
    ],
)
def test_a_question_that_does_not_fit_is_refused(docs: Path, fields: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        run(docs, line(**fields))
    assert not (docs.parent / "out.json").exists()


def test_a_field_that_hides_a_chunks_own_is_refused(docs: Path) -> None:
    with pytest.raises(InputError, match="the field 'start_char' would hide a chunk's own"):
        run(docs, line(gold_texts=[NOTICE]), metadata=[{"doc_id": "terms", "start_char": 1}])


@pytest.mark.parametrize("name", ["prices.xlsx", "mail.eml", ".DS_Store", "leases/scan.tiff"])
def test_a_file_of_another_format_is_an_error(docs: Path, name: str) -> None:
    (docs / name).write_bytes(b"x")
    with pytest.raises(InputError, match="nothing is skipped"):
        run(docs, line(gold_texts=[NOTICE]))


def test_a_file_that_cannot_be_converted_is_an_error(docs: Path) -> None:
    (docs / "broken.docx").write_bytes(b"x")
    with pytest.raises(InputError, match=r"broken\.docx"):
        run(docs, line(gold_texts=[NOTICE]))


def test_too_much_is_refused_with_the_real_counts(docs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(247):
        (docs / f"{number}.txt").write_text("text", "utf-8")
    with pytest.raises(InputError, match=r"holds 251 documents of \d+ bytes; .* at most 250 documents"):
        run(docs, line(gold_texts=[NOTICE]))
    for number in range(247):
        (docs / f"{number}.txt").unlink()
    size = sum(each.stat().st_size for each in docs.rglob("*") if each.is_file())
    monkeypatch.setattr(adapting, "MAX_SIZE_BYTES", size - 1)
    with pytest.raises(InputError, match=f"holds 4 documents of {size} bytes"):
        run(docs, line(gold_texts=[NOTICE]))


def test_two_files_of_one_name_keep_their_suffix(docs: Path) -> None:
    (docs / "terms.md").write_text("Other terms.", "utf-8")
    found = run(docs, line(doc_id="terms.txt", gold_texts=[NOTICE]))
    assert [each.doc_id for each in found.documents][-2:] == ["terms.md", "terms.txt"]
    with pytest.raises(InputError, match="asks document 'terms'"):
        run(docs, line(gold_texts=[NOTICE]))
