"""What is converted ahead of those who ask: nothing twice, nothing in anybody's way."""

import hashlib
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor

import pytest

from knowledge_index.catalog.records import PipelineObject
from knowledge_index.config import ConversionSettings
from knowledge_index.convert.isolated import IsolatedConverter
from knowledge_index.domain.errors import SourceError
from knowledge_index.domain.languages import Language
from knowledge_index.pipeline.read_ahead import ReadAhead

# A result of that many characters is large: it waits for its turn.
LARGE_CHARS = 1_200_000
PATIENCE_S = 60
WORKERS = 2


class Folder:
    """A source of generated texts; counts what is read."""

    def __init__(self, texts: Sequence[str]) -> None:
        self.texts = {f"{place}.txt": text.encode() for place, text in enumerate(texts)}
        self.read_paths: list[str] = []

    def read(self, disk_path: str) -> bytes:
        self.read_paths.append(disk_path)
        return self.texts[disk_path]

    def objects(self) -> list[PipelineObject]:
        return [
            PipelineObject(
                id=number,
                path=path,
                disk_path=path,
                blob_sha256=hashlib.sha256(data).hexdigest(),
                acl_class_id="c",
                container_object_id=None,
                outermost_object_id=None,
                contained_depth=0,
                outermost_path=path,
                converted_document_id=None,
                source="s",
                relation=None,
                compared_as=None,
                quarantine_class=None,
                quarantine_converter=None,
                index_fingerprint=None,
                converter_name=None,
                converter_version=None,
                text_sha256=None,
                original_text_sha256=None,
                stated_title=None,
                enricher_version=None,
                language=Language.UNKNOWN,
            )
            for number, (path, data) in enumerate(self.texts.items())
        ]


def large(count: int) -> Folder:
    return Folder([f"{number} " + "x" * LARGE_CHARS for number in range(count)])


def first_words(
    folder: Folder,
    asked_for: Sequence[int],
    has_text: Callable[[PipelineObject], bool] = lambda each: False,
    limit: int | None = None,
) -> list[str]:
    """The first word of each text asked for; a wait for ever ends as a failure."""
    objects = folder.objects()
    settings = ConversionSettings(workers=WORKERS)
    with (
        ThreadPoolExecutor(1) as asking,
        ReadAhead({"s": folder}, objects, has_text, settings, limit) as ahead,  # type: ignore[dict-item]
    ):
        results = [asking.submit(ahead.document, objects[number]) for number in asked_for]
        return [each.result(PATIENCE_S).text.split()[0] for each in results]


def test_large_results_arrive_in_the_order_in_which_they_are_asked_for() -> None:
    assert first_words(large(7), range(7)) == [str(number) for number in range(7)]


def test_results_that_nobody_asks_for_are_in_nobodys_way() -> None:
    folder = large(24)
    assert first_words(folder, [0, 8, 16, 23]) == ["0", "8", "16", "23"]


def test_what_is_asked_for_after_all_finds_its_place_beside_large_results_that_wait() -> None:
    # The first of each six has a text, so it is not read ahead; its bytes are wanted all the same.
    assert first_words(large(18), range(18), lambda each: each.id % 6 == 0) == [str(number) for number in range(18)]


def test_no_more_conversions_run_at_a_time_than_there_are_workers(monkeypatch: pytest.MonkeyPatch) -> None:
    original, running, most = IsolatedConverter._attempt, [], []

    def counted(self: IsolatedConverter, *arguments: object) -> object:
        running.append(1)
        most.append(len(running))
        try:
            return original(self, *arguments)  # type: ignore[arg-type]
        finally:
            running.pop()

    monkeypatch.setattr(IsolatedConverter, "_attempt", counted)
    folder = Folder([f"{number} words" for number in range(40)])
    assert first_words(folder, range(40)) == [str(number) for number in range(40)]
    assert max(most) == WORKERS


def test_equal_bytes_are_read_ahead_once() -> None:
    folder = Folder(["same", "same", "same", "other"])
    assert first_words(folder, [0, 3]) == ["same", "other"]
    assert folder.read_paths == ["0.txt", "3.txt"]


def test_what_a_limit_leaves_out_is_not_converted() -> None:
    folder = Folder([f"{number} words" for number in range(10)])
    assert first_words(folder, [0], limit=1) == ["0"]
    assert folder.read_paths == ["0.txt"]


def test_bytes_other_than_those_synced_are_refused() -> None:
    folder = Folder(["before"])
    objects = folder.objects()
    folder.texts["0.txt"] = b"after"
    sources = {"s": folder}
    with (
        ReadAhead(sources, objects, lambda each: False, ConversionSettings()) as ahead,  # type: ignore[arg-type]
        pytest.raises(SourceError, match="run 'ki sync' again"),
    ):
        ahead.document(objects[0])
