"""The relate stage: which paper, which version, which matter, under which title."""

import hashlib
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

import rfc8785

from knowledge_index.catalog import Catalog, CatalogSession
from knowledge_index.catalog.records import PipelineObject, Relation, VersionPair
from knowledge_index.domain.matters import matter_of
from knowledge_index.domain.versions import (
    STATUS_ORDER,
    VersionStatus,
    humanised_stem,
    paper_folder_of,
    version_name_of,
)
from knowledge_index.pipeline.pairing import (
    PAIRING_VERSION,
    VersionCandidate,
    evidence_between,
    is_written_paper,
    name_key_of,
)
from knowledge_index.pipeline.similarity import (
    SIGNATURE_SCHEME,
    pairs_to_compare,
    signature_of,
)

# Texts of one folder that are compared at the same moment stay in memory up to this many.
_KEPT_CANDIDATES = 64


def renew_relations(catalog: Catalog, *, forget_old_titles: bool) -> None:
    """Bring the stored relations to what the objects of this moment tell.

    Only objects that are new, or have another text than when they were last compared, are compared with the others of
    their paper folder. With ``forget_old_titles``, passages indexed under another title are taken out until the next
    run: after a change of grants the old title may be that of a version behind a wall.
    """
    _compare(catalog)
    with catalog.transaction() as session:
        objects = session.pipeline_objects.current()
        held = {each.id: each.relation for each in objects}
        relations = relate(objects, session.versions.pairs())
        changed = {each: relation for each, relation in relations.items() if held[each] != relation}
        session.pipeline_objects.set_relations(changed)
        if forget_old_titles:
            session.pipeline_objects.unindex(
                object_id
                for object_id, relation in changed.items()
                if (before := held[object_id]) is not None and before.title != relation.title
            )


def relate(objects: Iterable[PipelineObject], pairs: Sequence[VersionPair]) -> dict[int, Relation]:
    """The relation of every object that has a text, by object id.

    The versions of one paper in one ACL class share one title, so that a clause which stands unchanged in all of them
    is one index row: the title that the earliest version which states one gives, else one made from the file name.
    Nothing of another class has a part in it, no version that joins two of this one either.
    """
    by_id = {each.id: each for each in objects if each.converted_document_id is not None}
    own = {each.id: _own_relation(each) for each in by_id.values()}
    relations: dict[int, Relation] = {}
    for versions in _papers_within_classes(by_id, own, pairs):
        versions.sort(key=lambda object_id: (own[object_id].version_order, by_id[object_id].path))
        stated = (title for object_id in versions if (title := by_id[object_id].stated_title))
        title = next(stated, None) or humanised_stem(by_id[versions[0]].path)
        for object_id in versions:
            relations[object_id] = replace(own[object_id], title=title)
    return relations


def _own_relation(each: PipelineObject) -> Relation:
    """What an object tells alone; the title is that of its paper."""
    name = version_name_of(each.path)
    # Folders inside an archive are its sender's, and say nothing of the firm's matters.
    matter = matter_of(each.outermost_path)
    status, evidence, order_evidence = name.status, name.status_evidence, name.order_evidence
    if status is VersionStatus.UNKNOWN and each.original_text_sha256 is not None:
        status, evidence = VersionStatus.DRAFT, "holds tracked changes"
        order_evidence = ", ".join(part for part in (f"status {status}", order_evidence) if part)
    kept, major, minor, date, copy = name.order[1:]
    return Relation(
        document_key=f"{each.source}:{name_key_of(each.path)}",
        title="",
        version_status=status,
        version_order=f"{STATUS_ORDER[status]:04d}.{kept:04d}.{major:04d}.{minor:04d}.{date:08d}.{copy:04d}",
        matter_ref=matter.ref,
        matter_title=matter.title,
        status_evidence=evidence,
        order_evidence=order_evidence,
    )


