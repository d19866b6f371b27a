"""Scores a library's answers with a registered model, and writes what a threshold comes to."""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from knowledge_index.benchmark.models.answer_library import AnswerLibrary, AskedQuestion
from knowledge_index.benchmark.models.candidates import CANDIDATES
from knowledge_index.benchmark.models.dataset import Split
from knowledge_index.benchmark.models.forms import forms_of
from knowledge_index.benchmark.models.freezing import Ledger, Look
from knowledge_index.benchmark.models.grid import GridWork
from knowledge_index.benchmark.models.threshold import (
    ThresholdFigures,
    TopAnswer,
    choose_threshold,
    curve_of,
    figures_at,
    outcome_of,
)
from knowledge_index.benchmark.models.threshold_picture import curve_picture
from knowledge_index.benchmark.spans.markdown import cell, table
from knowledge_index.domain.errors import ModelError, UsageError
from knowledge_index.embed import CachedEmbedder
from knowledge_index.embed.registered import PromptedEmbedder, open_embedder, open_reranker
from knowledge_index.embed.registry import AskedModel, embedder_card, reranker_card
from knowledge_index.evidence.canonical import canonical_sha256

# Cosines of different machines differ in their last bits; a threshold should not.
_DECIMALS = 6


@dataclass(frozen=True)
class ThresholdResult:
    """A threshold that was chosen on dev, and what it comes to on both splits."""

    library: AnswerLibrary
    models: str
    target: float
    seed: int
    dev: ThresholdFigures
    test: ThresholdFigures
    dev_curve: Sequence[ThresholdFigures]
    test_curve: Sequence[ThresholdFigures]
    looks: tuple[Look, ...]


def run_threshold(
    library: AnswerLibrary,
    embedder: AskedModel,
    reranker: AskedModel | None,
    target: float,
    seed: int,
    work: GridWork,
    ledger: Ledger,
) -> ThresholdResult:
    """Score all questions, choose on dev, measure on test; a look at test with anything new goes into the ledger.

    The best answer is that of the highest cosine or, with a reranker, of its highest score among the nearest 40.

    Raises:
        ModelError: a model cannot be had.
        UsageError: a model is not registered, or a split has no questions.
    """
    forms = forms_of([embedder], [reranker] if reranker else [], work.config, "answer")
    for form in (*forms.embedders.values(), *forms.rerankers.values()):
        if form.not_run:
            raise ModelError(form.not_run)
    splits = {split: library.questions(split, seed) for split in Split}
    if not all(splits.values()):
        raise UsageError(f"the library '{library.name}' is too small to be split")
    tops = {split: top_answers(library, questions, embedder, reranker, work) for split, questions in splits.items()}
    threshold = choose_threshold(tops[Split.DEV], target)
    models = embedder.name if reranker is None else f"{embedder.name}+{reranker.name}"
    parts = [list(each.parts) for each in (*forms.embedders.values(), *forms.rerankers.values())]
    form_sha256 = canonical_sha256({"models": parts, "target": str(target), "seed": seed})
    name = f"answers:{library.name}"
    ledger.note_look(name, models, form_sha256, library.sha256)
    dev, test = tops[Split.DEV], tops[Split.TEST]
    return ThresholdResult(
        library,
        models,
        target,
        seed,
        figures_at(dev, threshold),
        figures_at(test, threshold),
        curve_of(dev),
        curve_of(test),
        ledger.looks(name),
    )


