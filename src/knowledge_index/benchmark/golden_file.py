"""Golden questions: what the retrieved text and the answer have to hold, and which questions have no answer."""

from pathlib import Path
from typing import Any, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

from knowledge_index.domain.errors import InputError, PermissionMapError
from knowledge_index.domain.principals import parse_principals

_MAX_FILE_BYTES = 4 * 1024 * 1024


class GoldenQuestion(BaseModel):
    """One question.

    ``must_contain``: wordings that have to stand in the retrieved passages, each in one of them.
    ``answer_must_contain``: wordings that have to stand in the answer. ``document``: a part of the path that a passage
    needs in order to count. ``not_said``: the right answer is that the documents do not say; ``must_not_contain`` are
    then wordings that no retrieved passage may hold. ``as``: who asks, else the caller of the run.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True)

    question: str = Field(min_length=1)
    kind: str = "question"
    must_contain: tuple[str, ...] = ()
    answer_must_contain: tuple[str, ...] = ()
    must_not_contain: tuple[str, ...] = ()
    document: str | None = None
    not_said: bool = False
    principals: str | None = Field(None, alias="as")

    @field_validator("must_contain", "answer_must_contain", "must_not_contain", mode="before")
    @classmethod
    def _one_or_many(cls, value: Any) -> Any:
        return (value,) if isinstance(value, str) else value

    @model_validator(mode="after")
    def _asserts_something(self) -> Self:
        if self.not_said and (self.must_contain or self.answer_must_contain):
            raise ValueError("not_said and must_contain exclude each other")
        if not self.not_said and not self.must_contain:
            raise ValueError("must_contain is missing; write not_said: true where the documents hold no answer")
        if self.principals is not None:
            try:
                parse_principals(self.principals)
            except PermissionMapError as error:
                raise ValueError(str(error)) from error
        return self


class GoldenFile(BaseModel):
    """The questions of a file, in its order."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    questions: tuple[GoldenQuestion, ...] = Field(min_length=1)


def load_golden(file: Path) -> GoldenFile:
    """Read a YAML file: a list of questions, or a mapping with ``questions``.

    Raises:
        InputError: the file cannot be read, is no YAML, or a question is not of the form.
    """
    import yaml

    try:
        if file.stat().st_size > _MAX_FILE_BYTES:
            raise InputError(f"{file}: is larger than {_MAX_FILE_BYTES} bytes; split it")
        content = yaml.safe_load(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(f"{file}: cannot be read: {error.strerror or error}") from error
    except (yaml.YAMLError, UnicodeDecodeError, RecursionError) as error:
        raise InputError(f"{file}: cannot be read as YAML: {error}") from error
    try:
        return GoldenFile.model_validate({"questions": content} if isinstance(content, list) else content)
    except ValidationError as error:
        lines = [f"{'.'.join(map(str, each['loc']))}: {each['msg']}" for each in error.errors()[:20]]
        raise InputError(f"{file}: is no golden file:\n" + "\n".join(lines)) from error
