"""The root is a function of the passages that the caller sees: not of machine, order or classes."""

from datetime import UTC, datetime
from email.message import EmailMessage
from pathlib import Path

import pytest
from receipt_world import ReceiptWorld, record_of

from knowledge_index.access import compile_scope
from knowledge_index.domain.errors import PreconditionError
from knowledge_index.domain.principals import parse_principals
from knowledge_index.evidence.trees import VisibleTrees, visible_tree
from small_firm import BARRED, CLAUSES, CORPORATE, PARTNER, SmallFirm, paper

PAPERS = {
    "M-1 Lease/lease.txt": paper("Lease", "Miete", "Rückgabe"),
    "M-1 Lease/terms.txt": paper("Terms", "Secrecy"),
    "M-2 Supply/supply.txt": paper("Supply", "Supply", "Price", "Liability"),
    # The same bytes under another path.
    "M-2 Supply/terms.txt": paper("Terms", "Secrecy"),
}
CALLER = "user:anna,group:team"


def index_of(firm: SmallFirm, caller: str = CALLER) -> tuple[str, int, str]:
    with firm.retrieval() as service:
        record = record_of(ReceiptWorld(firm, service).search("price", caller)[1])
    return record["index"]["merkle_root"], record["index"]["chunk_count"], record["index_sha256"]


def firm_of(folder: Path, papers: dict[str, str], *grants: str, one_by_one: bool = False) -> SmallFirm:
    firm = SmallFirm.in_folder(folder)
    for number, (path, text) in enumerate(papers.items()):
        firm.write(
            path, text, *(grants or [("user:anna", "group:team", "user:anna,group:team")[number % 3]][0].split(","))
        )
        if one_by_one:
            firm.sync_and_run()
    firm.sync_and_run()
    return firm


def test_machine_order_and_classes_change_nothing(tmp_path: Path) -> None:
    one = firm_of(tmp_path / "one", PAPERS, "user:anna")
    other = firm_of(tmp_path / "other", dict(reversed(PAPERS.items())), one_by_one=True)
    assert one.home.installation_key() != other.home.installation_key()
    assert index_of(one) == index_of(other)


def test_one_changed_character_changes_the_root(tmp_path: Path) -> None:
    firm = firm_of(tmp_path / "firm", PAPERS, "user:anna")
    before = index_of(firm)
    changed = PAPERS["M-1 Lease/lease.txt"].replace("12.400,00", "12.401,00")
    assert len(changed) == len(PAPERS["M-1 Lease/lease.txt"])
    firm.write("M-1 Lease/lease.txt", changed)
    firm.sync_and_run()
    after = index_of(firm)
    assert (after[0] != before[0], after[1]) == (True, before[1])
    firm.write("M-1 Lease/lease.txt", PAPERS["M-1 Lease/lease.txt"])
    firm.sync_and_run()
    assert index_of(firm) == before


def test_a_copy_that_the_caller_sees_twice_counts_once(tmp_path: Path) -> None:
    firm = firm_of(tmp_path / "firm", PAPERS, "user:anna")
    before = index_of(firm)
    firm.write("M-3 Copies/copy.txt", PAPERS["M-2 Supply/supply.txt"], "user:anna", "group:others")
    firm.sync_and_run()
    assert index_of(firm) == before


def test_the_root_is_the_callers_own_and_follows_the_walls_at_once(tmp_path: Path) -> None:
    firm = firm_of(tmp_path / "firm", PAPERS, "user:anna")
    before = index_of(firm)
    firm.write("M-4 Board/board.txt", paper("Board", "Notices"), PARTNER)
    firm.sync_and_run()
    assert index_of(firm) == before != index_of(firm, PARTNER)
    firm.grant("M-4 Board/board.txt", PARTNER, "user:anna")
    firm.sync()
    assert index_of(firm)[1] == before[1] + index_of(firm, PARTNER)[1]
    firm.grant("M-4 Board/board.txt", PARTNER)
    firm.sync()
    assert index_of(firm) == before
    assert index_of(firm, "user:nobody")[1] == 0


def test_kept_trees_are_those_that_would_be_made_anew(world: ReceiptWorld, tmp_path: Path) -> None:
    for caller in (CORPORATE, PARTNER, f"{CORPORATE},{BARRED}"):
        with world.service.catalog.transaction() as session:
            scope = compile_scope(session, parse_principals(caller))
            fresh = visible_tree(session, scope)
            made = VisibleTrees(tmp_path).get(session, scope)
            mapped = VisibleTrees(tmp_path).get(session, scope)
        assert bytes(made.nodes) == bytes(mapped.nodes) == bytes(fresh.nodes)
        assert made.size == mapped.size == fresh.size


