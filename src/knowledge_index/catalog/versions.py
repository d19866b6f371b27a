"""Which objects are versions of one paper: stored pair by pair, put together from what a caller may see."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from sqlalchemy import Connection, delete, insert, or_, select, text, update

from knowledge_index.catalog import schema
from knowledge_index.catalog.memory import memory_of
from knowledge_index.catalog.records import DocumentRecord, ObjectState, VersionPair, VersionRecord
from knowledge_index.catalog.value_lists import lists_asked, values_asked, values_of
from knowledge_index.domain.grants import Scope
from knowledge_index.domain.versions import STATUS_ORDER, PairEvidence, VersionStatus

_OBJECT = schema.source_object.c
_PAIR = schema.version_relation.c
_SIGNATURE = schema.text_signature.c
_SQL_VARIABLES = 500
# Both ends of a pair are asked for, since undirected evidence is stored once. CROSS JOIN keeps SQLite to that order.
_NEIGHBOURS = text(
    """
    WITH here(id, acl_class_id, document_key) AS (
        SELECT one.id, one.acl_class_id, one.document_key FROM json_each(:keys) AS k
        CROSS JOIN source_object AS one ON one.document_key = k.value AND one.state = 'current'
    ), pair(id, acl_class_id, document_key, other_id, evidence, points_away) AS (
        SELECT here.*, p.other_id, p.evidence, 1
        FROM here CROSS JOIN version_relation AS p ON p.object_id = here.id
        UNION ALL
        SELECT here.*, p.object_id, p.evidence, 0
        FROM here CROSS JOIN version_relation AS p ON p.other_id = here.id
    )
    SELECT pair.document_key, pair.acl_class_id, other.acl_class_id, pair.id, other.document_key, other.path,
           evidence, points_away
    FROM pair CROSS JOIN source_object AS other ON other.id = other_id AND other.state = 'current'
    WHERE pair.document_key <> other.document_key
       OR (evidence = 'pdf of' AND points_away) OR (evidence = 'redline of' AND NOT points_away)
    """
)


# Built once, as every search runs it.
_OF_DOCUMENTS = (
    select(
        _OBJECT.acl_class_id,
        *(_OBJECT[name] for name in ("id", "object_key", "path", "document_key", "version_status")),
        *(_OBJECT[name] for name in ("version_order", "status_evidence", "order_evidence")),
        schema.source.c.name.label("source"),
        schema.converted_document.c.text_sha256,
    )
    .join(schema.source, schema.source.c.id == _OBJECT.source_id)
    .join(schema.converted_document, schema.converted_document.c.id == _OBJECT.converted_document_id)
    .where(_OBJECT.document_key.in_(values_asked("keys")))
    .where(_OBJECT.state == ObjectState.CURRENT)
)


@dataclass(frozen=True)
class Standing:
    """How binding an object is in a chain, and what that rests on."""

    version_status: VersionStatus
    version_order: str
    status_evidence: str
    order_evidence: str


@dataclass(frozen=True)
class VisiblePapers:
    """Papers as a caller sees them.

    ``name_of`` maps each stored document key to the paper's name, the least of the keys of all its visible versions.
    ``word_file_of`` has for a PDF the path of the visible Word file with its wording, ``redline_of`` for a text that of
    the visible redline which was made from it, both by object id.
    """

    name_of: Mapping[str, str]
    word_file_of: Mapping[int, str]
    redline_of: Mapping[int, str]

    def standing(self, object_id: int, own: Standing) -> Standing:
        """The status and order of an object in its chain.

        Where its own name, folder and text say nothing, what a visible redline was made from is a draft, and a PDF with
        the wording of a visible Word file is a final state of it.
        """
        if own.version_status is not VersionStatus.UNKNOWN:
            return own
        status = self.status_of_silent(object_id)
        if status is VersionStatus.DRAFT:
            evidence = f"redlined in {self.redline_of[object_id]}"
        elif status is VersionStatus.FINAL:
            evidence = f"PDF with the wording of {self.word_file_of[object_id]}"
        else:
            return own
        _, _, numbers = own.version_order.partition(".")
        order_evidence = ", ".join(part for part in (f"status {status}", own.order_evidence) if part)
        return Standing(status, f"{STATUS_ORDER[status]:04d}.{numbers}", evidence, order_evidence)

    def placed(self, each: DocumentRecord) -> DocumentRecord:
        """The record with the paper's name, status and order as the scope has them, not as its object says alone."""
        own = Standing(each.version_status, each.version_order, "", "")
        standing, name = self.standing(each.object_id, own), self.name_of[each.document_key]
        if standing is own and name == each.document_key:
            return each
        return replace(
            each,
            document_key=name,
            version_status=standing.version_status,
            version_order=standing.version_order,
        )

    def status_of_silent(self, object_id: int) -> VersionStatus:
        """The status in its chain of an object that says none of its own."""
        if object_id in self.redline_of:
            return VersionStatus.DRAFT
        return VersionStatus.FINAL if object_id in self.word_file_of else VersionStatus.UNKNOWN


