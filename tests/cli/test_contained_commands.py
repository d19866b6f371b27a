"""What operators and callers see of files inside others."""

from pathlib import Path

import pytest
from command_line import Ki

from mail_files import archive, mail
from small_firm import CLAUSES, CORPORATE, OUTSIDER, SmallFirm

MAIL = "M-2026-0001 Supply/offer.eml"
REPLY = "M-2026-0001 Supply/reply.eml"


@pytest.fixture
def mails(tmp_path: Path) -> SmallFirm:
    firm = SmallFirm.in_folder(tmp_path / "firm")
    box = archive({"Thumbs.db": b"x", "a.txt": b"y"})
    attached = {"Price.txt": CLAUSES["Price"].encode(), "plan.dwg": b"x", "box.zip": box}
    offer = mail("Offer", "See the price.", attached, message_id="<1@x>", date="Mon, 2 Mar 2026 09:00:00 +0100")
    reply = mail(
        "Re: Offer", "Too dear.", message_id="<2@x>", references="<1@x>", date="Mon, 2 Mar 2026 10:00:00 +0100"
    )
    firm.write(MAIL, offer.as_bytes(), CORPORATE)
    firm.write(REPLY, reply.as_bytes(), CORPORATE)
    firm.sync()
    return firm


def test_a_mail_with_papers_from_source_to_thread(ki: Ki, mails: SmallFirm, home: Path) -> None:
    ki("--home", home, "add-source", mails.root, "--name", "dms", "--acl-map", mails.acl_file)
    ki("--home", home, "sync")
    # The drawing is of a format that nobody reads; that is told, and is no failure of the run.
    run = ki("--home", home, "run", "--strict")
    assert run.code == 0
    assert f"{MAIL}!/plan.dwg: unsupported" in run.out

    status = ki("--home", home, "status").out
    assert "4 of the objects lie in mails and archives; 1 decorations are left out" in status
    assert "1 files inside mails and archives are of formats that are not read" in status
    assert ".dwg: 1" in status
    (source,) = ki("--home", home, "status", "--json").json()["sources"]
    assert (source["current"], source["contained"], source["decorations"]) == (6, 4, 1)

    hits = ki("--home", home, "search", "price of a gearbox", "--as", CORPORATE, "--json").json()["hits"]
    hit = next(each for each in hits if each["path"] == f"{MAIL}!/Price.txt")
    thread = ki("--home", home, "show", hit["hit_id"], "--as", CORPORATE, "--thread", "--json").json()["mails"]
    assert [(each["path"], each["title"], each["is_asked_for"]) for each in thread] == [
        (MAIL, "Offer", True),
        (REPLY, "Re: Offer", False),
    ]
    printed = ki("--home", home, "show", hit["hit_id"], "--as", CORPORATE, "--thread").out
    assert printed.splitlines()[0] == " 1. 2026-03-02T09:00:00+01:00  Offer  <- this one"
    refused = ki("--home", home, "show", hit["hit_id"], "--as", OUTSIDER, "--thread")
    assert (refused.code, refused.out) == (2, "")
    assert "names no passage that this caller may see" in refused.err
