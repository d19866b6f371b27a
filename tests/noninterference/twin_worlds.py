"""Pairs of estates that agree on what one caller may see, and differ in whatever lies or lay behind walls."""

import os
import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import date
from pathlib import Path
from typing import Any
from unittest import mock

from knowledge_index.access import compile_scope
from knowledge_index.benchmark.presets import PresetName, preset
from knowledge_index.catalog import database
from knowledge_index.config import AppConfig, RetrievalSettings
from knowledge_index.domain.errors import KnowledgeIndexError
from knowledge_index.domain.languages import Language
from knowledge_index.domain.principals import parse_principals
from knowledge_index.domain.search import SearchFilters
from knowledge_index.domain.versions import VersionStatus
from knowledge_index.retrieval import RetrievalService, open_retrieval, show_hit
from small_firm import SmallFirm

CALLER = "user:caller,group:team"
OUTSIDER = "user:outsider"
# Sees whatever the caller does not: only used to learn ids that the caller must not be told anything by.
INSIDER = "user:insider"
VISIBLE_GRANTS = (("user:caller", INSIDER), ("group:team", "!user:barred"), ("user:caller", "group:team", "group:x"))
HIDDEN_GRANTS = (
    (INSIDER,),
    ("group:other", INSIDER),
    (INSIDER, "user:caller", "!group:team"),
    ("group:team", INSIDER, "!user:caller"),
)
MATTERS = ("M-2026-0001 Supply", "M-2026-0002 Lease", "M-2026-0003 Sale")
WORDS = (
    "rent",
    "seller",
    "crane",
    "gearbox",
    "liability",
    "notice",
    "quay",
    "harbour",
    "price",
    "secret",
    "Miete",
    "lot",
)
# Each opens a few papers, so that some are named and others say the same under no name.
PARTIES = ("Nordkai", "Walfisch", "Brandung", "Ostwind")
REFERENCES = ("12 O 345/25", "HRB 40711", "EUR 48,250.00", "EUR 12.400,00", "30 September 2026")


@dataclass(frozen=True)
class Paper:
    """A file and who may see it."""

    path: str
    text: str
    grants: tuple[str, ...]


@dataclass(frozen=True)
class Request:
    """One request: a search, a show or a status, by one caller."""

    kind: str
    caller: str
    text: str = ""
    settings: RetrievalSettings = field(default_factory=RetrievalSettings)
    matters: frozenset[str] = frozenset()
    limit: int = 10
    filters: SearchFilters = field(default_factory=SearchFilters)


@dataclass(frozen=True)
class World:
    """One estate, indexed, with its service open."""

    firm: SmallFirm
    service: RetrievalService


Answer = Callable[[World, Request], bytes]


def answer(world: World, request: Request) -> bytes:
    """What the caller gets, to the byte: the result, or the error's text."""
    try:
        return repr(_answer(world, request)).encode()
    except KnowledgeIndexError as error:
        return f"{type(error).__name__}: {error}".encode()


def _answer(world: World, request: Request) -> object:
    principals = parse_principals(request.caller)
    catalog = world.service.catalog
    if request.kind == "show":
        shown = show_hit(catalog, request.text, principals)
        # The object's number stays inside; what "ki show" prints is everything else.
        each = shown.occurrence
        public = [value for name, value in each._asdict().items() if name not in ("object_id", "row_key")]
        return public, shown.before, shown.passage, shown.after
    with catalog.transaction() as session:
        scope = compile_scope(session, principals)
        if request.kind == "status":
            return session.status.visible(scope)
    filters = replace(request.filters, matter_refs=request.matters)
    return world.service.search(request.text, scope, request.settings, filters, request.limit)


def differences(one: World, other: World, requests: list[Request], ask: Answer = answer) -> list[Request]:
    """The requests whose answers differ."""
    return [request for request in requests if ask(one, request) != ask(other, request)]


