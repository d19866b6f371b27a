"""The weights root comes from the bytes that are loaded, whatever a hub's cache calls them."""

import hashlib
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

from fake_embedder import FakeEmbedder
from knowledge_index.embed import CachedEmbedder, VectorCache, weights_root
from knowledge_index.embed.base import ModelFile
from knowledge_index.embed.model_files import snapshot_files

FILES = {
    "config.json": b'{"hidden_size": 8}',
    "model.safetensors": b"weights" * 1000,
    "tokenizer.json": b"{}",
    "1_Pooling/config.json": b'{"pooling_mode_mean_tokens": true}',
}


def hub_cache(folder: Path, files: dict[str, bytes], named: dict[str, str] | None = None) -> Path:
    """A hub cache's snapshot: links to blobs, whose names are hashes, or are said to be."""
    snapshot = folder / "models--firm--tiny" / "snapshots" / ("a" * 40)
    blobs = folder / "models--firm--tiny" / "blobs"
    blobs.mkdir(parents=True)
    for path, content in files.items():
        blob = blobs / (named or {}).get(path, hashlib.sha256(content).hexdigest())
        blob.write_bytes(content)
        link = snapshot / path
        link.parent.mkdir(parents=True, exist_ok=True)
        link.symlink_to(blob)
    return snapshot


def test_blob_names_that_lie_are_not_believed(tmp_path: Path) -> None:
    honest = hub_cache(tmp_path / "honest", FILES)
    changed = {**FILES, "model.safetensors": b"Weights" + FILES["model.safetensors"][7:]}
    said = {"model.safetensors": hashlib.sha256(FILES["model.safetensors"]).hexdigest()}
    lying = hub_cache(tmp_path / "lying", changed, said)
    assert (honest / "model.safetensors").resolve().name == (lying / "model.safetensors").resolve().name
    assert weights_root(snapshot_files(honest)) != weights_root(snapshot_files(lying))
    renamed = hub_cache(tmp_path / "renamed", FILES, {path: f"{number:040x}" for number, path in enumerate(FILES)})
    plain = tmp_path / "plain"
    shutil.copytree(honest, plain)
    assert len({weights_root(snapshot_files(each)) for each in (honest, renamed, plain)}) == 1


@pytest.mark.parametrize("path", FILES)
def test_one_changed_byte_of_any_file_changes_the_root(path: str, tmp_path: Path) -> None:
    before = hub_cache(tmp_path / "before", FILES)
    after = hub_cache(tmp_path / "after", {**FILES, path: FILES[path][:-1] + b"!"})
    assert weights_root(snapshot_files(before)) != weights_root(snapshot_files(after))


def test_files_that_nothing_loads_do_not_count(tmp_path: Path) -> None:
    snapshot = hub_cache(tmp_path / "cache", FILES)
    before = snapshot_files(snapshot)
    for path in (
        "README.md",
        "onnx/model.safetensors",
        "openvino/config.json",
        ".git/config.json",
        "pytorch_model.bin",
    ):
        (snapshot / path).parent.mkdir(exist_ok=True)
        (snapshot / path).write_bytes(b"x")
    assert snapshot_files(snapshot) == before
    assert [each.path for each in before] == sorted(FILES)


def test_public_tools_compute_the_same_root(tmp_path: Path) -> None:
    if shutil.which("sha256sum") is None:
        pytest.skip("no sha256sum is installed")
    snapshot = hub_cache(tmp_path / "cache", FILES)
    listed = subprocess.run(["sha256sum", *sorted(FILES)], cwd=snapshot, capture_output=True, check=True).stdout
    assert weights_root(snapshot_files(snapshot)) == hashlib.sha256(listed).hexdigest()


class OtherFiles(FakeEmbedder):
    def model_files(self) -> tuple[ModelFile, ...]:
        return (ModelFile("tokenizer.json", "1" * 64, 1),)


def test_the_cache_knows_which_files_made_its_vectors(tmp_path: Path) -> None:
    cache = VectorCache(tmp_path / "vectors.sqlite")
    signature = FakeEmbedder.signature
    assert cache.origins(signature) == frozenset()
    first = CachedEmbedder(FakeEmbedder(), cache).embed(["one", "two"])
    root = weights_root(FakeEmbedder().model_files())
    assert cache.origins(signature) == {root}
    # What comes from the cache makes nobody its origin.
    assert np.array_equal(CachedEmbedder(OtherFiles(), cache).embed(["two", "one"]), first[::-1])
    assert cache.origins(signature) == {root}
    CachedEmbedder(OtherFiles(), cache).embed(["three"])
    assert cache.origins(signature) == {root, weights_root(OtherFiles().model_files())}
