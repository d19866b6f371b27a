"""What makes a run do work again: other converters, chunkers, models, and an index that is not what it was."""

import json
import shutil
from collections.abc import Callable, Sequence

import pytest

from in_process import convert_in_process
from knowledge_index.config import AppConfig, ChunkingSettings
from knowledge_index.convert import converter_for
from knowledge_index.convert.plaintext import PlainTextConverter
from knowledge_index.domain.documents import ConvertedDocument
from knowledge_index.domain.errors import IndexStateError, PreconditionError
from knowledge_index.embed import Matrix
from small_firm import CORPORATE, LEASE_NOTE, PARTNER, REAL_ESTATE, SUPPLY_FINAL, SmallFirm, WordEmbedder

TEXT_FILES = 7
DISTINCT_TEXT_FILES = 6


class ShoutingConverter(PlainTextConverter):
    """A later version that puts a line ahead of the text, so that every offset moves."""

    version = "later"

    def convert(self, data: bytes) -> ConvertedDocument:
        return ConvertedDocument("READ ANEW\n" + super().convert(data).text, None, self.name, self.version)


class BrokenEmbedder(WordEmbedder):
    """Ends a run between the convert and the index stage."""

    def embed(self, texts: Sequence[str], on_done: Callable[[int], None] | None = None) -> Matrix:
        raise ConnectionError("the model is gone")


def use_later_version(monkeypatch: pytest.MonkeyPatch) -> None:
    later = ShoutingConverter()
    convert_in_process(monkeypatch, lambda path, *ocr: later if path.endswith(".txt") else converter_for(path, *ocr))


@pytest.fixture
def indexed(firm: SmallFirm) -> SmallFirm:
    firm.sync_and_run()
    firm.embedder.asked.clear()
    return firm