class Versions:
    """Reads and writes what objects tell of each other's versions."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def signatures(self, text_sha256s: Collection[str], scheme: str) -> dict[str, bytes]:
        """The signatures that are known of these texts, by the text's SHA-256."""
        found: dict[str, bytes] = {}
        ordered = sorted(text_sha256s)
        for start in range(0, len(ordered), _SQL_VARIABLES):
            part = ordered[start : start + _SQL_VARIABLES]
            statement = select(_SIGNATURE.text_sha256, _SIGNATURE.signature).where(
                _SIGNATURE.scheme == scheme, _SIGNATURE.text_sha256.in_(part)
            )
            found.update((row.text_sha256, row.signature) for row in self._connection.execute(statement))
        return found

    def put_signatures(self, signatures: Mapping[str, bytes], scheme: str) -> None:
        """Store signatures of texts that had none."""
        if signatures:
            self._connection.execute(
                insert(schema.text_signature),
                [
                    {"text_sha256": text_sha256, "scheme": scheme, "signature": signature}
                    for text_sha256, signature in sorted(signatures.items())
                ],
            )

    def replace_pairs(self, compared: Mapping[int, str], pairs: Sequence[VersionPair]) -> None:
        """Set the pairs that any of the objects in ``compared`` is part of, and as what each was compared."""
        ids = sorted(compared)
        for start in range(0, len(ids), _SQL_VARIABLES):
            part = ids[start : start + _SQL_VARIABLES]
            self._connection.execute(
                delete(schema.version_relation).where(or_(_PAIR.object_id.in_(part), _PAIR.other_id.in_(part)))
            )
        if pairs:
            self._connection.execute(
                insert(schema.version_relation),
                [
                    {
                        "object_id": each.object_id,
                        "other_id": each.other_id,
                        "evidence": each.evidence,
                        "similarity": each.similarity,
                    }
                    for each in pairs
                ],
            )
        for object_id in ids:
            self._connection.execute(
                update(schema.source_object).where(_OBJECT.id == object_id).values(compared_as=compared[object_id])
            )

    def forget_ended(self) -> None:
        """Drop the pairs of objects that are no longer current or have lost their text."""
        ended = select(_OBJECT.id).where(
            _OBJECT.compared_as.is_not(None),
            (_OBJECT.state != ObjectState.CURRENT) | _OBJECT.converted_document_id.is_(None),
        )
        ids = sorted(self._connection.execute(ended).scalars())
        self.replace_pairs(dict.fromkeys(ids, ""), ())
        for start in range(0, len(ids), _SQL_VARIABLES):
            self._connection.execute(
                update(schema.source_object)
                .where(_OBJECT.id.in_(ids[start : start + _SQL_VARIABLES]))
                .values(compared_as=None)
            )

    def pairs(self) -> list[VersionPair]:
        """All pairs, by object ids and evidence."""
        statement = select(schema.version_relation).order_by(_PAIR.object_id, _PAIR.other_id, _PAIR.evidence)
        return [
            VersionPair(row.object_id, row.other_id, PairEvidence(row.evidence), row.similarity)
            for row in self._connection.execute(statement)
        ]

    def papers(self, document_keys: Iterable[str], scope: Scope) -> VisiblePapers:
        """The papers that these stored keys belong to, connected through objects in the scope alone.

        A function of what the scope lets be seen: neither a version behind a wall nor one that was deleted joins two
        papers.
        """
        joined: defaultdict[str, set[str]] = defaultdict(set)
        word_file_of: dict[int, str] = {}
        redline_of: dict[int, str] = {}
        seen: set[str] = set()
        frontier = set(document_keys)
        while frontier:
            seen |= frontier
            found: set[str] = set()
            for key, neighbours in self._neighbours(frontier):
                for acl, other_acl, object_id, other_key, path, evidence, points_away in neighbours:
                    if acl not in scope.acl_class_ids or other_acl not in scope.acl_class_ids:
                        continue
                    joined[key].add(other_key)
                    found.add(other_key)
                    if evidence == PairEvidence.PDF_OF and points_away:
                        word_file_of[object_id] = min(path, word_file_of.get(object_id, path))
                    elif evidence == PairEvidence.REDLINE_OF and not points_away:
                        redline_of[object_id] = min(path, redline_of.get(object_id, path))
            frontier = found - seen
        return VisiblePapers(_least_of_each_component(seen, joined), word_file_of, redline_of)

    def chains(self, document_keys: Collection[str], scope: Scope) -> dict[str, list[VersionRecord]]:
        """The visible versions of the papers with these names (of :class:`VisiblePapers`) or stored keys, by name.

        Earliest first by what names, folders and texts say of each, then by path.
        """
        known: dict[str, tuple[str, list[VersionRecord]]] = memory_of(self._connection).facts(
            ("chains", scope.acl_class_ids)
        )
        absent = {key for key in document_keys if key not in known}
        if absent:
            papers = self.papers(absent, scope)
            chains: dict[str, list[VersionRecord]] = {name: [] for name in papers.name_of.values()}
            for row in self._connection.execute(_OF_DOCUMENTS, lists_asked(keys=sorted(papers.name_of))).all():
                if row.acl_class_id in scope.acl_class_ids:
                    version = _version_record(row, papers)
                    chains[version.document_key].append(version)
            for chain in chains.values():
                chain.sort(key=chain_order)
            known |= {key: (name, chains[name]) for key, name in papers.name_of.items()}
        found = (known[key] for key in document_keys)
        return {name: list(chain) for name, chain in found if chain}

    def _neighbours(self, document_keys: Iterable[str]) -> Iterator[tuple[str, list[Sequence[Any]]]]:
        """For each stored key what its objects are paired with, whoever may see it, as the statement has it."""
        known: dict[str, list[Sequence[Any]]] = memory_of(self._connection).facts("neighbours")
        asked = sorted(document_keys)
        absent: dict[str, list[Sequence[Any]]] = {key: [] for key in asked if key not in known}
        if absent:
            for key, *neighbour in self._connection.execute(_NEIGHBOURS, lists_asked(keys=absent)).all():
                absent[key].append(neighbour)
            known.update(absent)
        return ((key, known[key]) for key in asked)

    def pairs_among(self, object_ids: Collection[int]) -> list[VersionPair]:
        """The pairs whose both ends are among these objects."""
        among = values_of(object_ids)
        statement = (
            select(schema.version_relation)
            .where(_PAIR.object_id.in_(among), _PAIR.other_id.in_(among))
            .order_by(_PAIR.object_id, _PAIR.other_id, _PAIR.evidence)
        )
        return [
            VersionPair(row.object_id, row.other_id, PairEvidence(row.evidence), row.similarity)
            for row in self._connection.execute(statement)
        ]


def chain_order(version: VersionRecord) -> tuple[str, str]:
    """Sorts the versions of a paper, earliest first, by what their names say."""
    return version.version_order, version.path


def _version_record(row: Any, papers: VisiblePapers) -> VersionRecord:
    own = Standing(VersionStatus(row.version_status), row.version_order, row.status_evidence, row.order_evidence)
    standing = papers.standing(row.id, own)
    return VersionRecord(
        object_id=row.id,
        object_key=row.object_key,
        source=row.source,
        path=row.path,
        document_key=papers.name_of[row.document_key],
        version_status=standing.version_status,
        version_order=standing.version_order,
        status_evidence=standing.status_evidence,
        order_evidence=standing.order_evidence,
        text_sha256=row.text_sha256,
    )


def _least_of_each_component(keys: Iterable[str], joined: Mapping[str, Iterable[str]]) -> dict[str, str]:
    name_of: dict[str, str] = {}
    for key in sorted(keys):
        if key in name_of:
            continue
        waiting = [key]
        while waiting:
            each = waiting.pop()
            if each not in name_of:
                name_of[each] = key
                waiting.extend(joined.get(each, ()))
    return name_of
