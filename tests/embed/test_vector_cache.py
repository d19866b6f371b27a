"""Vectors are paid for once."""

import dataclasses
import threading

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fake_embedder import FakeEmbedder
from knowledge_index.domain.documents import sha256_text
from knowledge_index.domain.errors import IndexStateError
from knowledge_index.embed import CachedEmbedder, MemoisedEmbedder, VectorCache

SIGNATURE = FakeEmbedder.signature
texts_strategy = st.lists(st.text(alphabet="ab\ud800ß", max_size=3), max_size=12)


@settings(max_examples=25, deadline=None)
@given(calls=st.lists(texts_strategy, max_size=3))
def test_each_distinct_text_is_embedded_once_and_every_text_gets_its_vector(tmp_path_factory, calls):
    beneath = FakeEmbedder()
    cached = CachedEmbedder(beneath, VectorCache(tmp_path_factory.mktemp("cache") / "vectors.sqlite"))
    reused = 0
    for texts in calls:
        reused += len(set(texts) & set(beneath.asked))
        steps: list[int] = []
        vectors = cached.embed(texts, steps.append)
        assert vectors.dtype == np.float32
        assert vectors.tobytes() == FakeEmbedder().embed(texts).tobytes()
        assert vectors.shape == (len(texts), 8)
        assert sum(steps) == len(texts)
    assert sorted(beneath.asked) == sorted({text for texts in calls for text in texts})
    assert cached.computed == len(beneath.asked)
    assert cached.reused == reused


def test_another_process_reuses_what_an_interrupted_one_computed(tmp_path):
    texts = [f"text {number}" for number in range(200)]
    interrupted = FakeEmbedder(fail_at=150)
    with pytest.raises(KeyboardInterrupt):
        CachedEmbedder(interrupted, VectorCache(tmp_path / "cache.sqlite")).embed(texts)
    second = CachedEmbedder(FakeEmbedder(), VectorCache(tmp_path / "cache.sqlite"))
    assert second.embed(texts).tobytes() == FakeEmbedder().embed(texts).tobytes()
    assert (second.computed, second.reused) == (72, 128)


def test_another_signature_shares_nothing(tmp_path):
    cache = VectorCache(tmp_path / "cache.sqlite")
    key = sha256_text("a")
    cache.put_many(SIGNATURE, {key: np.ones(8, dtype=np.float32)})
    assert cache.get_many(dataclasses.replace(SIGNATURE, max_tokens=128), [key]) == {}
    assert cache.get_many(SIGNATURE, [key])[key].tolist() == [1.0] * 8


def test_many_keys_are_read_at_once(tmp_path):
    cache = VectorCache(tmp_path / "cache.sqlite")
    keys = [sha256_text(str(number)) for number in range(1234)]
    cache.put_many(SIGNATURE, {key: np.full(8, position, np.float32) for position, key in enumerate(keys[:1200])})
    found = cache.get_many(SIGNATURE, keys)
    assert [found[key][0] for key in keys[:1200]] == list(range(1200))
    assert len(found) == 1200


def test_threads_and_handles_share_the_file(tmp_path):
    caches = [VectorCache(tmp_path / "cache.sqlite") for _ in range(2)]
    vector = np.ones(8, dtype=np.float32)

    def write(worker: int) -> None:
        for number in range(20):
            caches[worker % 2].put_many(SIGNATURE, {sha256_text(f"{worker} {number}"): vector})

    threads = [threading.Thread(target=write, args=(worker,)) for worker in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    keys = [sha256_text(f"{worker} {number}") for worker in range(4) for number in range(20)]
    caches[0].close()
    assert len(caches[0].get_many(SIGNATURE, keys)) == 80


def test_a_damaged_file_says_what_to_do(tmp_path):
    file = tmp_path / "cache.sqlite"
    file.write_bytes(b"this is no database" * 100)
    with pytest.raises(IndexStateError, match="delete the file") as raised:
        VectorCache(file).get_many(SIGNATURE, [sha256_text("a")])
    assert str(file) in str(raised.value)


@given(calls=st.lists(texts_strategy, max_size=4))
def test_a_memoised_embedder_remembers_the_last_texts(calls):
    beneath = FakeEmbedder()
    memoised = MemoisedEmbedder(beneath, capacity=1000)
    for texts in calls:
        steps: list[int] = []
        assert memoised.embed(texts, steps.append).tobytes() == FakeEmbedder().embed(texts).tobytes()
        assert sum(steps) == len(texts)
    assert sorted(beneath.asked) == sorted({text for texts in calls for text in texts})


def test_a_memoised_embedder_forgets_the_least_recently_used():
    beneath = FakeEmbedder()
    memoised = MemoisedEmbedder(beneath, capacity=2)
    for text in ("a", "b", "a", "c", "a", "b"):
        memoised.embed([text])
    assert beneath.asked == ["a", "b", "c", "b"]
    assert memoised.signature == SIGNATURE
