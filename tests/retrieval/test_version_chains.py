"""Chains as one caller sees them, and the most binding place of a wording."""

from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from knowledge_index.access import compile_scope
from knowledge_index.catalog.passage_records import Occurrence, RowKind
from knowledge_index.domain.errors import NotVisibleError
from knowledge_index.domain.principals import parse_principals
from knowledge_index.domain.search import OtherVersion
from knowledge_index.domain.versions import PairEvidence, VersionStatus
from knowledge_index.retrieval import VersionChain, list_versions
from knowledge_index.retrieval.versions import BindingPlace, VersionLink, binding_places
from version_estate import EVERYONE, SUBJECTS, VersionEstate, contract

DRAFT, FINAL, EXECUTED, UNKNOWN = (
    VersionStatus.DRAFT,
    VersionStatus.FINAL,
    VersionStatus.EXECUTED,
    VersionStatus.UNKNOWN,
)
ALPHA, BETA, GAMMA = "Alphorn Getriebe GmbH", "Betzdorf Kranbau AG", "Gammertingen Werke SE"
FIRST = contract(ALPHA, BETA)
CHANGED = contract(ALPHA, BETA, changed=["insurance", "late payment"])
PARTNER = "user:partner"


@pytest.fixture
def estate(tmp_path: Path) -> VersionEstate:
    return VersionEstate(tmp_path)


def told(chain: VersionChain) -> list[tuple[str, VersionStatus]]:
    return [(each.path, each.version_status) for each in chain.versions]


def test_a_chain_is_told_by_names_with_the_evidence_for_status_and_order(estate: VersionEstate) -> None:
    estate.add("m/signed/supply.pdf", CHANGED)
    estate.add("m/supply-final 2024-05-01.docx", CHANGED)
    estate.add("m/supply_v2_redline.docx", CHANGED, original_text=FIRST)
    estate.add("m/supply draft.docx", FIRST)
    estate.relate()
    chain = estate.versions("m/supply draft.docx")
    assert [(each.path, each.version_status, each.status_evidence, each.order_evidence) for each in chain.versions] == [
        ("m/supply draft.docx", DRAFT, "name says 'draft'", "status draft"),
        ("m/supply_v2_redline.docx", DRAFT, "name says 'redline'", "status draft, version 2"),
        ("m/supply-final 2024-05-01.docx", FINAL, "name says 'final'", "status final, date 20240501"),
        ("m/signed/supply.pdf", EXECUTED, "folder says 'signed'", "status executed"),
    ]
    assert [each.is_asked_for for each in chain.versions] == [True, False, False, False]
    assert chain.versions[1].links[0] == VersionLink(PairEvidence.REDLINE_OF, "m/supply draft.docx", 1.0)


def test_a_chain_without_any_mark_is_told_by_tracked_changes_and_the_pdf(estate: VersionEstate) -> None:
    estate.add("m/4a1b2c3d4e5f.docx", FIRST)
    estate.add("m/3a1b2c3d4e5f.docx", CHANGED, original_text=FIRST)
    estate.add("m/2a1b2c3d4e5f.docx", CHANGED)
    estate.add("m/1a1b2c3d4e5f.pdf", CHANGED.replace(" ", "\n") + "\nPage 1 of 1")
    estate.relate()
    chain = estate.versions("m/2a1b2c3d4e5f.docx")
    assert told(chain) == [
        ("m/4a1b2c3d4e5f.docx", DRAFT),
        ("m/3a1b2c3d4e5f.docx", DRAFT),
        ("m/2a1b2c3d4e5f.docx", UNKNOWN),
        ("m/1a1b2c3d4e5f.pdf", FINAL),
    ]
    assert [each.status_evidence for each in chain.versions] == [
        "redlined in m/3a1b2c3d4e5f.docx",
        "holds tracked changes",
        "name and folder say nothing",
        "PDF with the wording of m/2a1b2c3d4e5f.docx",
    ]


def test_nothing_that_a_version_behind_a_wall_tells_is_shown(estate: VersionEstate) -> None:
    """The redline makes the first text a draft, and it alone says what came first."""
    estate.add("m/4a1b2c3d4e5f.docx", FIRST)
    estate.add("m/3a1b2c3d4e5f.docx", CHANGED, PARTNER, original_text=FIRST)
    estate.add("m/1a1b2c3d4e5f.pdf", CHANGED, PARTNER)
    estate.relate()
    assert told(estate.versions("m/4a1b2c3d4e5f.docx")) == [("m/4a1b2c3d4e5f.docx", UNKNOWN)]
    assert len(estate.versions("m/4a1b2c3d4e5f.docx", f"{EVERYONE},{PARTNER}").versions) == 3
    hit_id = estate.hit_id("m/1a1b2c3d4e5f.pdf", PARTNER)
    with pytest.raises(NotVisibleError):
        list_versions(estate.catalog, hit_id, parse_principals(EVERYONE))


