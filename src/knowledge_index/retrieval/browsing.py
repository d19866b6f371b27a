"""Whole documents, versions and matters for people and their agents: each in the audit log before it is shown."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from knowledge_index.access import compile_scope
from knowledge_index.access.audit_chain import AuditAction
from knowledge_index.access.break_glass import record_expired
from knowledge_index.access.recording import AccessRecorder
from knowledge_index.catalog import Catalog, CatalogSession
from knowledge_index.catalog.records import DocumentRecord, MatterRecord
from knowledge_index.domain.errors import NotVisibleError
from knowledge_index.domain.grants import Scope
from knowledge_index.domain.principals import Principal
from knowledge_index.retrieval.versions import chain_of

_FORM = re.compile(r"(?P<object>[0-9a-f]{32})\.(?P<text>[0-9a-f]{8})")
_UNSEEN = "this id names no document that this caller may see now; search again and take the id from the result"
Shown = TypeVar("Shown")


@dataclass(frozen=True)
class DocumentPage:
    """A part of a document's text: ``text == document.text[start_char:end_char]``."""

    document: DocumentRecord
    start_char: int
    end_char: int
    text: str


def document_id_of(object_key: str, text_sha256: str) -> str:
    """The public name of one state of a document: a keyed hash of its path, and the first 8 digits of its text's."""
    return f"{object_key}.{text_sha256[:8]}"


def read_document_as(
    catalog: Catalog,
    recorder: AccessRecorder,
    principals: frozenset[Principal],
    document_id: str,
    start_char: int,
    length_chars: int,
) -> DocumentPage:
    """The text from ``start_char`` on, ``length_chars`` at most; empty where the text is over.

    Raises:
        NotVisibleError: there is no such document, it has changed or gone, or the caller may not see it: one message
            for all four.
        AuditLogError: it could not be recorded, so nothing is returned.
    """

    def page(session: CatalogSession, document: DocumentRecord, scope: Scope) -> DocumentPage:
        del scope
        start = min(start_char, document.length_chars)
        end = min(start + length_chars, document.length_chars)
        return DocumentPage(document, start, end, session.passages.text_between(document.object_id, start, end))

    def spans(page: DocumentPage) -> tuple[str, ...]:
        return (f"{document_id}.{page.start_char}-{page.end_char}",)

    return _show(catalog, recorder, principals, AuditAction.DOCUMENT, document_id, page, spans)


def list_versions_as(
    catalog: Catalog, recorder: AccessRecorder, principals: frozenset[Principal], document_id: str
) -> tuple[DocumentRecord, ...]:
    """The searchable versions of the paper, in the order of the caller's chain; the named one is among them.

    Raises:
        NotVisibleError: as for :func:`read_document_as`.
        AuditLogError: it could not be recorded, so nothing is returned.
    """

    def versions(session: CatalogSession, document: DocumentRecord, scope: Scope) -> tuple[DocumentRecord, ...]:
        chain, _ = chain_of(session, document.document_key, scope)
        searchable = session.documents.with_ids([each.object_id for each in chain], scope)
        return tuple(searchable[each.object_id] for each in chain if each.object_id in searchable)

    def ids(versions: tuple[DocumentRecord, ...]) -> tuple[str, ...]:
        return tuple(document_id_of(each.object_key, each.text_sha256) for each in versions)

    return _show(catalog, recorder, principals, AuditAction.VERSIONS, document_id, versions, ids)


def list_matters_as(
    catalog: Catalog, recorder: AccessRecorder, principals: frozenset[Principal], after: str, limit: int
) -> tuple[MatterRecord, ...]:
    """The matters with documents that the caller may see, by reference, the first ``limit`` of those behind ``after``.

    Raises:
        AuditLogError: it could not be recorded, so nothing is returned.
    """
    record_expired(catalog, recorder)
    with catalog.transaction() as session:
        scope = compile_scope(session, principals, recorder.clock())
        matters = [each for each in session.documents.matters(scope) if each.ref and each.ref > after][:limit]
    recorder.record_listing(AuditAction.MATTERS, scope, after, (each.ref for each in matters))
    return tuple(matters)


def _show(
    catalog: Catalog,
    recorder: AccessRecorder,
    principals: frozenset[Principal],
    action: AuditAction,
    document_id: str,
    read: Callable[[CatalogSession, DocumentRecord, Scope], Shown],
    names: Callable[[Shown], tuple[str, ...]],
) -> Shown:
    """What ``read`` makes of the document, looked up and read under one scope in one transaction."""
    record_expired(catalog, recorder)
    parts = _FORM.fullmatch(document_id)
    with catalog.transaction() as session:
        scope = compile_scope(session, principals, recorder.clock())
        document = None if parts is None else session.documents.with_key(parts["object"], scope)
        if parts is None or document is None or not document.text_sha256.startswith(parts["text"]):
            recorder.record_listing(action, scope, document_id, ())
            raise NotVisibleError(_UNSEEN)
        shown = read(session, document, scope)
    recorder.record_listing(action, scope, document_id, names(shown))
    return shown
