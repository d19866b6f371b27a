"""A catalog of converted files that were related and never indexed, for tests of versions."""

import hashlib
from collections.abc import Sequence
from pathlib import Path

from knowledge_index.access import acl_class_of, compile_scope
from knowledge_index.catalog import open_catalog
from knowledge_index.catalog.passage_records import ChunkRecord, IndexRowRecord, RowKind
from knowledge_index.catalog.records import ObjectState, ObservedObject, VersionRecord
from knowledge_index.domain.documents import ConvertedDocument
from knowledge_index.domain.grants import Access, Grant
from knowledge_index.domain.principals import Principal, parse_principals
from knowledge_index.pipeline import renew_relations
from knowledge_index.pipeline.passages import wording_key_of
from knowledge_index.retrieval import VersionChain, list_versions
from knowledge_index.retrieval.hit_ids import hit_id_of
from knowledge_index.retrieval.versions import in_order

EVERYONE = "group:everyone"
SUBJECTS = (
    *("delivery of the gearboxes", "inspection on arrival", "price and invoices", "late payment", "liability"),
    *("loss of profit", "insurance", "notices", "governing law", "place of jurisdiction", "assignment", "set-off"),
)


def contract(
    *parties: str, title: str = "Supply Agreement", without: Sequence[str] = (), changed: Sequence[str] = ()
) -> str:
    """About 400 words: the parties, and a clause of its own wording for every subject."""
    lines = [f"{title} between {' and '.join(parties)}, both of whom sign it in two originals."]
    for number, subject in enumerate((each for each in SUBJECTS if each not in without), start=1):
        amount = "twice the sum that was first agreed" if subject in changed else "the sum stated in the annex"
        lines.append(
            f"{number}. As to {subject}, each side keeps to what was agreed about {subject} and pays {amount} "
            f"whenever {subject} gives rise to a claim, unless the other side has caused it through {subject} itself."
        )
    return "\n".join([*lines, f"Signed for {' and for '.join(parties)}."])


class VersionEstate:
    """One source; ``acl`` are the principals that may see a file."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.file = folder / "catalog.sqlite"
        self.catalog = open_catalog(self.file)
        with self.catalog.transaction() as session:
            session.sources.add("dms", "local_fs", "/dms", None)

    def add(self, path: str, text: str, *acl: str, original_text: str | None = None) -> None:
        """A current, converted object whose paragraphs are its passages."""
        acl_class = acl_class_of([Grant(Principal.parse(each), Access.ALLOW) for each in acl or (EVERYONE,)])
        blob = _hash(f"{text}\0{original_text}")
        with self.catalog.transaction() as session:
            session.acl_classes.put(acl_class)
            session.objects.add(1, ObservedObject(path, path, _key(path), blob, 1, 1, 1, acl_class.id), "2026-03-01")
            object_id = self._id(session, path)
            document_id = session.conversions.find(blob, "test", "1")
            if document_id is None:
                document = ConvertedDocument(text, None, "test", "1", original_text=original_text)
                document_id = session.conversions.add(blob, document)
            session.pipeline_objects.set_converted(object_id, document_id)
            chunks, start = [], 0
            for passage in text.split("\n\n"):
                row_key = _hash(acl_class.id + passage)[:40]
                session.passages.put_rows([IndexRowRecord(row_key, RowKind.PASSAGE, acl_class.id, "", "", 1, ())])
                chunks.append(ChunkRecord(row_key, start, start + len(passage), "", wording_key_of(passage)))
                start += len(passage) + 2
            profile = f"profile of {path} in {acl_class.id}"
            session.passages.put_rows([IndexRowRecord(profile, RowKind.PROFILE, acl_class.id, "", path, 0, ())])
            session.passages.replace_chunks(object_id, chunks, ChunkRecord(profile, 0, len(text), ""))

    def remove(self, path: str) -> None:
        with self.catalog.transaction() as session:
            session.objects.end([self._id(session, path)], ObjectState.TOMBSTONED, "2026-04-01")

    def relate(self) -> None:
        renew_relations(self.catalog, forget_old_titles=False)

    def chains(self, caller: str = EVERYONE) -> list[list[VersionRecord]]:
        """All papers that the caller sees, each earliest first."""
        with self.catalog.transaction() as session:
            scope = compile_scope(session, parse_principals(caller))
            keys = [
                each.relation.document_key
                for each in session.pipeline_objects.current()
                if each.relation is not None and each.acl_class_id in scope.acl_class_ids
            ]
            chains = session.versions.chains(keys, scope)
            return [
                in_order(chain, session.versions.pairs_among([each.object_id for each in chain]))
                for _, chain in sorted(chains.items())
            ]

    def papers(self, caller: str = EVERYONE) -> list[list[str]]:
        """The file names of every paper, in order."""
        return [[each.path.rpartition("/")[2] for each in chain] for chain in self.chains(caller)]

    def titles(self) -> dict[str, str]:
        with self.catalog.transaction() as session:
            return {each.path: each.relation.title for each in session.pipeline_objects.current() if each.relation}

    def hit_id(self, path: str, caller: str = EVERYONE) -> str:
        """The id of a file's first passage."""
        with self.catalog.transaction() as session:
            scope = compile_scope(session, parse_principals(caller))
            object_id = self._id(session, path)
            (first, *_) = (
                each
                for each in session.occurrences.of_rows(session.passages.row_keys(RowKind.PASSAGE), scope)
                if each.object_id == object_id and each.start_char == 0
            )
            return hit_id_of(first)

    def versions(self, path: str, caller: str = EVERYONE) -> VersionChain:
        return list_versions(self.catalog, self.hit_id(path, caller), parse_principals(caller))

    def _id(self, session, path: str) -> int:
        return next(each.id for each in session.objects.current(1) if each.path == path)


def _key(path: str) -> str:
    return _hash(f"key {path}")[:32]


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
