"""A language model behind an OpenAI-compatible address words an answer; it is given passages as data and no tools."""

import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, ConfigDict, Field, SecretStr, ValidationError

from knowledge_index.answers.answer import CitedSpan, Draft, DraftSentence, Evidence
from knowledge_index.answers.prompting import SYSTEM_PROMPT, CitableSentence, Prompt, build_prompt, correction
from knowledge_index.answers.validator import Fault
from knowledge_index.config import GatewaySettings
from knowledge_index.domain.errors import KnowledgeIndexError

if TYPE_CHECKING:
    import httpx

KEY_VARIABLE = "KI_GATEWAY_KEY"
_MAX_RESPONSE_BYTES = 1024 * 1024
_LONGEST_WAIT_S = 20.0
_TRANSIENT_STATUS = frozenset({408, 409, 425, 429, 500, 502, 503, 504})
# Of one answer, whatever a model writes.
_MAX_SENTENCES = 12


class GatewayError(KnowledgeIndexError):
    """The gateway gave no answer that can be used; ``can_be_corrected`` where asking again with the reason may help."""

    def __init__(self, message: str, *, can_be_corrected: bool = False) -> None:
        super().__init__(message)
        self.can_be_corrected = can_be_corrected


class _TransientError(GatewayError):
    """Busy or out of reach: worth another attempt, after ``wait_s`` seconds if the endpoint named any."""

    def __init__(self, message: str, wait_s: float | None = None) -> None:
        super().__init__(message)
        self.wait_s = wait_s


class _Sentence(BaseModel):
    model_config = ConfigDict(extra="ignore", strict=True)

    text: str = Field(min_length=1, max_length=4000)
    citations: list[str] = Field(max_length=20)


class _ModelAnswer(BaseModel):
    model_config = ConfigDict(extra="ignore", strict=True)

    sentences: list[_Sentence] = Field(max_length=_MAX_SENTENCES)


@dataclass(frozen=True)
class Gateway:
    """Asks the endpoint of ``settings``; ``key`` goes into the request's header and nowhere else.

    ``sleep`` waits between attempts, ``monotonic`` times a request; both take and give seconds.
    """

    settings: GatewaySettings
    key: SecretStr
    sleep: Callable[[float], None] = time.sleep
    monotonic: Callable[[], float] = time.monotonic

    def draft_answer(self, question: str, retrieved: Sequence[Evidence], faults: Sequence[Fault]) -> Draft:
        """A model's answer to the question; ``faults`` are what was wrong with its last one.

        The citations are sentences of the passages by number, so that offsets come from here and never from the model.

        Raises:
            GatewayError: there was no answer, or none of the form that was asked for.
        """
        prompt = build_prompt(question, retrieved)
        messages = [{"role": "system", "content": SYSTEM_PROMPT}, {"role": "user", "content": prompt.text}]
        if faults:
            messages.append({"role": "user", "content": correction(faults)})
        return _draft(self._complete(messages), prompt)

    def within(self, total_s: float) -> "Gateway":
        """The same gateway for a caller who waits ``total_s`` seconds at most: two answers, none asked for again."""
        timeout_s = min(self.settings.timeout_s, total_s / 2)
        return replace(self, settings=self.settings.model_copy(update={"timeout_s": timeout_s, "retries": 0}))

    def _complete(self, messages: Sequence[Mapping[str, str]]) -> str:
        from tenacity import Retrying, retry_if_exception_type, stop_after_attempt, wait_exponential

        backoff = wait_exponential(multiplier=0.5, max=_LONGEST_WAIT_S)

        def wait_s(retry_state: Any) -> float:
            error = retry_state.outcome.exception()
            named = error.wait_s if isinstance(error, _TransientError) else None
            return backoff(retry_state) if named is None else min(named, _LONGEST_WAIT_S)

        attempts = self.settings.retries + 1
        retrying = Retrying(
            stop=stop_after_attempt(attempts),
            wait=wait_s,
            retry=retry_if_exception_type(_TransientError),
            sleep=self.sleep,
            reraise=True,
        )
        try:
            return retrying(self._request, messages)
        except _TransientError as error:
            raise GatewayError(f"{error} ({attempts} attempts)") from error

    def _request(self, messages: Sequence[Mapping[str, str]]) -> str:
        import httpx

        ends_at = self.monotonic() + self.settings.timeout_s
        body = {
            "model": self.settings.model,
            "messages": list(messages),
            "max_tokens": self.settings.max_tokens,
            "temperature": 0,
            "stream": False,
            "response_format": {"type": "json_object"},
        }
        key = self.key.get_secret_value()
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        # Neither proxies nor credentials of the environment, and no redirects: documents go to the address that the
        # settings name and to no other.
        try:
            with (
                httpx.Client(timeout=self.settings.timeout_s, trust_env=False, follow_redirects=False) as client,
                client.stream(
                    "POST", f"{str(self.settings.url).rstrip('/')}/chat/completions", json=body, headers=headers
                ) as response,
            ):
                content = self._read(response, ends_at)
        except httpx.TimeoutException as error:
            raise _TransientError(f"no answer within {self.settings.timeout_s:g} s") from error
        except httpx.HTTPError as error:
            raise _TransientError(f"the connection failed ({type(error).__name__})") from error
        except httpx.InvalidURL as error:
            raise GatewayError("gateway.url is no address that can be asked") from error
        status = response.status_code
        if status in _TRANSIENT_STATUS:
            raise _TransientError(f"it answered with status {status}", _wait_named(response))
        if status != 200:
            raise GatewayError(f"it answered with status {status}; check gateway.url, gateway.model and {KEY_VARIABLE}")
        return _content_of(content)

    def _read(self, response: "httpx.Response", ends_at: float) -> bytes:
        """The body, within the time of a whole request: a server that drips would never time out otherwise."""
        content = bytearray()
        for part in response.iter_bytes():
            content += part
            if len(content) > _MAX_RESPONSE_BYTES:
                raise GatewayError(f"its answer is longer than {_MAX_RESPONSE_BYTES} bytes")
            if self.monotonic() > ends_at:
                raise _TransientError(f"no whole answer within {self.settings.timeout_s:g} s")
        return bytes(content)


