"""A thread is what the mails that the caller may see state of one another."""

import pytest

from knowledge_index.domain.errors import NotVisibleError
from knowledge_index.domain.principals import parse_principals
from knowledge_index.retrieval import show_thread
from mail_files import mail
from small_firm import CLAUSES, CORPORATE, OUTSIDER, PARTNER, REAL_ESTATE, SmallFirm

FIRST, SECOND, THIRD, OTHER = "m/a.eml", "m/b.eml", "m/c.eml", "m/other.eml"


@pytest.fixture(scope="module")
def firm(tmp_path_factory: pytest.TempPathFactory) -> SmallFirm:
    """Three mails of a thread, the middle one behind a wall, and one that only it refers to."""
    firm = SmallFirm.in_folder(tmp_path_factory.mktemp("threads") / "firm")
    first = mail(
        "Gearbox price",
        "What is the price of a gearbox?",
        {"clause.txt": CLAUSES["Price"].encode()},
        message_id="<1@x.example>",
        date="Mon, 2 Mar 2026 09:00:00 +0100",
    )
    second = mail(
        "Re: Gearbox price",
        "The board wants a lower price for the gearbox.",
        message_id="<2@x.example>",
        references="<1@x.example> <0@other.example>",
        date="Mon, 2 Mar 2026 08:30:00 +0000",
    )
    third = mail(
        "Re: Gearbox price",
        "The price of the gearbox is settled.",
        message_id="<3@x.example>",
        references="<1@x.example> <2@x.example>",
        date="Tue, 3 Mar 2026 09:00:00 +0100",
    )
    other = mail(
        "Another gearbox price", "Another price.", message_id="<0@other.example>", date="Sun, 1 Mar 2026 09:00:00 +0100"
    )
    both = (CORPORATE, PARTNER)
    firm.write(FIRST, first.as_bytes(), *both)
    firm.write(SECOND, second.as_bytes(), PARTNER)
    firm.write(THIRD, third.as_bytes(), *both)
    firm.write(OTHER, other.as_bytes(), *both)
    firm.write("m/note.txt", "No mail, but a note on the price of a gearbox.\n", REAL_ESTATE)
    firm.sync_and_run()
    return firm


def thread(firm: SmallFirm, path: str, caller: str) -> list[tuple[str, bool]]:
    hit = next(hit for hit in firm.search("price of a gearbox", caller) if hit.path == path)
    with firm.catalog() as catalog:
        return [(each.path, each.is_asked_for) for each in show_thread(catalog, hit.hit_id, parse_principals(caller))]


def test_the_mails_of_a_thread_are_listed_by_the_moment_they_were_sent(firm: SmallFirm) -> None:
    expected = [(OTHER, False), (FIRST, False), (SECOND, False), (THIRD, True)]
    assert thread(firm, THIRD, PARTNER) == expected


def test_a_mail_behind_a_wall_neither_appears_nor_ties_others(firm: SmallFirm) -> None:
    assert thread(firm, THIRD, CORPORATE) == [(FIRST, False), (THIRD, True)]
    assert thread(firm, OTHER, CORPORATE) == [(OTHER, True)]


def test_the_thread_of_an_attachment_is_its_mails(firm: SmallFirm) -> None:
    assert thread(firm, f"{FIRST}!/clause.txt", CORPORATE) == [(FIRST, True), (THIRD, False)]


def test_what_is_no_mail_has_no_thread(firm: SmallFirm) -> None:
    assert thread(firm, "m/note.txt", REAL_ESTATE) == []


def test_a_thread_is_shown_to_nobody_who_may_not_see_the_hit(firm: SmallFirm) -> None:
    hit = next(hit for hit in firm.search("price of a gearbox", PARTNER) if hit.path == SECOND)
    for caller in (CORPORATE, OUTSIDER):
        with firm.catalog() as catalog, pytest.raises(NotVisibleError):
            show_thread(catalog, hit.hit_id, parse_principals(caller))