@contextmanager
def twin_worlds(folder: Path, seed: int) -> Iterator[tuple[World, World, list[str]]]:
    """An estate of visible papers alone, the same with a hidden history, and ids of what is hidden in the second."""
    draw = random.Random(seed)
    visible = [_paper(draw, f"paper {number}", draw.choice(VISIBLE_GRANTS)) for number in range(draw.randint(2, 6))]
    with nothing_flushed():
        plain = SmallFirm.in_folder(folder / "plain")
        for each in visible:
            plain.write(each.path, each.text, *each.grants)
        plain.sync_and_run()
        eventful = SmallFirm.in_folder(folder / "eventful")
        eventful.home.key_file.write_bytes(plain.home.key_file.read_bytes())
        _live_through(eventful, visible, draw)
        with _opened(plain) as one, _opened(eventful) as other:
            yield one, other, _hidden_ids(other)


@contextmanager
def nothing_flushed() -> Iterator[None]:
    """Flushing to disk changes no answer and would take most of the time."""
    configure = database._configure

    def without_flush(connection: Any, record: Any) -> None:
        configure(connection, record)
        connection.execute("PRAGMA synchronous=OFF")

    with (
        mock.patch.object(os, "fsync", return_value=None),
        mock.patch.object(database, "_configure", without_flush),
    ):
        yield


