"""A hit opened again: the same words, or one error for whatever stands in the way."""

from pathlib import Path

import pytest
from ranked_corpus import Corpus, RankedIndex

from knowledge_index.catalog.passage_records import Occurrence
from knowledge_index.config import RetrievalSettings
from knowledge_index.domain.errors import NotVisibleError
from knowledge_index.domain.principals import parse_principals
from knowledge_index.domain.versions import VersionStatus
from knowledge_index.retrieval import ShownPassage, show_hit
from knowledge_index.retrieval.hit_ids import HitId, hit_id_of, parse_hit_id
from small_firm import CORPORATE, LEASE_NOTE, PARTNER, REAL_ESTATE, SUPPLY_DRAFT, SUPPLY_FINAL, SUPPLY_MAIL, SmallFirm


def show(firm: SmallFirm, hit_id: str, caller: str) -> ShownPassage:
    with firm.catalog() as catalog:
        return show_hit(catalog, hit_id, parse_principals(caller))


def refusal(firm: SmallFirm, hit_id: str, caller: str) -> str:
    """The error's text with the id, which the caller knows, taken out."""
    with pytest.raises(NotVisibleError) as caught:
        show(firm, hit_id, caller)
    assert hit_id in str(caught.value)
    return str(caught.value).replace(hit_id, "ID")


def test_a_hit_is_shown_in_its_context(shared_firm: SmallFirm) -> None:
    hit = next(each for each in shared_firm.search("price of a gearbox", CORPORATE) if each.path == SUPPLY_FINAL)
    shown = show(shared_firm, hit.hit_id, CORPORATE)
    assert shown.passage == hit.passage
    assert (shown.occurrence.start_char, shown.occurrence.end_char) == (hit.start_char, hit.end_char)
    assert shown.before.endswith("failing which it counts as taken.\n")
    assert shown.after.startswith("\n3. Liability\nEither party")
    assert len(shown.after) == 400


def test_a_passage_at_the_start_and_end_of_its_text_has_no_context(shared_firm: SmallFirm) -> None:
    (hit,) = (each for each in shared_firm.search("sechs Schlüssel", REAL_ESTATE) if each.path == LEASE_NOTE)
    shown = show(shared_firm, hit.hit_id, REAL_ESTATE)
    assert (shown.before, shown.after) == ("", "")
    assert shown.passage.startswith("Die Halle wurde am 1. März")


def test_missing_malformed_forbidden_deleted_and_changed_are_one_error(firm: SmallFirm) -> None:
    firm.sync_and_run()
    mail = firm.search("12 O 345/25", CORPORATE)[0]
    draft = next(
        hit
        for hit in firm.search("price", CORPORATE, settings=RetrievalSettings(collapse_per_document=False))
        if hit.path == SUPPLY_DRAFT and hit.start_char == 0
    )
    assert mail.path == SUPPLY_MAIL
    key, mark, span = mail.hit_id.split(".")
    texts = {
        "forbidden": refusal(firm, mail.hit_id, REAL_ESTATE),
        "malformed": refusal(firm, "no such thing", CORPORATE),
        "empty": refusal(firm, "?", CORPORATE),
        "another object": refusal(firm, f"{'0' * 32}.{mark}.{span}", CORPORATE),
        "another span": refusal(firm, f"{key}.{mark}.0-1", CORPORATE),
        "another text": refusal(firm, f"{key}.{'0' * 8}.{span}", CORPORATE),
        "a huge span": refusal(firm, f"{key}.{mark}.0-{'9' * 12}", CORPORATE),
    }
    (firm.root / SUPPLY_MAIL).unlink()
    firm.write(SUPPLY_DRAFT, "Supply Agreement between others.\n")
    firm.sync()
    texts["deleted, before the next run"] = refusal(firm, mail.hit_id, CORPORATE)
    texts["changed, before the next run"] = refusal(firm, draft.hit_id, CORPORATE)
    firm.run()
    texts["deleted"] = refusal(firm, mail.hit_id, CORPORATE)
    texts["changed"] = refusal(firm, draft.hit_id, CORPORATE)
    assert len(set(texts.values())) == 1, texts


def test_a_revoked_hit_is_not_shown_from_the_next_sync_on(firm: SmallFirm) -> None:
    firm.sync_and_run()
    mail = firm.search("12 O 345/25", CORPORATE)[0]
    firm.grant(SUPPLY_MAIL, PARTNER)
    firm.sync()
    assert refusal(firm, mail.hit_id, CORPORATE) == refusal(firm, "no such thing", CORPORATE)


def test_a_hit_id_stays_what_it_was_and_tells_nothing_of_the_path(tmp_path: Path) -> None:
    ids = []
    for others in (0, 5):
        folder = tmp_path / str(others)
        folder.mkdir()
        corpus = Corpus(folder)
        for number in range(others):
            corpus.add(f"M-1/other {number}.txt", f"other {number}")
        corpus.add("M-1/a.txt", "row")
        (hit,) = corpus.search(RankedIndex({"row": 1.0}, {}, {}), RetrievalSettings())
        ids.append(hit.hit_id)
    assert ids[0] == ids[1]
    assert "a.txt" not in ids[0]


def test_an_id_is_read_back_as_it_was_written() -> None:
    occurrence = Occurrence(
        row_key="r",
        object_id=7,
        object_key="0123456789abcdef" * 2,
        source="dms",
        path="a.txt",
        document_key="a",
        title="A",
        version_status=VersionStatus.DRAFT,
        version_order="1",
        matter_ref="",
        matter_title="",
        heading="",
        start_char=12,
        end_char=3456,
        text_sha256="fedcba98" * 8,
        converter="plaintext 1",
        wording_key="",
    )
    assert hit_id_of(occurrence) == "0123456789abcdef0123456789abcdef.fedcba98.12-3456"
    assert parse_hit_id(hit_id_of(occurrence)) == HitId("0123456789abcdef" * 2, "fedcba98", 12, 3456)


@pytest.mark.parametrize("text", ["", "x", "0" * 32, f"{'0' * 32}.{'0' * 8}.1-", f"{'G' * 32}.{'0' * 8}.1-2"])
def test_other_forms_are_no_id(text: str) -> None:
    assert parse_hit_id(text) is None