def build_gateway(settings: GatewaySettings, environment: Mapping[str, str]) -> Gateway | None:
    """The gateway that the settings name, or None where they name none; the key comes from ``KI_GATEWAY_KEY``."""
    if settings.url is None:
        return None
    return Gateway(settings, SecretStr(environment.get(KEY_VARIABLE, "").strip()))


def _wait_named(response: "httpx.Response") -> float | None:
    text = response.headers.get("retry-after", "")
    return float(text) if text.isdigit() and len(text) < 6 else None


def _content_of(body: bytes) -> str:
    try:
        choice = json.loads(body)["choices"][0]
        content, reason = choice["message"]["content"], choice.get("finish_reason")
    except (ValueError, RecursionError, LookupError, TypeError, AttributeError) as error:
        raise GatewayError("its answer is no chat completion", can_be_corrected=True) from error
    if reason == "length":
        raise GatewayError("the answer was cut off by the token limit; be shorter", can_be_corrected=True)
    if not isinstance(content, str):
        raise GatewayError("its answer has no text", can_be_corrected=True)
    return content


def _draft(content: str, prompt: Prompt) -> Draft:
    text = content.strip()
    if text.startswith("```"):
        text = text.removeprefix("```json").removeprefix("```").removesuffix("```").strip()
    try:
        answer = _ModelAnswer.model_validate_json(text)
    except ValidationError as error:
        raise GatewayError("the answer is not JSON of the form that was asked for", can_be_corrected=True) from error
    return Draft(
        tuple(
            DraftSentence(each.text, tuple(_span(citation, prompt.citable) for citation in each.citations))
            for each in answer.sentences
        )
    )


def _span(citation: str, citable: Mapping[str, CitableSentence]) -> CitedSpan:
    found = citable.get(citation.strip().strip("[]"))
    if found is None:
        # Kept, so that the validator refuses it as it refuses any passage that was not retrieved.
        return CitedSpan("", 0, 0, "")
    return CitedSpan(found.hit_id, found.start_char, found.end_char, found.text)