def _live_through(firm: SmallFirm, visible: list[Paper], draw: random.Random) -> None:
    """Hidden inserts, changes, deletes, wall moves and revocations, around and upon the visible papers' arrival."""
    late = draw.sample(visible, draw.randint(0, len(visible)))
    for each in draw.sample(visible, len(visible)):
        if each in late and draw.random() < 0.5:
            # It lay behind a wall, or said something else, before it became what it is.
            firm.write(each.path, draw.choice([each.text, text_of_a_paper(draw)]), *draw.choice(HIDDEN_GRANTS))
        elif each not in late:
            firm.write(each.path, each.text, *each.grants)
    hidden = [_paper(draw, f"other {number}", draw.choice(HIDDEN_GRANTS)) for number in range(draw.randint(1, 8))]
    # Versions of visible papers and copies of their bytes, behind a wall.
    hidden += [
        Paper(each.path.replace(".txt", "_final.txt"), text_of_a_paper(draw), draw.choice(HIDDEN_GRANTS))
        for each in visible
        if draw.random() < 0.4
    ]
    hidden += [
        Paper(each.path.replace(".txt", " copy.txt"), each.text, draw.choice(HIDDEN_GRANTS))
        for each in visible
        if draw.random() < 0.4
    ]
    # Papers that the caller could see once: their statistics and rows must not outlive that.
    once_visible = [_paper(draw, f"once {number}", draw.choice(VISIBLE_GRANTS)) for number in range(draw.randint(1, 4))]
    for each in (*hidden, *once_visible):
        firm.write(each.path, each.text, *each.grants)
    firm.sync_and_run()
    for each in late:
        firm.write(each.path, each.text, *each.grants)
    for each in draw.sample(hidden, len(hidden) // 2):
        if draw.random() < 0.5:
            (firm.root / each.path).unlink()
        else:
            firm.write(each.path, text_of_a_paper(draw), *draw.choice(HIDDEN_GRANTS))
    firm.sync()
    if draw.random() < 0.5:
        firm.run(limit=1)
    firm.run()
    for each in once_visible:
        if draw.random() < 0.5:
            (firm.root / each.path).unlink()
        else:
            firm.grant(each.path, *draw.choice(HIDDEN_GRANTS))
    firm.sync()
    # Half of the time the indexes still hold what the catalog has taken away.
    if draw.random() < 0.5:
        firm.run()


def _paper(draw: random.Random, name: str, grants: tuple[str, ...]) -> Paper:
    version = draw.choice(["", "_draft", "_v2", "_executed", "_draft_2026-02-10", "_2026-03-05"])
    return Paper(f"{draw.choice(MATTERS)}/{name}{version}.txt", text_of_a_paper(draw), grants)


def text_of_a_paper(draw: random.Random) -> str:
    opening = draw.choices(WORDS, k=draw.randint(3, 9))
    if draw.random() < 0.6:
        opening.append(draw.choice(PARTIES))
    lines = [f"{' '.join(opening)}."]
    for number in range(1, draw.randint(2, 5)):
        lines.append(f"{number}. {draw.choice(WORDS).capitalize()}")
        lines.append(" ".join([*draw.choices(WORDS, k=draw.randint(20, 60)), draw.choice(REFERENCES)]) + ".")
    return "\n".join(lines) + "\n"


@contextmanager
def _opened(firm: SmallFirm) -> Iterator[World]:
    with firm.catalog() as catalog:
        yield World(firm, open_retrieval(firm.home, catalog, AppConfig(), firm.embedder))


def _hidden_ids(world: World) -> list[str]:
    with world.service.catalog.transaction() as session:
        scope = compile_scope(session, parse_principals(INSIDER))
    settings = RetrievalSettings(collapse_per_document=False)
    hits = world.service.search(" ".join(WORDS), scope, settings, SearchFilters(), 60).hits
    mine = _answer(world, Request("search", CALLER, " ".join(WORDS), settings, limit=200))
    seen = {hit.hit_id for hit in mine.hits}  # type: ignore[attr-defined]
    return [hit.hit_id for hit in hits if hit.hit_id not in seen]


def requests_for(world: World, hidden_ids: list[str], draw: random.Random, count: int) -> list[Request]:
    """Requests of all kinds; ids that are shown come from the caller's own results and from behind the wall."""
    own = _answer(world, Request("search", CALLER, " ".join(WORDS), RetrievalSettings(collapse_per_document=False)))
    ids = [hit.hit_id for hit in own.hits]  # type: ignore[attr-defined]
    made = [Request("status", CALLER), Request("status", OUTSIDER)]
    made += [Request("show", CALLER, each) for each in draw.sample(hidden_ids, min(8, len(hidden_ids)))]
    made += [Request("show", CALLER, each) for each in (*ids[:4], "nonsense", f"{'0' * 32}.00000000.0-10")]
    made += [Request("show", OUTSIDER, each) for each in ids[:2]]
    made.append(Request("search", CALLER, " "))
    while len(made) < count:
        words = draw.choices([*WORDS, *REFERENCES, "unheard"], k=draw.choice([1, 1, 2, 3, 6]))
        if draw.random() < 0.5:
            # Names of papers on either side of the wall, and of none.
            name = draw.choice([*PARTIES, "paper 0", "paper 1", "other 0", "once 1", "Supply", "Leviathan"])
            words = [name, *words] if draw.random() < 0.5 else [*words, "under", "the", name]
        settings = draw.choice([preset(name, RetrievalSettings()) for name in PresetName])
        settings = settings.model_copy(
            update={
                "collapse_per_document": draw.random() < 0.6,
                "candidate_pool": draw.choice([1, 3, 200]),
                "max_chunks_per_document": draw.choice([1, 3]),
            }
        )
        matters = frozenset(draw.sample(["M-2026-0001", "M-2026-0002", "M-2026-0003"], draw.choice([0, 0, 0, 1, 2])))
        caller = CALLER if draw.random() < 0.95 else OUTSIDER
        made.append(Request("search", caller, " ".join(words), settings, matters, draw.choice([1, 3, 10, 50])))
        made[-1] = replace(made[-1], filters=_filters(draw))
    return made[:count]


def _filters(draw: random.Random) -> SearchFilters:
    days = [date(2026, 1, 10), date(2026, 2, 10), date(2026, 2, 20), date(2026, 3, 5)]
    kinds = {
        "version_statuses": lambda: frozenset(draw.sample(list(VersionStatus), draw.choice([1, 2]))),
        "as_of": lambda: draw.choice(days),
        "date_from": lambda: draw.choice(days),
        "path_prefix": lambda: draw.choice([*MATTERS, "M-2026-0001 Supply/paper"]),
        "languages": lambda: frozenset({Language.UNKNOWN}),
    }
    wanted = draw.sample(sorted(kinds), draw.choice([0, 0, 1, 1, 2]))
    return replace(SearchFilters(), **{name: kinds[name]() for name in wanted})
