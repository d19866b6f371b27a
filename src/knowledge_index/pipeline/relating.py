"""The relate stage: which paper, which version, which matter, under which title."""

from collections.abc import Iterable

from knowledge_index.catalog import Catalog
from knowledge_index.catalog.records import PipelineObject, Relation
from knowledge_index.domain.matters import matter_of
from knowledge_index.domain.versions import document_key_of, humanised_stem, version_name_of


def renew_relations(catalog: Catalog, *, forget_old_titles: bool) -> None:
    """Bring the stored relations to what the objects of this moment tell.

    With ``forget_old_titles``, passages indexed under another title are taken out until the next run: after a change of
    grants the old title may be that of a version behind a wall.
    """
    with catalog.transaction() as session:
        objects = session.pipeline_objects.current()
        held = {each.id: each.relation for each in objects}
        changed = {each: relation for each, relation in relate(objects).items() if held[each] != relation}
        session.pipeline_objects.set_relations(changed)
        if forget_old_titles:
            session.pipeline_objects.unindex(
                object_id
                for object_id, relation in changed.items()
                if (before := held[object_id]) is not None and before.title != relation.title
            )


def relate(objects: Iterable[PipelineObject]) -> dict[int, Relation]:
    """The relation of every object that has a text, by object id.

    The versions of one paper in one ACL class share one title, so that a clause which stands unchanged in all of them
    is one index row: the title that the earliest version which states one gives, else one made from the file name.
    Nothing of another class has a part in it.
    """
    papers: dict[tuple[str, str], list[PipelineObject]] = {}
    for each in objects:
        if each.converted_document_id is not None:
            key = (f"{each.source}:{document_key_of(each.path)}", each.acl_class_id)
            papers.setdefault(key, []).append(each)
    relations: dict[int, Relation] = {}
    for (document_key, _), versions in papers.items():
        versions.sort(key=lambda each: (_version_order(each.path), each.path))
        stated = (each.stated_title for each in versions if each.stated_title)
        title = next(stated, None) or humanised_stem(versions[0].path)
        for each in versions:
            # Folders inside an archive are its sender's, and say nothing of the firm's matters.
            matter = matter_of(each.outermost_path)
            relations[each.id] = Relation(
                document_key=document_key,
                title=title,
                version_status=version_name_of(each.path).status,
                version_order=_version_order(each.path),
                matter_ref=matter.ref,
                matter_title=matter.title,
            )
    return relations


def _version_order(path: str) -> str:
    """The version's place in its chain as text that sorts like its numbers."""
    return ".".join(f"{number:04d}" for number in version_name_of(path).order)
