"""A firm of two practice groups and a dozen small files on disk, with every store real and a made-up embedder."""

import hashlib
import itertools
import json
import os
import re
import shutil
import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path

import docx
import numpy as np
import openpyxl

from knowledge_index.access import compile_scope
from knowledge_index.catalog import Catalog, open_catalog
from knowledge_index.catalog.passage_records import RowKind
from knowledge_index.config import AppConfig, RetrievalSettings
from knowledge_index.config.home import Home
from knowledge_index.domain.principals import parse_principals
from knowledge_index.domain.progress import SilentProgress
from knowledge_index.domain.search import SearchFilters, SearchHit
from knowledge_index.embed import EmbeddingSignature, Matrix, ModelFile
from knowledge_index.index import open_lexical_index, open_profile_index, open_vector_index
from knowledge_index.pipeline import RunReport, run_pipeline
from knowledge_index.retrieval import RetrievalService, open_retrieval
from knowledge_index.sources import LOCAL_FS, open_source
from knowledge_index.sources.acl_map import load_acl_map
from knowledge_index.sources.sync import SyncReport, sync_source

SUPPLY = "Mandate/M-2026-0001 Supply Nordkai/contract"
LEASE = "Mandate/M-2026-0002 Lease Werk Süd/contract"
SUPPLY_DRAFT = f"{SUPPLY}/Supply Agreement_draft.docx"
SUPPLY_REDLINE = f"{SUPPLY}/Supply Agreement_redline.docx"
SUPPLY_FINAL = f"{SUPPLY}/Supply Agreement_final.docx"
SUPPLY_MAIL = f"{SUPPLY}/Cover mail.eml"
SUPPLY_PRICES = f"{SUPPLY}/Price list.xlsx"
SUPPLY_TERMS = f"{SUPPLY}/General terms.txt"
LEASE_DRAFT = f"{LEASE}/Mietvertrag_Entwurf.txt"
LEASE_EXECUTED = f"{LEASE}/Mietvertrag_executed.txt"
LEASE_NOTE = f"{LEASE}/Übergabe.txt"
LEASE_TERMS = f"{LEASE}/General terms.txt"
LEASE_SECRET = f"{LEASE}/Board memo.txt"
UNMAPPED = "Posteingang/Stray note.txt"

# 10 January 2026, at the beginning of the day in UTC.
_FILES_OF_S = 1_768_003_200

CORPORATE = "group:corporate"
REAL_ESTATE = "group:real-estate"
PARTNER = "user:partner"
BARRED = "user:barred"
OUTSIDER = "user:outsider"

CLAUSES = {
    "Supply": "The seller delivers crane gearboxes to the buyer in monthly lots. Each lot is announced ten days ahead, "
    "and the buyer inspects it within five working days of its arrival at the quay, failing which it counts as taken.",
    "Price": "The price of a gearbox is EUR 48,250.00 net of value added tax. Invoices fall due after thirty days. A "
    "late payment bears interest at eight percentage points above the base rate, without any reminder being needed.",
    "Liability": "Either party is liable without limit for intent and gross negligence. In all other cases liability "
    "ends at the price of the lot concerned, and loss of profit is not made good under any head of claim whatsoever.",
    "Notices": "Notices under this agreement are valid in text form only. They are sent to the addresses given on the "
    "first page, and a change of address binds the other party from the third working day after it was told of it.",
    "Miete": "Die Miete für die Halle beträgt monatlich 12.400,00 EUR zuzüglich Umsatzsteuer. Sie ist im Voraus, "
    "spätestens am dritten Werktag eines Monats, auf das Konto der Vermieterin zu zahlen, ohne dass es einer Mahnung "
    "bedarf.",
    "Nebenkosten": "Die Betriebskosten trägt die Mieterin nach dem Verhältnis der Flächen. Über die Vorauszahlungen "
    "wird jährlich bis zum 30. September abgerechnet; ein Guthaben wird mit der nächsten Miete verrechnet.",
    "Rückgabe": "Bei Ende des Mietverhältnisses gibt die Mieterin die Halle geräumt und besenrein zurück. Einbauten "
    "entfernt sie auf eigene Kosten, soweit die Vermieterin nicht ihre Übernahme gegen angemessenes Entgelt verlangt.",
    "Secrecy": "The parties keep the content of this paper to themselves and use it for its purpose alone. The duty "
    "outlives the end of their dealings by three years and binds every adviser whom one of them has let into it.",
}