def top_answers(
    library: AnswerLibrary,
    questions: Sequence[AskedQuestion],
    asked: AskedModel,
    asked_reranker: AskedModel | None,
    work: GridWork,
) -> list[TopAnswer]:
    """The best answer to each question; of equal ones the earlier, which is the current one within a topic."""
    card = embedder_card(asked.name)
    cached = CachedEmbedder(open_embedder(card, asked, work.config.models, work.config.embedding.threads), work.vectors)
    answers = PromptedEmbedder(cached, card.document_prompt).embed([each.text for each in library.answers])
    vectors = PromptedEmbedder(cached, card.query_prompt).embed([each.text for each in questions])
    reranker = None
    if asked_reranker is not None:
        reranker = open_reranker(reranker_card(asked_reranker.name), asked_reranker, work.config.models)
    tops = []
    for question, vector in zip(questions, vectors, strict=True):
        scores = np.round((answers @ vector).astype(np.float64), _DECIMALS)
        order = np.lexsort((np.arange(len(scores)), -scores))
        place, score = int(order[0]), float(scores[order[0]])
        if reranker is not None:
            head = sorted(int(each) for each in order[:CANDIDATES])
            judged = reranker.score(question.text, [library.answers[each].text for each in head])
            best = max(range(len(head)), key=lambda each: (round(judged[each], _DECIMALS), -head[each]))
            place, score = head[best], round(judged[best], _DECIMALS)
        tops.append(TopAnswer(question, place, score, outcome_of(question, library, place)))
    return tops


def threshold_json(result: ThresholdResult) -> dict[str, Any]:
    """The result as JSON has it."""
    return {
        "library": result.library.name,
        "library_sha256": result.library.sha256,
        "answers": len(result.library.answers),
        "superseded": sum(each.is_superseded for each in result.library.answers),
        "models": result.models,
        "target_precision": result.target,
        "seed": result.seed,
        "dev": asdict(result.dev),
        "test": asdict(result.test),
        "dev_curve": [asdict(each) for each in result.dev_curve],
        "test_curve": [asdict(each) for each in result.test_curve],
        "looks": [look.as_json() for look in result.looks],
    }


def threshold_report(result: ThresholdResult) -> list[str]:
    """The report's lines, in Markdown."""

    def row(name: str, each: ThresholdFigures) -> tuple[str, ...]:
        interval = "" if each.precision_low is None else f"{each.precision_low:.3f} to {each.precision_high:.3f}"
        precision = "nothing filled" if each.precision is None else f"{each.precision:.3f}"
        shares = (f"{each.coverage:.3f}", f"{each.abstention:.3f}")
        counts = (each.right, each.stale, each.wrong, each.withheld)
        return (name, str(each.questions), precision, interval, *shares, *map(str, counts))

    library = result.library
    chosen = result.dev.threshold
    superseded = sum(each.is_superseded for each in library.answers)
    heads = ("split", "questions", "precision", "95 % interval", "coverage", "abstention",
             "right", "stale", "wrong", "right withheld")  # fmt: skip
    threshold = (
        f"Threshold {chosen:.6f}: the lowest at which precision on dev is {result.target:g} or more."
        if chosen is not None
        else f"No threshold reaches a precision of {result.target:g} on dev: nothing is filled in."
    )
    looks = [
        f"{number}. {look.started_at}: `{cell(look.configuration)}`"
        for number, look in enumerate(result.looks, start=1)
    ]
    return [
        f"# Filling in answers of {cell(library.name)} with {result.models}",
        "",
        f"{len(library.answers)} answers, {superseded} of them superseded. {threshold}",
        "",
        *table(
            heads,
            [
                row("dev", result.dev),
                row("test", result.test),
                row("dev, all filled in", result.dev_curve[-1]),
                row("test, all filled in", result.test_curve[-1]),
            ],
        ),
        "![precision over coverage](curve.svg)",
        "",
        "Looks at the test questions, each with another model, target, seed or library:",
        "",
        *looks,
    ]


def write_threshold(result: ThresholdResult, folder: Path) -> None:
    """Write ``report.md``, ``threshold.json`` and ``curve.svg``.

    Raises:
        UsageError: the folder cannot be written to.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "curve.svg").write_text(
            curve_picture(result.dev_curve, result.test_curve, result.dev, result.test), encoding="utf-8"
        )
        report = "".join(f"{line}\n" for line in threshold_report(result))
        (folder / "report.md").write_text(report, encoding="utf-8")
        text = json.dumps(threshold_json(result), ensure_ascii=False, indent=2)
        (folder / "threshold.json").write_text(f"{text}\n", encoding="utf-8")
    except OSError as error:
        raise UsageError(f"{folder}: cannot be written to ({error.strerror}); name another --out") from error