def test_a_damaged_file_of_a_tree_is_made_anew_or_refused(world: ReceiptWorld, tmp_path: Path) -> None:
    with world.service.catalog.transaction() as session:
        scope = compile_scope(session, parse_principals(CORPORATE))
        fresh = VisibleTrees(tmp_path).get(session, scope)
        (file,) = tmp_path.glob("*.tree")
        for content in (b"", b"nonsense", file.read_bytes()[:-1]):
            file.write_bytes(content)
            assert bytes(VisibleTrees(tmp_path).get(session, scope).nodes) == bytes(fresh.nodes)


def test_a_receipt_waits_until_all_passages_are_made_in_one_way(tmp_path: Path) -> None:
    firm = firm_of(tmp_path / "firm", PAPERS, "user:anna")
    from knowledge_index.config import AppConfig, ChunkingSettings

    smaller = AppConfig(chunking=ChunkingSettings(clause_max_chars=900))
    before = index_of(firm)
    firm.run(smaller, limit=1)
    with pytest.raises(PreconditionError, match="ki run"):
        index_of(firm)
    firm.run(smaller)
    assert index_of(firm)[2] != before[2]


def test_another_chunker_is_another_index_even_where_the_passages_are_the_same(tmp_path: Path) -> None:
    from knowledge_index.config import AppConfig, ChunkingSettings

    firm = firm_of(tmp_path / "firm", {"a/a.txt": CLAUSES["Miete"]}, "user:anna")
    before = index_of(firm)
    firm.run(AppConfig(chunking=ChunkingSettings(clause_max_chars=1999)))
    after = index_of(firm)
    assert after[:2] == before[:2]
    assert after[2] != before[2]


def test_the_moment_comes_from_the_clock_that_is_given(world: ReceiptWorld) -> None:
    moment = datetime(2031, 5, 6, 7, 8, 9, 10, tzinfo=UTC)
    timed = ReceiptWorld(world.firm, world.service, lambda: moment)
    assert record_of(timed.search("price", CORPORATE)[1])["time"] == "2031-05-06T07:08:09.000010+00:00"


def mail_with(*attachments: tuple[str, str]) -> bytes:
    mail = EmailMessage()
    mail["From"], mail["To"], mail["Subject"] = "a@nordkai.example", "b@kran.example", "Papers"
    mail.set_content("The papers are enclosed.")
    for name, text in attachments:
        mail.add_attachment(text, filename=name)
    return mail.as_bytes()


def test_no_kept_tree_outlives_a_change(tmp_path: Path) -> None:
    """Whatever happens to files, those inside others, texts and grants: the kept tree is the one of the moment."""
    firm = firm_of(tmp_path / "firm", PAPERS, "user:anna")
    kept = VisibleTrees(tmp_path / "trees")
    roots = []

    def assert_current() -> None:
        with firm.catalog() as catalog, catalog.transaction() as session:
            scope = compile_scope(session, parse_principals(CALLER))
            tree = kept.get(session, scope)
            assert tree.root == visible_tree(session, scope).root
        roots.append(tree.root)

    def quarantined(path: str, *, again: bool) -> None:
        with firm.catalog() as catalog, catalog.transaction() as session:
            held = next(each for each in session.pipeline_objects.current() if each.path == path)
            if again:
                session.pipeline_objects.set_converted(held.id, documents[path])
            else:
                assert held.converted_document_id is not None
                documents[path] = held.converted_document_id
                session.pipeline_objects.set_quarantined(held.id, "damaged", "it is damaged", "text 1")

    documents: dict[str, int] = {}
    both = mail_with(("one.txt", paper("One", "Price")), ("two.txt", paper("Two", "Notices")))
    assert_current()
    for step in (
        lambda: firm.write("M-5 Mail/mail.eml", both, "user:anna"),
        lambda: firm.write("M-5 Mail/mail.eml", mail_with(("one.txt", paper("One", "Price")))),
        lambda: firm.grant("M-5 Mail/mail.eml", PARTNER),
        lambda: firm.grant("M-5 Mail/mail.eml", "user:anna", PARTNER),
        lambda: (firm.root / "M-1 Lease/lease.txt").unlink(),
    ):
        step()
        firm.sync()
        assert_current()
        firm.run()
        assert_current()
    quarantined("M-2 Supply/supply.txt", again=False)
    assert_current()
    quarantined("M-2 Supply/supply.txt", again=True)
    assert_current()
    assert roots[-1] == roots[-3] != roots[-2]
    assert len(set(roots)) == 5