TEXTS = (
    FIRST,
    CHANGED,
    contract(ALPHA, BETA, without=SUBJECTS[:3]),
    contract(ALPHA, BETA, changed=SUBJECTS[:3]),
    contract(ALPHA, BETA, changed=SUBJECTS[:3], without=SUBJECTS[8:]),
    contract(ALPHA, GAMMA),
    contract("[Name]", "[●]"),
)
NAMES = (
    *("supply.docx", "supply-draft.docx", "supply_v2.docx", "supply (2).docx", "signed/supply.pdf", "supply.pdf"),
    *("1a1b2c3d4e5f.docx", "2a1b2c3d4e5f.docx", "3a1b2c3d4e5f.pdf", "supply alphorn.docx", "supply 2024-05-01.docx"),
)
FILES = st.dictionaries(
    st.sampled_from(NAMES),
    st.tuples(
        st.sampled_from(TEXTS), st.one_of(st.none(), st.sampled_from(TEXTS)), st.sampled_from([EVERYONE, PARTNER])
    ),
    min_size=1,
)


@given(FILES)
@settings(max_examples=8, deadline=None)
def test_what_a_caller_sees_of_versions_is_what_an_estate_of_the_visible_alone_shows(files) -> None:
    _assert_the_visible_alone_decide(files)


@pytest.mark.slow
@given(FILES)
@settings(max_examples=150, deadline=None)
def test_many_estates_show_of_versions_what_the_visible_alone_shows(files) -> None:
    _assert_the_visible_alone_decide(files)


def _assert_the_visible_alone_decide(files) -> None:
    with TemporaryDirectory() as folder:
        estates = VersionEstate(Path(folder) / "all"), VersionEstate(Path(folder) / "visible")
        for name, (text, original, acl) in files.items():
            for estate in estates if acl == EVERYONE else estates[:1]:
                estate.add(f"m/{name}", text, acl, original_text=original)
        seen = []
        for estate in estates:
            estate.relate()
            chains = [estate.versions(f"m/{name}") for name, (_, _, acl) in sorted(files.items()) if acl == EVERYONE]
            titles = {name: estate.titles()[f"m/{name}"] for name, (_, _, acl) in files.items() if acl == EVERYONE}
            seen.append((chains, titles, _places(estate)))
            estate.catalog.close()
    assert seen[0] == seen[1]


def _places(estate: VersionEstate) -> list[tuple[str, str, int, OtherVersion | None]]:
    """Where each visible passage is shown, without numbers that depend on the order of work."""
    with estate.catalog.transaction() as session:
        scope = compile_scope(session, parse_principals(EVERYONE))
        found = sorted(
            session.occurrences.of_rows(session.passages.row_keys(RowKind.PASSAGE), scope),
            key=lambda each: (each.path, each.start_char),
        )
        places = binding_places(session, found, scope, one_place_a_paper=True, fitting=list)
    return [
        (each.occurrence.path, each.occurrence.document_key, each.other_versions, each.most_binding) for each in places
    ]


def passages(estate: VersionEstate, path: str) -> list[Occurrence]:
    with estate.catalog.transaction() as session:
        scope = compile_scope(session, parse_principals(EVERYONE))
        found = session.occurrences.of_rows(session.passages.row_keys(RowKind.PASSAGE), scope)
    return sorted((each for each in found if each.path == path), key=lambda each: each.start_char)


def place_of(estate: VersionEstate, occurrence: Occurrence, *, one_place_a_paper: bool = True) -> BindingPlace:
    with estate.catalog.transaction() as session:
        scope = compile_scope(session, parse_principals(EVERYONE))
        (place,) = binding_places(session, [occurrence], scope, one_place_a_paper=one_place_a_paper, fitting=list)
    return place


def test_a_wording_is_shown_in_the_executed_pdf_that_breaks_its_lines_elsewhere(estate: VersionEstate) -> None:
    estate.add("m/supply-draft.docx", "1. The seller delivers.\n\n2. The buyer pays at once.")
    pdf = "Executed\n\n1. The seller\ndelivers.\n\n2. The buyer pays in May."
    estate.add("m/supply-executed.pdf", pdf)
    estate.relate()
    delivers, pays = passages(estate, "m/supply-draft.docx")

    place = place_of(estate, delivers)
    assert place.occurrence.path == "m/supply-executed.pdf"
    assert pdf[place.occurrence.start_char : place.occurrence.end_char] == "1. The seller\ndelivers."
    assert (place.other_versions, place.most_binding) == (1, None)

    place = place_of(estate, pays)
    assert place.occurrence == pays
    assert (place.other_versions, place.most_binding) == (1, OtherVersion("m/supply-executed.pdf", EXECUTED))

    assert place_of(estate, delivers, one_place_a_paper=False).occurrence == delivers


def test_two_passages_never_move_to_one_place(estate: VersionEstate) -> None:
    estate.add("m/supply-draft.docx", "The seller delivers.\n\nThe  seller  delivers.")
    estate.add("m/supply-final.docx", "The seller\ndelivers.")
    estate.relate()
    drafts = passages(estate, "m/supply-draft.docx")
    with estate.catalog.transaction() as session:
        scope = compile_scope(session, parse_principals(EVERYONE))
        places = binding_places(session, drafts, scope, one_place_a_paper=True, fitting=list)
    assert [each.occurrence.path for each in places] == ["m/supply-final.docx", "m/supply-draft.docx"]