def _papers_within_classes(
    by_id: Mapping[int, PipelineObject], own: Mapping[int, Relation], pairs: Iterable[VersionPair]
) -> list[list[int]]:
    """The objects of each ACL class, grouped by what joins them within the class: a shared key or a pair."""
    root_of: dict[tuple[str, str], tuple[str, str]] = {}

    def root(node: tuple[str, str]) -> tuple[str, str]:
        while (above := root_of.setdefault(node, node)) != node:
            root_of[node] = root_of[above]
            node = root_of[node]
        return node

    def node(object_id: int) -> tuple[str, str]:
        return by_id[object_id].acl_class_id, own[object_id].document_key

    for pair in pairs:
        if pair.object_id in by_id and pair.other_id in by_id:
            one, other = node(pair.object_id), node(pair.other_id)
            if one[0] == other[0]:
                low, high = sorted((root(one), root(other)))
                root_of[high] = low
    papers: defaultdict[tuple[str, str], list[int]] = defaultdict(list)
    for object_id in by_id:
        papers[root(node(object_id))].append(object_id)
    return list(papers.values())


def _compare(catalog: Catalog) -> None:
    with catalog.transaction() as session:
        session.versions.forget_ended()
        objects = [each for each in session.pipeline_objects.current() if each.converted_document_id is not None]
    folders: defaultdict[tuple[str, str, str], list[PipelineObject]] = defaultdict(list)
    for each in objects:
        folders[each.source, matter_of(each.outermost_path).ref, paper_folder_of(each.path)].append(each)
    for _, members in sorted(folders.items()):
        compared = {each.id: _fingerprint(each) for each in members}
        new = {each.id: compared[each.id] for each in members if each.compared_as != compared[each.id]}
        if new:
            _compare_folder(catalog, [each for each in members if is_written_paper(each.path)], new)


def _compare_folder(catalog: Catalog, papers: Sequence[PipelineObject], new: Mapping[int, str]) -> None:
    """Compare the new objects of a folder with each other and with the rest; one transaction, so it can be killed."""
    with catalog.transaction() as session:
        pairs: list[VersionPair] = []
        if len(papers) > 1:
            candidates = _Candidates(session, papers)
            wanted = new.keys() & {each.id for each in papers}
            for one, other in sorted(pairs_to_compare(candidates.signatures(), wanted)):
                pairs.extend(
                    VersionPair(one if forward else other, other if forward else one, evidence, round(similarity, 4))
                    for forward, evidence, similarity in evidence_between(candidates.get(one), candidates.get(other))
                )
        session.versions.replace_pairs(new, pairs)


class _Candidates:
    """The objects of one folder as they are compared, read when asked for."""

    def __init__(self, session: CatalogSession, papers: Iterable[PipelineObject]) -> None:
        self._session = session
        self._papers = {each.id: each for each in papers}
        self._held: dict[int, VersionCandidate] = {}

    def get(self, object_id: int) -> VersionCandidate:
        if object_id not in self._held:
            if len(self._held) == _KEPT_CANDIDATES:
                del self._held[next(iter(self._held))]
            each = self._papers[object_id]
            assert each.converted_document_id is not None
            text, original = self._session.conversions.texts(each.converted_document_id)
            self._held[object_id] = VersionCandidate(each.path, text, original)
        return self._held[object_id]

    def signatures(self) -> dict[int, list[bytes]]:
        """The signatures of every object's text, and of its original text where it has one; missing ones are stored."""
        wanted = {
            object_id: [sha for sha in (each.text_sha256, each.original_text_sha256) if sha is not None]
            for object_id, each in self._papers.items()
        }
        known = self._session.versions.signatures({sha for shas in wanted.values() for sha in shas}, SIGNATURE_SCHEME)
        made: dict[str, bytes] = {}
        for object_id, shas in wanted.items():
            if not known.keys() >= set(shas):
                candidate = self.get(object_id)
                for sha, shingles in zip(shas, (candidate.shingles, candidate.original_shingles), strict=False):
                    if shingles is not None and sha not in known:
                        known[sha] = made[sha] = signature_of(shingles)
        self._session.versions.put_signatures(made, SIGNATURE_SCHEME)
        return {object_id: [known[sha] for sha in shas] for object_id, shas in wanted.items()}


def _fingerprint(each: PipelineObject) -> str:
    """Everything that an object's pairs depend on, hashed."""
    content = [PAIRING_VERSION, SIGNATURE_SCHEME, each.path, each.text_sha256, each.original_text_sha256]
    return hashlib.sha256(rfc8785.dumps(content)).hexdigest()
