"""Evidence, spans and drafts for the validator, made without a catalog."""

from knowledge_index.answers.answer import CitedSpan, Draft, DraftSentence, Evidence
from knowledge_index.domain.search import SearchHit
from knowledge_index.domain.versions import VersionStatus

FIRST, SECOND, ELSEWHERE = "a" * 32, "b" * 32, "c" * 32


def evidence(text: str, key: str = FIRST, start: int = 100, path: str = "M-2026-0001 X/contract.docx") -> Evidence:
    """A retrieved passage that stands at ``start`` of its document."""
    hit = SearchHit(
        hit_id=f"{key}.12345678.{start}-{start + len(text)}",
        source="dms",
        path=path,
        document_key=key,
        title="Contract",
        heading="1. Clause",
        version_status=VersionStatus.FINAL,
        matter_ref="M-2026-0001",
        matter_title="X",
        passage=text,
        start_char=start,
        end_char=start + len(text),
        text_sha256="0" * 64,
        converter="test 1",
        score=1.0,
        legs=(),
    )
    return Evidence(hit, text, False)


def span(of: Evidence, words: str | None = None, shift: int = 0) -> CitedSpan:
    """A citation of ``words`` in a passage (all of it without them), moved by ``shift`` characters."""
    quoted = of.text if words is None else words
    start = of.hit.start_char + of.text.index(quoted) + shift
    return CitedSpan(of.hit.hit_id, start, start + len(quoted), quoted)


def draft(text: str, *spans: CitedSpan) -> Draft:
    return Draft((DraftSentence(text, spans),))


def retrieved(*passages: Evidence) -> dict[str, Evidence]:
    return {each.hit.hit_id: each for each in passages}