def paper(title: str, *clauses: str, changed: Mapping[str, str] | None = None) -> str:
    """A contract's text: a preamble, then numbered clauses; ``changed`` replaces clauses' wording."""
    wording = CLAUSES | dict(changed or {})
    lines = [f"{title} between the parties named below, who agree on what follows and sign it in two originals."]
    for number, name in enumerate(clauses, start=1):
        lines += [f"{number}. {name}", wording[name]]
    return "\n".join(lines) + "\n"


@dataclass
class WordEmbedder:
    """Keeps ``Embedder``: 16 dimensions, the sum of one direction a word; counts what it is asked for."""

    model: str = "words"
    asked: list[str] = field(default_factory=list)

    @property
    def signature(self) -> EmbeddingSignature:
        return EmbeddingSignature(self.model, "0" * 64, 16, "sum", 512)

    def model_files(self) -> tuple[ModelFile, ...]:
        return (ModelFile("model.safetensors", hashlib.sha256(self.model.encode()).hexdigest(), len(self.model)),)

    def embed(self, texts: Sequence[str], on_done: Callable[[int], None] | None = None) -> Matrix:
        matrix = np.empty((len(texts), 16), dtype=np.float32)
        for place, text in enumerate(texts):
            self.asked.append(text)
            words = re.findall(r"\w+", text.casefold()) or [text]
            total = sum((_direction(self.model, word) for word in words), np.zeros(16))
            matrix[place] = total / np.linalg.norm(total)
            if on_done:
                on_done(1)
        return matrix


def _direction(model: str, word: str) -> np.ndarray:
    digest = hashlib.sha256(f"{model} {word}".encode("utf-8", "surrogatepass")).digest()
    return np.frombuffer(digest[:16], dtype=np.uint8).astype(np.float64) - 127.5


@dataclass(frozen=True)
class Stores:
    """What the three stores hold, without numbers that depend on the order of work.

    ``objects`` maps a current path to what it says of the object, ``passages`` to (row key, start, end) in order,
    ``profiles`` to the row key of its document's profile.
    """

    objects: dict[str, tuple[object, ...]]
    passages: dict[str, list[tuple[str, int, int]]]
    profiles: dict[str, str]
    catalog_keys: set[str]
    catalog_profile_keys: set[str]
    catalog_vector_keys: set[str]
    profile_keys: set[str]
    lexical_keys: set[str]
    vector_keys: set[str]
    is_run_open: bool

    def assert_agreed(self) -> None:
        """The catalog's rows are those that stand in an object, and each index holds exactly them."""
        assert self.catalog_keys == {key for held in self.passages.values() for key, _, _ in held}
        assert self.lexical_keys == self.catalog_keys
        assert self.catalog_profile_keys == set(self.profiles.values())
        assert self.profile_keys == self.catalog_profile_keys
        assert self.vector_keys == self.catalog_vector_keys >= self.catalog_keys
        assert self.profiles.keys() == self.passages.keys()
        assert not self.is_run_open


