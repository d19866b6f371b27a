"""Our own code failing on one object: that object is set aside, the rest goes on."""

import pytest

from knowledge_index.chunking.clause import ClauseChunker
from knowledge_index.pipeline import enriching
from small_firm import SmallFirm


class _Fault(RuntimeError):
    pass


def _failing_on(word: str, original):
    def call(*arguments):
        if any(isinstance(each, str) and word in each for each in arguments):
            raise _Fault("planted")
        return original(*arguments)

    return call


@pytest.mark.parametrize("stage", ["enrich", "chunk"])
def test_a_fault_on_one_text_quarantines_its_objects_alone(
    firm: SmallFirm, shared_firm: SmallFirm, monkeypatch: pytest.MonkeyPatch, stage: str
) -> None:
    with shared_firm.catalog() as catalog, catalog.transaction() as session:
        known = {each.path: each for each in session.pipeline_objects.current()}
        victim = next(each for each in known.values() if each.path.endswith(".eml"))
        text = session.conversions.text(victim.converted_document_id)
    if stage == "enrich":
        monkeypatch.setattr(enriching, "extract_identifiers", _failing_on(text, enriching.extract_identifiers))
    else:
        monkeypatch.setattr(ClauseChunker, "chunk", _failing_on(text, ClauseChunker.chunk))
    firm.sync()
    report = firm.run()
    assert [(each.path, each.error_class) for each in report.quarantined] == [(victim.path, "internal")]
    with firm.catalog() as catalog, catalog.transaction() as session:
        indexed = {each.path for each in session.pipeline_objects.current() if each.index_fingerprint}
    assert indexed == {path for path, each in known.items() if each.index_fingerprint} - {victim.path}
