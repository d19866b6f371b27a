"""One look at a whole source that can be believed, though it changes meanwhile."""

from collections.abc import Iterable
from dataclasses import dataclass

from knowledge_index.catalog.records import ObjectRecord
from knowledge_index.sources.base import ListedFile, SkippedFile, SyncSource
from knowledge_index.sources.noise import is_noise


@dataclass(frozen=True)
class Census:
    """What a source holds: ``files`` by path, each once; ``noise`` are the paths of programs' own files."""

    files: tuple[ListedFile, ...]
    skipped: tuple[SkippedFile, ...]
    noise: frozenset[str]


def take_census(source: SyncSource, known: Iterable[ObjectRecord]) -> Census:
    """List the source; where a known path is missing, list it again, then look at each that is still missing.

    A listing is no snapshot: it may miss a file that is replaced, or moved from where it has yet to look to where it
    has looked. Nothing is gone because one listing passed it over.

    Raises:
        SourceError: the source as a whole cannot be read, so its silence about a file means nothing.
    """
    by_path = {each.path: each for each in known}
    census = _list(source)
    if by_path.keys() <= _paths(census):
        return census
    census = _list(source)
    missing = sorted(by_path.keys() - _paths(census))
    found = [file for path in missing if (file := source.look(by_path[path].disk_path)) is not None]
    if not found:
        return census
    files = sorted((*census.files, *found), key=lambda file: file.path)
    return Census(tuple(files), census.skipped, census.noise)


def _list(source: SyncSource) -> Census:
    files: list[ListedFile] = []
    skipped: list[SkippedFile] = []
    noise: set[str] = set()
    for each in source.list_files():
        if is_noise(each.path):
            noise.add(each.path)
        elif isinstance(each, ListedFile):
            files.append(each)
        else:
            skipped.append(each)
    return Census(tuple(files), tuple(skipped), frozenset(noise))


def _paths(census: Census) -> set[str]:
    return {file.path for file in census.files}
