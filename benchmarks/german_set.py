"""Is the right German paper among the first five?

    python benchmarks/german_set.py --home FOLDER [--failures]

The papers of testdata/german-papers are written into FOLDER, indexed there, and asked the questions beside them. Every
second question was held back while settings were chosen; both halves are reported, for ``full``, for ``full`` without
the German analysis or its parts of compounds, and without the model. A question succeeds at 5 when one of its papers is
among the first five that a search shows; its reciprocal rank is of the first such paper. An existing FOLDER is used as
it is, if the papers are the same.
"""

import argparse
import json
import math
import tomllib
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from knowledge_index.access import compile_scope
from knowledge_index.benchmark.presets import PresetName, preset
from knowledge_index.catalog import Catalog, open_catalog
from knowledge_index.config import AppConfig, RetrievalSettings
from knowledge_index.config.home import Home
from knowledge_index.domain.principals import parse_principals
from knowledge_index.domain.progress import SilentProgress
from knowledge_index.domain.search import SearchFilters
from knowledge_index.embed import Embedder, build_embedder
from knowledge_index.pipeline import run_pipeline
from knowledge_index.retrieval import RetrievalService, open_retrieval
from knowledge_index.sources import LOCAL_FS, open_source
from knowledge_index.sources.acl_map import load_acl_map
from knowledge_index.sources.sync import sync_source

CONTENT = Path(__file__).resolve().parent.parent / "testdata" / "german-papers"
READER = "group:german"
DEPTH = 5
_DIGRAPHS = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "Ä": "Ae", "Ö": "Oe", "Ü": "Ue", "ß": "ss"})
_SPELLINGS: dict[str, Callable[[str], str]] = {
    "": str,
    "digraphs": lambda text: text.translate(_DIGRAPHS),
    "nfd": lambda text: unicodedata.normalize("NFD", text),
}


@dataclass(frozen=True)
class Question:
    """A query and parts of the paths of the papers that answer it; ``held_back`` from tuning."""

    kind: str
    query: str
    documents: tuple[str, ...]
    held_back: bool


def read_papers() -> dict[str, str]:
    """The text of each paper, by its path."""
    papers = {}
    for path, values in tomllib.loads((CONTENT / "papers.toml").read_text(encoding="utf-8")).items():
        template = (CONTENT / "templates" / f"{values['template']}.md").read_text(encoding="utf-8")
        papers[path] = _SPELLINGS[values.get("spelling", "")](template.format(**values))
    return papers


def read_questions() -> list[Question]:
    """The questions in their order, every second one held back."""
    content = tomllib.loads((CONTENT / "questions.toml").read_text(encoding="utf-8"))
    asked = [(kind, *each) for kind, questions in content.items() for each in questions]
    return [
        Question(kind, query, (documents,) if isinstance(documents, str) else tuple(documents), place % 2 == 1)
        for place, (kind, query, documents) in enumerate(asked)
    ]


def write_papers(root: Path) -> None:
    """The papers as files, each in the form that its suffix names."""
    import docx

    for path, text in read_papers().items():
        file = root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        if file.suffix == ".docx":
            document = docx.Document()
            for line in filter(None, text.splitlines()):
                document.add_paragraph(line.removeprefix("# "), style="Title" if line.startswith("# ") else None)
            document.save(str(file))
        else:
            file.write_text(text, encoding="utf-8")


def ingest(folder: Path, embedder: Embedder) -> Home:
    """Write, sync and index the papers below ``folder``, as far as that is not done."""
    root, acl_file, home = folder / "papers", folder / "acl.json", Home(folder / "home")
    write_papers(root)
    grants = [{"principal": READER, "access": "allow"}]
    acl_file.write_text(json.dumps(dict.fromkeys(read_papers(), grants)), encoding="utf-8")
    home.create()
    catalog = open_catalog(home.catalog_file)
    try:
        with catalog.transaction() as session:
            if not session.sources.all():
                session.sources.add("german", LOCAL_FS, str(root.resolve()), str(acl_file.resolve()))
            (record,) = session.sources.all()
        sync_source(
            catalog,
            record,
            open_source(record),
            load_acl_map(acl_file),
            installation_key=home.installation_key(),
            rehash=False,
            clock=lambda: datetime(2026, 3, 1, tzinfo=UTC),
            progress=SilentProgress(),
            confirm_deletions=True,
        )
        run_pipeline(home, catalog, AppConfig(), embedder, limit=None, progress=SilentProgress())
    finally:
        catalog.close()
    return home


def ranks(
    service: RetrievalService, catalog: Catalog, settings: RetrievalSettings, questions: Sequence[Question]
) -> list[int | None]:
    """The place of the first right paper for each question, from 1, None where none is among the first five."""
    with catalog.transaction() as session:
        scope = compile_scope(session, parse_principals(READER))
    places: list[int | None] = []
    for each in questions:
        hits = service.search(each.query, scope, settings, SearchFilters(), DEPTH).hits
        right = (place for place, hit in enumerate(hits, start=1) if any(part in hit.path for part in each.documents))
        places.append(next(right, None))
    return places


def success(places: Sequence[int | None]) -> float:
    """The share of the questions that succeed at 5."""
    return sum(place is not None for place in places) / len(places)


def main() -> None:
    """Measure and print one line for each settings and half."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--home", type=Path, required=True)
    parser.add_argument("--failures", action="store_true", help="list the development questions that fail in full")
    arguments = parser.parse_args()
    config = AppConfig()
    embedder = build_embedder(config.embedding)
    home = ingest(arguments.home, embedder)
    questions = read_questions()
    without_model = RetrievalSettings.model_validate(config.retrieval.model_dump() | {"weight_semantic": 0.0})
    names = (PresetName.FULL, PresetName.NO_GERMAN_PARTS, PresetName.NO_GERMAN, PresetName.BM25)
    runs = {str(name): preset(name, config.retrieval) for name in names}
    runs["without the model"] = without_model
    runs["without the model, no_german"] = preset(PresetName.NO_GERMAN, without_model)
    catalog = open_catalog(home.catalog_file)
    try:
        service = open_retrieval(home, catalog, config, embedder)
        for name, settings in runs.items():
            places = ranks(service, catalog, settings, questions)
            for half, held_back in (("development", False), ("held back", True)):
                found = [place for place, each in zip(places, questions, strict=True) if each.held_back == held_back]
                mrr = math.fsum(1 / place for place in found if place) / len(found)
                print(f"{name:30} {half:12} {len(found)} questions  success@5 {success(found):.3f}  MRR@5 {mrr:.3f}")
            if arguments.failures and name == PresetName.FULL:
                for place, each in zip(places, questions, strict=True):
                    if not each.held_back and place != 1:
                        print(f"    {place or '-'}  {each.kind}: {each.query} -> {', '.join(each.documents)}")
    finally:
        catalog.close()


if __name__ == "__main__":
    main()