def test_a_converter_of_another_version_converts_its_files_again(
    indexed: SmallFirm, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = indexed.stores()
    monkeypatch.setattr("knowledge_index.convert.plaintext.PlainTextConverter.version", "later")
    convert_in_process(monkeypatch)

    report = indexed.run()

    assert (report.conversions, report.indexed) == (DISTINCT_TEXT_FILES, TEXT_FILES)
    # The same text came out, so nothing is embedded or written.
    assert (report.embeddings, report.rows_written, report.rows_removed) == (0, 0, 0)
    assert indexed.stores().passages == before.passages
    assert indexed.search("besenrein", REAL_ESTATE)[0].converter == "plaintext later"


def test_passages_follow_the_text_of_another_converter_version(
    indexed: SmallFirm, monkeypatch: pytest.MonkeyPatch
) -> None:
    use_later_version(monkeypatch)
    indexed.run()
    hit = indexed.search("sechs Schlüssel", REAL_ESTATE)[0]
    assert hit.passage.startswith("READ ANEW\nDie Halle")
    indexed.stores().assert_agreed()


def test_no_passage_is_cut_from_another_text_while_a_conversion_waits_to_be_indexed(
    indexed: SmallFirm, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Old offsets over a new text would cite words that were never found there."""
    old_passages = {passage for path in indexed.stores().passages for passage in passages_of(indexed, path)}
    use_later_version(monkeypatch)
    embedder, indexed.embedder = indexed.embedder, BrokenEmbedder()
    with pytest.raises(ConnectionError):
        indexed.run()
    indexed.embedder = embedder

    hits = indexed.search("Halle Miete Schlüssel board memo gearbox", PARTNER)

    assert hits
    assert {hit.passage for hit in hits} <= old_passages
    indexed.run()
    assert any(hit.passage.startswith("READ ANEW") for hit in indexed.search("sechs Schlüssel", PARTNER))
    indexed.stores().assert_agreed()


def passages_of(firm: SmallFirm, path: str) -> list[str]:
    with firm.catalog() as catalog, catalog.transaction() as session:
        ids = {each.path: each.converted_document_id for each in session.pipeline_objects.current()}
        text = session.conversions.text(ids[path] or 0)
    return [text[start:end] for _, start, end in firm.stores().passages[path]]


def test_another_chunker_setting_indexes_everything_anew(indexed: SmallFirm) -> None:
    before = indexed.stores()
    windows = AppConfig(chunking=ChunkingSettings(strategy="fixed", fixed_window_chars=120, fixed_overlap_chars=20))

    report = indexed.run(windows)

    after = indexed.stores()
    assert (report.conversions, report.enriched, report.indexed) == (0, 0, 12)
    after.assert_agreed()
    assert after.catalog_keys != before.catalog_keys
    assert all(end - start <= 120 for passages in after.passages.values() for _, start, end in passages)
    assert len(after.passages[SUPPLY_FINAL]) > len(before.passages[SUPPLY_FINAL])

    # And back: every vector is in the cache still.
    indexed.embedder.asked.clear()
    assert indexed.run().embeddings == 0
    assert indexed.stores() == before


@pytest.mark.parametrize("name", ["index", "index/lexical", "index/profiles", "index/vector"])
def test_a_removed_index_is_made_again_by_a_run(indexed: SmallFirm, name: str) -> None:
    before, answers = indexed.stores(), indexed.search("price of a gearbox", CORPORATE)
    shutil.rmtree(indexed.home.folder / name)

    report = indexed.run()

    assert (report.conversions, report.embeddings, report.indexed) == (0, 0, 0)
    assert indexed.stores() == before
    assert indexed.search("price of a gearbox", CORPORATE) == answers


@pytest.mark.parametrize("name", ["index", "index/lexical", "index/profiles", "index/vector"])
def test_a_search_without_its_index_says_so_and_the_run_after_it_makes_the_index(indexed: SmallFirm, name: str) -> None:
    before = indexed.stores()
    shutil.rmtree(indexed.home.folder / name)
    with pytest.raises(IndexStateError, match="ki run"):
        indexed.search("price of a gearbox", CORPORATE)
    indexed.run()
    assert indexed.stores() == before


def test_a_vector_index_that_was_only_opened_is_filled(indexed: SmallFirm) -> None:
    before = indexed.stores()
    shutil.rmtree(indexed.home.vector_folder)
    assert indexed.stores().vector_keys == set()  # opening makes the folder and the signature in it
    indexed.run()
    assert indexed.stores() == before


def test_vectors_of_another_model_are_refused(indexed: SmallFirm) -> None:
    before = indexed.stores()
    indexed.embedder = WordEmbedder("other")
    with pytest.raises(IndexStateError, match=r"words.*other|other.*words"):
        indexed.run()
    with pytest.raises(IndexStateError):
        indexed.search("gearbox", CORPORATE)
    indexed.embedder = WordEmbedder()
    assert indexed.run().objects == 0
    assert indexed.stores() == before


def test_a_removed_vector_index_takes_another_model(indexed: SmallFirm) -> None:
    shutil.rmtree(indexed.home.vector_folder)
    indexed.embedder = WordEmbedder("other")

    report = indexed.run()

    assert report.indexed == 12
    assert report.embeddings == len(indexed.embedder.asked) > 0
    indexed.stores().assert_agreed()
    assert indexed.search("besenrein", REAL_ESTATE)
    signature = json.loads((indexed.home.vector_folder / "signature.json").read_text())
    assert signature["model"] == "other"


def test_a_removed_vector_cache_costs_vectors_only_for_what_is_new(indexed: SmallFirm) -> None:
    shutil.rmtree(indexed.home.folder / "cache")
    assert indexed.run().embeddings == 0
    indexed.write(LEASE_NOTE, "Ein neuer Vermerk über Schlüssel.\n")
    assert indexed.sync_and_run().embeddings == 1


def test_a_search_before_the_first_run_says_what_to_do(firm: SmallFirm) -> None:
    with pytest.raises(PreconditionError, match="ki run"):
        firm.search("gearbox", CORPORATE)
