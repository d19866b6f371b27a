"""A library of answers, and questions asked of it: what a threshold of filling in is chosen and measured on."""

import tomllib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from knowledge_index.benchmark.models.dataset import Split, half_of
from knowledge_index.domain.errors import InputError
from knowledge_index.evidence.canonical import canonical_sha256

PACKAGED_LIBRARY = Path(__file__).with_name("data") / "questionnaires.toml"


@dataclass(frozen=True)
class LibraryAnswer:
    """One answer with the question that it was given to; ``is_superseded``: another one of its topic holds now."""

    topic: str
    question: str
    answer: str
    is_superseded: bool

    @property
    def text(self) -> str:
        """What is compared with a question."""
        return f"{self.question}\n{self.answer}"


@dataclass(frozen=True)
class AskedQuestion:
    """A question and the topic that answers it, or None where the library has no answer."""

    text: str
    topic: str | None


@dataclass(frozen=True)
class AnswerLibrary:
    """All answers, current ones first in each topic, and all questions."""

    name: str
    answers: tuple[LibraryAnswer, ...]
    asked: tuple[AskedQuestion, ...]
    sha256: str

    def without_superseded(self) -> "AnswerLibrary":
        """The library of one who keeps it clean."""
        kept = tuple(each for each in self.answers if not each.is_superseded)
        return replace(self, answers=kept, sha256=canonical_sha256([self.sha256, "without superseded"]))

    def questions(self, split: Split, seed: int) -> tuple[AskedQuestion, ...]:
        """The questions of a split: the wordings of one topic stay together, and each unanswered one is a topic."""
        kept = half_of([_cluster(each) for each in self.asked], split, seed)
        return tuple(each for each in self.asked if _cluster(each) in kept)


class _Model(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class _Superseded(_Model):
    question: str = Field(min_length=1)
    answer: str = Field(min_length=1)
    until: date


class _Topic(_Model):
    id: str = Field(min_length=1)
    question: str = Field(min_length=1)
    answer: str = Field(min_length=1)
    asked: list[str] = Field(min_length=1)
    superseded: list[_Superseded] = []


class _File(_Model):
    name: str = Field(min_length=1)
    topic: list[_Topic] = Field(min_length=2)
    unanswered: list[str]


def load_library(file: Path) -> AnswerLibrary:
    """Read a library: TOML with ``name``, ``unanswered`` and ``[[topic]]`` (id, question, answer, asked, superseded).

    Raises:
        InputError: the file cannot be read, has another form, or has a topic or a question twice.
    """
    try:
        content = file.read_text(encoding="utf-8")
        model = _File.model_validate(tomllib.loads(content))
    except OSError as error:
        raise InputError(f"{file}: cannot be read ({error.strerror}); name a library with --library") from error
    except ValidationError as error:
        detail = error.errors()[0]
        where = " > ".join(str(part) for part in detail["loc"])
        raise InputError(f"{file}: {where}: {detail['msg']}") from error
    except ValueError as error:
        raise InputError(f"{file}: is no TOML in UTF-8 ({error})") from error
    answers = [
        LibraryAnswer(topic.id, each.question, each.answer, is_superseded)
        for topic in model.topic
        for is_superseded, entries in ((False, [topic]), (True, topic.superseded))
        for each in entries
    ]
    asked = [AskedQuestion(text, topic.id) for topic in model.topic for text in topic.asked]
    asked += [AskedQuestion(text, None) for text in model.unanswered]
    _refuse_twice(file, [topic.id for topic in model.topic])
    _refuse_twice(file, [each.text for each in asked])
    return AnswerLibrary(model.name, tuple(answers), tuple(asked), canonical_sha256(model.model_dump(mode="json")))


def _cluster(question: AskedQuestion) -> str:
    return question.topic if question.topic is not None else f"\0{question.text}"


def _refuse_twice(file: Path, names: Sequence[str]) -> None:
    for name in names:
        if names.count(name) > 1:
            raise InputError(f"{file}: '{name}' stands there twice")