@dataclass
class SmallFirm:
    """One source, one home; ``acl`` is path -> [(principal, access)] and is written anew at each sync."""

    folder: Path
    home: Home
    embedder: WordEmbedder = field(default_factory=WordEmbedder)
    acl: dict[str, list[tuple[str, str]]] = field(default_factory=dict)
    writes: Iterator[int] = field(default_factory=itertools.count)

    @classmethod
    def in_folder(cls, folder: Path) -> "SmallFirm":
        """An empty firm: a folder without files and a home with the source in its catalog."""
        (folder / "dms").mkdir(parents=True)
        home = Home(folder / "home")
        home.create()
        firm = cls(folder, home)
        with firm.catalog() as catalog, catalog.transaction() as session:
            session.sources.add("dms", LOCAL_FS, str(firm.root), str(firm.acl_file))
        return firm

    @property
    def root(self) -> Path:
        return self.folder / "dms"

    @property
    def acl_file(self) -> Path:
        return self.folder / "acl.json"

    def with_home_copy(self, folder: Path) -> "SmallFirm":
        """The same estate under a copy of the home, its key included."""
        shutil.copytree(self.home.folder, folder)
        return replace(self, home=Home(folder))

    def write(self, path: str, content: str | bytes, *grants: str) -> None:
        """Write a file by its suffix; ``grants`` are principals, a denied one led by ``!``; none keeps those it has."""
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(content, bytes):
            file.write_bytes(content)
        elif file.suffix == ".docx":
            document = docx.Document()
            for line in content.splitlines():
                document.add_paragraph(line)
            document.save(str(file))
        elif file.suffix == ".xlsx":
            book = openpyxl.Workbook()
            for line in content.splitlines():
                book.active.append(line.split("\t"))
            book.save(file)
        else:
            file.write_text(content, encoding="utf-8")
        # A day that no test's own day can be, and another moment for each write, so that a sync sees it.
        moment_ns = (_FILES_OF_S + next(self.writes)) * 1_000_000_000
        os.utime(file, ns=(moment_ns, moment_ns))
        if grants:
            self.grant(path, *grants)

    def grant(self, path: str, *grants: str) -> None:
        self.acl[path] = [(each.removeprefix("!"), "deny" if each.startswith("!") else "allow") for each in grants]

    @contextmanager
    def catalog(self) -> Iterator[Catalog]:
        catalog = open_catalog(self.home.catalog_file)
        try:
            yield catalog
        finally:
            catalog.close()

    def sync(self, *, rehash: bool = False, confirm_deletions: bool = False) -> SyncReport:
        content = {
            path: [{"principal": principal, "access": access} for principal, access in grants]
            for path, grants in self.acl.items()
        }
        self.acl_file.write_text(json.dumps(content), encoding="utf-8")
        with self.catalog() as catalog:
            with catalog.transaction() as session:
                (record,) = session.sources.all()
            return sync_source(
                catalog,
                record,
                open_source(record),
                load_acl_map(self.acl_file),
                installation_key=self.home.installation_key(),
                rehash=rehash,
                clock=lambda: datetime(2026, 3, 1, tzinfo=UTC),
                progress=SilentProgress(),
                confirm_deletions=confirm_deletions,
            )

    def run(self, config: AppConfig | None = None, *, limit: int | None = None) -> RunReport:
        with self.catalog() as catalog:
            return run_pipeline(
                self.home, catalog, config or AppConfig(), self.embedder, limit=limit, progress=SilentProgress()
            )

    def sync_and_run(self) -> RunReport:
        self.sync()
        return self.run()

    @contextmanager
    def retrieval(self) -> Iterator[RetrievalService]:
        with self.catalog() as catalog:
            yield open_retrieval(self.home, catalog, AppConfig(), self.embedder)

    def search(
        self,
        query: str,
        caller: str,
        *,
        limit: int = 20,
        settings: RetrievalSettings | None = None,
        matters: Sequence[str] = (),
    ) -> tuple[SearchHit, ...]:
        with self.retrieval() as service:
            return search(service, query, caller, limit=limit, settings=settings, matters=matters)

    def stores(self) -> Stores:
        with self.catalog() as catalog, catalog.transaction() as session:
            current = session.pipeline_objects.current()
            keys = session.passages.row_keys(RowKind.PASSAGE)
            profile_keys = session.passages.row_keys(RowKind.PROFILE)
            window_keys = session.passages.vector_keys()
            is_open = session.meta.index_write_open()
        return Stores(
            objects={
                each.path: (
                    each.blob_sha256,
                    each.acl_class_id,
                    each.converter_name,
                    each.text_sha256,
                    each.relation,
                    each.quarantine_class,
                    each.index_fingerprint,
                )
                for each in current
            },
            passages=self._passages(),
            profiles=self._profiles(),
            catalog_keys=keys,
            catalog_profile_keys=profile_keys,
            catalog_vector_keys=window_keys,
            profile_keys=open_profile_index(self.home.profile_folder).row_keys(),
            lexical_keys=open_lexical_index(self.home.lexical_folder).row_keys(),
            vector_keys=open_vector_index(self.home.vector_folder, self.embedder.signature).row_keys(),
            is_run_open=is_open,
        )

    def _passages(self) -> dict[str, list[tuple[str, int, int]]]:
        found: dict[str, list[tuple[str, int, int]]] = {}
        with closing(sqlite3.connect(self.home.catalog_file)) as connection:
            for path, *passage in connection.execute(
                "SELECT path, row_key, start_char, end_char FROM chunk JOIN source_object ON id = object_id "
                "WHERE ordinal >= 0 ORDER BY path, ordinal"
            ):
                found.setdefault(path, []).append(tuple(passage))
        return found

    def _profiles(self) -> dict[str, str]:
        with closing(sqlite3.connect(self.home.catalog_file)) as connection:
            return dict(
                connection.execute(
                    "SELECT path, row_key FROM chunk JOIN source_object ON id = object_id "
                    "WHERE ordinal < 0 ORDER BY path"
                ).fetchall()
            )

    def index_files(self) -> dict[str, tuple[int, int]]:
        """Size and time of every file of the indexes and the vector cache."""
        return {
            str(file.relative_to(self.home.folder)): (file.stat().st_size, file.stat().st_mtime_ns)
            for name in ("index", "cache")
            for file in sorted((self.home.folder / name).rglob("*"))
            if file.is_file()
        }


