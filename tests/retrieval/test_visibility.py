"""Nothing that a caller may not see leaves a search: random firms and callers against a naive reading of the grants."""

import tempfile
from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from ranked_corpus import NO_FILTERS, Corpus, RankedIndex, class_of

from knowledge_index.benchmark.presets import PresetName, preset
from knowledge_index.config import RetrievalSettings
from knowledge_index.domain.principals import parse_principals
from knowledge_index.retrieval import show_hit
from small_firm import (
    BARRED,
    CORPORATE,
    LEASE_SECRET,
    LEASE_TERMS,
    OUTSIDER,
    PARTNER,
    REAL_ESTATE,
    SUPPLY_TERMS,
    UNMAPPED,
    SmallFirm,
    search,
)

PRINCIPALS = ("user:a", "user:b", "group:c")
GRANTS = st.lists(st.sampled_from([*PRINCIPALS, *(f"!{each}" for each in PRINCIPALS)]), max_size=3, unique=True)
CALLERS = st.lists(st.sampled_from([*PRINCIPALS, "role:d"]), min_size=1, max_size=3, unique=True)
SETTINGS = st.builds(
    RetrievalSettings,
    weight_semantic=st.sampled_from([0.0, 0.3, 1.0]),
    collapse_per_document=st.booleans(),
    max_chunks_per_document=st.integers(1, 3),
    version_status_boost=st.sampled_from([0.0, 0.5]),
)


def may_see(grants: list[str], caller: list[str]) -> bool:
    """A principal of the caller's is allowed and none is denied."""
    return any(each in grants for each in caller) and not any(f"!{each}" in grants for each in caller)


@settings(max_examples=40, deadline=None)
@given(
    grants=st.lists(GRANTS, min_size=1, max_size=6), later=st.lists(GRANTS, max_size=6), caller=CALLERS, knobs=SETTINGS
)
def test_a_search_returns_what_is_visible_at_both_moments_even_from_an_index_that_ignores_the_scope(
    grants: list[list[str]], later: list[list[str]], caller: list[str], knobs: RetrievalSettings
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        corpus = Corpus(Path(folder))
        for number, each in enumerate(grants):
            # Pairs of papers, each with a passage of its own and one that stands everywhere in its class.
            acl = class_of(*each)
            corpus.add(f"M-1/{number}.txt", f"own {number}", f"shared {acl.id}", acl=acl, paper=f"paper {number // 2}")
        rows = {
            row: 1.0 for number, each in enumerate(grants) for row in (f"own {number}", f"shared {class_of(*each).id}")
        }
        index = RankedIndex(text=rows, identifiers={}, vectors=rows)
        scope = corpus.scope(",".join(caller))
        before = {f"M-1/{number}.txt" for number, each in enumerate(grants) if may_see(each, caller)}
        now = dict(enumerate(grants)) | dict(enumerate(later[: len(grants)]))
        for number, each in enumerate(later[: len(grants)]):
            corpus.regrant(f"M-1/{number}.txt", class_of(*each))

        hits = corpus.service(index).search("rent", scope, knobs, NO_FILTERS, 100).hits

        after = {f"M-1/{number}.txt" for number, each in now.items() if may_see(each, caller)}
        assert {hit.path for hit in hits} <= after
        if not later:
            found = {hit.document_key for hit in hits}
            assert found == {f"paper {int(path[4:-4]) // 2}" for path in before}
            if not knobs.collapse_per_document:
                assert {hit.path for hit in hits} == before
        for hit in hits:
            assert hit.passage == corpus.text(hit.path)[hit.start_char : hit.end_char]
        corpus.catalog.close()


PATHS = (SUPPLY_TERMS, LEASE_TERMS, LEASE_SECRET, UNMAPPED)
FIRM_GRANTS = st.lists(
    st.sampled_from([CORPORATE, REAL_ESTATE, PARTNER, f"!{BARRED}", f"!{PARTNER}"]), max_size=3, unique=True
)
FIRM_CALLERS = (CORPORATE, REAL_ESTATE, PARTNER, f"{CORPORATE},{BARRED}", f"{PARTNER},{REAL_ESTATE}", OUTSIDER)


@settings(max_examples=6, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(regrants=st.fixed_dictionaries(dict.fromkeys(PATHS, FIRM_GRANTS)), is_run_before_search=st.booleans())
def test_no_preset_shows_a_caller_more_than_the_grants_do(
    firm: SmallFirm, regrants: dict[str, list[str]], is_run_before_search: bool
) -> None:
    if not firm.home.vector_folder.exists():
        firm.sync_and_run()
    for path, grants in regrants.items():
        firm.grant(path, *grants)
    firm.sync()
    if is_run_before_search:
        firm.run()
    listed = {path: [("!" if access == "deny" else "") + who for who, access in acl] for path, acl in firm.acl.items()}
    with firm.retrieval() as service:
        for caller in FIRM_CALLERS:
            visible = {path for path, grants in listed.items() if may_see(grants, caller.split(","))}
            for name in PresetName:
                hits = search(
                    service,
                    "gearbox secrecy notices prices",
                    caller,
                    settings=preset(name, RetrievalSettings()),
                    limit=100,
                )
                assert {hit.path for hit in hits} <= visible
                if is_run_before_search and name is PresetName.NAIVE_DENSE:
                    assert {hit.path for hit in hits} == visible
                for hit in hits:
                    shown = show_hit(service.catalog, hit.hit_id, parse_principals(caller))
                    assert (shown.occurrence.path, shown.passage) == (hit.path, hit.passage)


def test_a_copy_behind_a_wall_changes_nothing_in_front_of_it(firm: SmallFirm) -> None:
    """Neither a hit nor a title of the real-estate group depends on whether the other group holds the same bytes."""
    firm.sync_and_run()
    settings = RetrievalSettings(weight_lexical=0)
    with_twin = firm.search("secrecy", REAL_ESTATE, settings=settings)
    (firm.root / SUPPLY_TERMS).unlink()
    firm.sync_and_run()
    assert firm.search("secrecy", REAL_ESTATE, settings=settings) == with_twin
