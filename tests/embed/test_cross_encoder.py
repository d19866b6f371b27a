"""Reranking, with a tiny cross-encoder whose weights are random but fixed."""

from pathlib import Path

import pytest

from knowledge_index.config.settings import RetrievalSettings
from knowledge_index.domain.errors import ModelError
from knowledge_index.embed import Reranker, build_reranker

VOCABULARY = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "rent", "lease", "tenant", "notice", "cake", "plum", "12"]
PASSAGES = ["tenant notice", "plum cake " * 12, "", "rent lease tenant 12", "\ud800"]


def build_model(folder: Path, labels: int) -> Path:
    import torch
    from transformers import BertConfig, BertForSequenceClassification, BertTokenizerFast

    folder.mkdir()
    (folder / "vocab.txt").write_text("\n".join(VOCABULARY))
    BertTokenizerFast.from_pretrained(str(folder), local_files_only=True).save_pretrained(folder)
    config = BertConfig(
        vocab_size=len(VOCABULARY),
        hidden_size=16,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=32,
        max_position_embeddings=64,
        initializer_range=0.5,
        num_labels=labels,
    )
    torch.manual_seed(42)
    BertForSequenceClassification(config).eval().save_pretrained(folder)
    return folder


def reranker_of(model: object) -> Reranker:
    reranker = build_reranker(RetrievalSettings(rerank_enabled=True, rerank_model=str(model)))
    assert reranker is not None
    return reranker


@pytest.fixture(scope="module")
def model(tmp_path_factory) -> Path:
    return build_model(tmp_path_factory.mktemp("models") / "ranker", labels=1)


def test_reranking_is_off_unless_enabled(model):
    assert build_reranker(RetrievalSettings()) is None
    assert build_reranker(RetrievalSettings(rerank_model=str(model))) is None


def test_every_passage_gets_its_own_score(model):
    reranker = reranker_of(model)
    scores = reranker.score("rent notice", PASSAGES)
    assert len(scores) == len(PASSAGES)
    assert all(isinstance(score, float) for score in scores)
    assert len(set(scores)) == len(PASSAGES)
    assert reranker.score("rent notice", []) == []


def test_a_score_does_not_depend_on_its_neighbours(model):
    reranker = reranker_of(model)
    together = reranker.score("rent notice", PASSAGES)
    assert [reranker.score("rent notice", [passage])[0] for passage in PASSAGES] == together
    assert reranker_of(model).score("rent notice", PASSAGES[::-1]) == together[::-1]


def test_it_loads_at_the_first_score_and_says_nothing(model, capfd):
    reranker_of("/no/such/folder")
    reranker_of(model).score("rent", ["lease"])
    assert capfd.readouterr() == ("", "")


def test_what_is_no_ranker_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    with pytest.raises(ModelError, match="nobody/no-such-ranker"):
        reranker_of("nobody/no-such-ranker").score("rent", ["lease"])
    with pytest.raises(ModelError, match="safetensors"):
        reranker_of(tmp_path).score("rent", ["lease"])
    classifier = build_model(tmp_path / "classifier", labels=3)
    with pytest.raises(ModelError, match="3 labels"):
        reranker_of(classifier).score("rent", ["lease"])
    (classifier / "config.json").write_text("{}")
    with pytest.raises(ModelError, match="cannot be loaded"):
        reranker_of(classifier).score("rent", ["lease"])