def search(
    service: RetrievalService,
    query: str,
    caller: str,
    *,
    limit: int = 20,
    settings: RetrievalSettings | None = None,
    matters: Sequence[str] = (),
) -> tuple[SearchHit, ...]:
    """The hits of one caller, whose scope is compiled now."""
    with service.catalog.transaction() as session:
        scope = compile_scope(session, parse_principals(caller))
    filters = SearchFilters(frozenset(matters))
    return service.search(query, scope, settings or AppConfig().retrieval, filters, limit).hits


def write_estate(firm: SmallFirm) -> None:
    """Twelve papers: two chains, twins on both sides of a wall, one paper that nobody was granted."""
    supply = ("Supply", "Price", "Liability", "Notices")
    milder = {"Liability": CLAUSES["Liability"].replace("the price of the lot concerned", "twice the price of the lot")}
    corporate = (CORPORATE, PARTNER, f"!{BARRED}")
    real_estate = (REAL_ESTATE, PARTNER)
    firm.write(SUPPLY_DRAFT, paper("Supply Agreement", *supply), *corporate)
    firm.write(SUPPLY_REDLINE, paper("Supply Agreement", *supply, changed=milder), *corporate)
    firm.write(SUPPLY_FINAL, paper("Supply Agreement", *supply, "Secrecy", changed=milder), *corporate)
    mail = (
        "From: a.muster@nordkai.example\nTo: b.beispiel@kran.example\nDate: Mon, 2 Feb 2026 09:00:00 +0000\n"
        "Subject: Supply agreement, signed copies\nMIME-Version: 1.0\nContent-Type: text/plain; charset=utf-8\n\n"
        "Please find the signed copies of the gearbox supply agreement, our reference 12 O 345/25, enclosed.\n"
    )
    firm.write(SUPPLY_MAIL, mail.encode(), *corporate)
    firm.write(SUPPLY_PRICES, "Part\tPrice\nGearbox KG-7\t48,250.00 EUR\nBearing LX-12\t1,180.00 EUR", *corporate)
    terms = paper("General terms", "Secrecy", "Notices")
    firm.write(SUPPLY_TERMS, terms, *corporate)
    rent = {"Miete": CLAUSES["Miete"].replace("12.400,00", "11.900,00")}
    firm.write(LEASE_DRAFT, paper("Mietvertrag", "Miete", "Nebenkosten", "Rückgabe"), *real_estate)
    firm.write(LEASE_EXECUTED, paper("Mietvertrag", "Miete", "Nebenkosten", "Rückgabe", changed=rent), *real_estate)
    firm.write(
        LEASE_NOTE, "Die Halle wurde am 1. März 2026 besenrein übergeben, sechs Schlüssel, HRB 40711.\n", *real_estate
    )
    firm.write(LEASE_TERMS, terms, *real_estate)
    firm.write(LEASE_SECRET, "The board will sell the crane gearbox plant; price and liability are open.\n", PARTNER)
    firm.write(UNMAPPED, "A stray note on gearbox prices that nobody has been granted.\n")
