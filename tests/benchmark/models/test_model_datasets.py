"""Sets are read, and split so that nothing of test is in dev."""

import json
from pathlib import Path

import pyarrow
import pyarrow.parquet
import pytest
from hypothesis import given
from hypothesis import strategies as st
from model_sets import write_beir, write_contract_nli

from knowledge_index.benchmark.models.dataset import ModelDataset, Split, half_of
from knowledge_index.benchmark.models.reading import open_dataset
from knowledge_index.domain.errors import InputError, UsageError
from knowledge_index.domain.progress import SilentProgress

EXTERNAL = Path(__file__).parents[3] / "external"


def opened(asked: object, split: Split = Split.DEV, seed: int = 42, data: Path = EXTERNAL) -> ModelDataset:
    return open_dataset(str(asked), data, split, seed, SilentProgress())


@given(st.sets(st.text(max_size=4), min_size=2), st.integers())
def test_each_name_is_in_one_half_whatever_the_order(names, seed):
    dev, test = half_of(sorted(names), Split.DEV, seed), half_of(sorted(names, reverse=True), Split.TEST, seed)
    assert dev | test == names
    assert not dev & test
    assert 0 <= len(dev) - len(test) <= 1


def test_contracts_are_halved_with_all_their_questions(tmp_path):
    place = write_contract_nli(tmp_path / "legalbench-rag")
    dev, test = opened(place, Split.DEV), opened("contractnli", Split.TEST, data=tmp_path)
    assert len(dev.documents) == len(test.documents) == 3
    assert {each.cluster for each in dev.questions} == {each.doc_id for each in dev.documents}
    assert not {each.doc_id for each in dev.documents} & {each.doc_id for each in test.documents}
    assert all(each.spans for each in dev.questions)
    assert dev.sha256 != test.sha256
    assert opened(place, Split.DEV, seed=1).sha256 != dev.sha256


def test_a_beir_folder_keeps_its_own_splits(tmp_path):
    place = write_beir(tmp_path / "beir", ("dev", "test"))
    dev, test = opened(place, Split.DEV), opened(place, Split.TEST)
    assert [each.query_id for each in dev.questions] == sorted(f"q{number}" for number in range(0, 12, 2))
    assert len(test.questions) == 6
    assert len(dev.documents) == len(test.documents) == 12
    assert dev.questions[0].papers == {"d0": 1}


def test_a_beir_folder_with_one_split_is_halved(tmp_path):
    place = write_beir(tmp_path / "beir")
    asked = [{each.query_id for each in opened(place, split).questions} for split in Split]
    assert [len(each) for each in asked] == [6, 6]
    assert not asked[0] & asked[1]


def test_parquet_says_what_jsonl_says(tmp_path):
    beir = write_beir(tmp_path / "beir")
    place = tmp_path / "mleb"
    for name in ("corpus", "queries"):
        rows = [json.loads(line) for line in (beir / f"{name}.jsonl").read_text().splitlines()]
        (place / name).mkdir(parents=True)
        pyarrow.parquet.write_table(pyarrow.Table.from_pylist(rows), place / name / "test-00000-of-00001.parquet")
    lines = (beir / "qrels" / "test.tsv").read_text().splitlines()[1:]
    rows = [dict(zip(("query-id", "corpus-id", "score"), line.split("\t"), strict=True)) for line in lines]
    (place / "default").mkdir()
    pyarrow.parquet.write_table(
        pyarrow.Table.from_pylist([each | {"score": float(each["score"])} for each in rows]),
        place / "default" / "test-00000-of-00001.parquet",
    )
    assert opened(place).questions == opened(beir).questions
    assert opened(place).documents == opened(beir).documents
    flat = tmp_path / "flat"
    (flat / "data").mkdir(parents=True)
    for name in ("corpus", "queries"):
        (flat / "data" / f"{name}.jsonl").write_text((beir / f"{name}.jsonl").read_text())
    (flat / "data" / "default.jsonl").write_text("".join(json.dumps(each) + "\n" for each in rows))
    assert opened(flat).questions == opened(beir).questions


def test_cuad_finds_wordings_whatever_their_white_space(tmp_path):
    place = tmp_path / "cuad"
    (place / "contracts").mkdir(parents=True)
    rows = []
    for doc in ("a.txt", "b.txt"):
        (place / "contracts" / doc).write_text("Law of Nevada\n governs.\nTwice. Twice. Acme Inc.")
        for clause_type, texts in (
            ("Governing Law", ["Law of  Nevada governs."]),
            ("Cap", ["Twice."]),
            ("Exclusivity", ["nowhere"]),
            ("Parties", ["Acme Inc."]),
        ):
            rows.append({"doc": doc, "title": doc, "clause_type": clause_type, "texts": texts, "answer": ""})
    (place / "clauses.jsonl").write_text("".join(json.dumps(each) + "\n" for each in rows))
    dataset = opened(place)
    (question,) = dataset.questions
    assert (question.text, question.within) == ("Governing Law", dataset.documents[0].doc_id)
    (place_found,) = question.spans
    assert dataset.documents[0].text[slice(*place_found.span)] == "Law of Nevada\n governs."
    assert dataset.notes == (
        "1 wordings of clauses were left out: in several places",
        "1 wordings of clauses were left out: not found",
    )


def test_what_is_no_set_is_refused(tmp_path):
    with pytest.raises(UsageError, match="neither task-set"):
        opened("no-such-set")
    with pytest.raises(InputError, match="holds no set that is known"):
        opened(tmp_path)
    with pytest.raises(InputError, match="--data"):
        opened("cuad", data=tmp_path)
    place = write_beir(tmp_path / "beir")
    with (place / "qrels" / "test.tsv").open("a") as stream:
        stream.write("q1\tnowhere\t1\n")
    with pytest.raises(InputError, match="'nowhere'"):
        opened(place, _split_of("q1", place))


def _split_of(query_id: str, place: Path) -> Split:
    judged = [line.split("\t")[0] for line in (place / "qrels" / "test.tsv").read_text().splitlines()[1:]]
    return next(split for split in Split if query_id in half_of(judged, split, 42))


@pytest.mark.skipif(not (EXTERNAL / "cuad" / "clauses.jsonl").exists(), reason="CUAD is not at external/cuad")
def test_most_of_cuads_wordings_are_found():
    dataset = opened("cuad")
    assert len(dataset.documents) == 214
    assert len(dataset.questions) > 1000


@pytest.mark.slow
@pytest.mark.skipif(not (EXTERNAL / "task-set" / "tasks").exists(), reason="the task set is not at external/task-set")
def test_the_task_set_is_halved_by_scenario():
    dev, test = opened("task-set", Split.DEV), opened("task-set", Split.TEST)
    assert {each.kind for each in dev.questions} == {"factoid", "instruction_working_set"}
    assert not {each.cluster for each in dev.questions} & {each.cluster for each in test.questions}
    assert not {each.text for each in dev.documents} & {each.text for each in test.documents}
