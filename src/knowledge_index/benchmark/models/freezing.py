"""A choice is frozen on dev before the test split is looked at, and each look is written down, signed and for good.

The ledger is a file of JSON lines in the home. Each line is signed with the installation's key and names the SHA-256 of
the line before, so that none can be taken out or changed without the rest telling; what was cut off at the end is not
told, as with any file that nobody else keeps a copy of.
"""

import hashlib
import json
import os
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from knowledge_index.domain.errors import ConfigurationError, PreconditionError, UsageError
from knowledge_index.evidence.canonical import canonical, parse_json
from knowledge_index.evidence.keys import KeyStore, is_signed, parse_trusted_keys

_FROZEN, _STARTED, _FINISHED = "frozen", "look started", "look finished"
_FIRST = "0" * 64


@dataclass(frozen=True)
class Frozen:
    """A choice and what it was made among.

    ``compared`` has every configuration of the dev run by name, the choice among them, each with the SHA-256 of its
    form. ``after_looks`` counts looks at the test split that had been before.
    """

    dataset: str
    unit: str
    seed: int
    configuration: str
    compared: Mapping[str, str]
    dev_sha256: str
    test_sha256: str
    dev_results_sha256: str
    after_looks: int
    frozen_at: str
    key_id: str

    def as_json(self) -> dict[str, Any]:
        """All fields."""
        return asdict(self)


@dataclass(frozen=True)
class Look:
    """One run over the test split; ``finished_at`` is None for one that was stopped and showed nothing."""

    number: int
    dataset: str
    configuration: str
    config_sha256: str
    test_sha256: str
    reason: str | None
    started_at: str
    finished_at: str | None

    def as_json(self) -> dict[str, Any]:
        """All fields."""
        return asdict(self)


class Ledger:
    """What was frozen and looked at, in ``file``.

    Raises, wherever it is read:
        PreconditionError: a line is not signed by this installation, or the lines do not follow one another.
    """

    def __init__(self, file: Path, keys: KeyStore, clock: Callable[[], datetime]) -> None:
        self._file = file
        self._keys = keys
        self._clock = clock

    def frozen(self, dataset: str) -> Frozen | None:
        """What was frozen last for the data set."""
        found = [
            Frozen(**each["content"], frozen_at=each["at"], key_id=key_id)
            for each, key_id in self._entries()
            if each["kind"] == _FROZEN and each["content"]["dataset"] == dataset
        ]
        return found[-1] if found else None

    def looks(self, dataset: str, test_sha256: str | None = None) -> tuple[Look, ...]:
        """All looks at the test split of that set, or at the same data under another name, the earliest first.

        Whatever was frozen in between.
        """
        entries = self._entries()
        finished = {each["content"]["number"]: each["at"] for each, _ in entries if each["kind"] == _FINISHED}
        return tuple(
            Look(number, **each["content"], started_at=each["at"], finished_at=finished.get(number))
            for number, (each, _) in enumerate(entries)
            if each["kind"] == _STARTED
            and (each["content"]["dataset"] == dataset or each["content"]["test_sha256"] == test_sha256)
        )

    def freeze(
        self,
        *,
        dataset: str,
        unit: str,
        seed: int,
        configuration: str,
        compared: Mapping[str, str],
        dev_sha256: str,
        test_sha256: str,
        dev_results_sha256: str,
    ) -> Frozen:
        """Write a choice down; a later one takes its place, and both stay in the ledger.

        Raises:
            UsageError: the choice is none of the configurations that ran on dev.
        """
        if configuration not in compared:
            raise UsageError(
                f"--config {configuration}: did not run on dev; it has {', '.join(sorted(compared)) or 'nothing'}"
            )
        content = {
            "dataset": dataset,
            "unit": unit,
            "seed": seed,
            "configuration": configuration,
            "compared": dict(compared),
            "dev_sha256": dev_sha256,
            "test_sha256": test_sha256,
            "dev_results_sha256": dev_results_sha256,
            "after_looks": len(self.looks(dataset, test_sha256)),
        }
        self._append(_FROZEN, content)
        frozen = self.frozen(dataset)
        assert frozen is not None
        return frozen

    def begin_look(self, frozen: Frozen, forms: Mapping[str, str], test_sha256: str, reason: str | None) -> Look:
        """Write down that the test split is looked at, before it is; a look that was stopped goes on.

        ``forms`` has the SHA-256 of each configuration as it would run now; ``reason`` is why it is looked at again.

        Raises:
            PreconditionError: data or configuration are not the frozen ones, or it was looked at before and no
                ``reason`` is given.
        """
        if test_sha256 != frozen.test_sha256:
            raise PreconditionError(
                f"the test split of '{frozen.dataset}' is not the one that was frozen ({frozen.test_sha256[:16]}…, now "
                f"{test_sha256[:16]}…): go back to that data, or choose on dev and freeze anew"
            )
        changed = [name for name, digest in frozen.compared.items() if forms.get(name) != digest]
        if changed:
            raise PreconditionError(
                f"'{changed[0]}' is not as it was frozen: its weights, prompt, settings or chunking have changed, or "
                "its weights are not here; go back to these, or choose on dev and freeze anew"
            )
        looks = self.looks(frozen.dataset, test_sha256)
        form = forms[frozen.configuration]
        if looks and looks[-1].finished_at is None and looks[-1].config_sha256 == form:
            return looks[-1]
        if any(look.finished_at for look in looks) and not reason:
            raise PreconditionError(
                f"the test split of '{frozen.dataset}' was looked at on {looks[0].started_at}: a second look is no "
                "test any more; where it has to be, give --again --reason, which every report will show"
            )
        content = {
            "dataset": frozen.dataset,
            "configuration": frozen.configuration,
            "config_sha256": form,
            "test_sha256": test_sha256,
            "reason": reason,
        }
        self._append(_STARTED, content)
        return self.looks(frozen.dataset)[-1]

    def finish_look(self, look: Look) -> None:
        """Write down that a look's figures are there, before anyone sees them."""
        self._append(_FINISHED, {"number": look.number})

    def note_look(self, dataset: str, configuration: str, config_sha256: str, test_sha256: str) -> None:
        """Write a look down that shows its figures at once; the same configuration over the same data is no new one."""
        if any((each.config_sha256, each.test_sha256) == (config_sha256, test_sha256) for each in self.looks(dataset)):
            return
        content = {
            "dataset": dataset,
            "configuration": configuration,
            "config_sha256": config_sha256,
            "test_sha256": test_sha256,
            "reason": None,
        }
        self._append(_STARTED, content)
        self.finish_look(self.looks(dataset)[-1])

    def _append(self, kind: str, content: Mapping[str, Any]) -> None:
        from filelock import FileLock

        try:
            self._file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            with FileLock(self._file.with_suffix(".lock"), timeout=30):
                self._entries()
                lines = self._lines()
                previous = hashlib.sha256(lines[-1]).hexdigest() if lines else _FIRST
                at = self._clock().astimezone(UTC).isoformat(timespec="seconds")
                entry = canonical({"kind": kind, "at": at, "previous": previous, "content": content})
                signature = self._keys.sign(entry)
                line = {"entry": entry.decode(), "key_id": signature.key_id, "signature": signature.value.hex()}
                with self._file.open("ab") as stream:
                    stream.write(json.dumps(line).encode() + b"\n")
                    stream.flush()
                    os.fsync(stream.fileno())
        except OSError as error:
            raise ConfigurationError(f"{self._file}: cannot be written ({error.strerror or error})") from error

    def _entries(self) -> list[tuple[dict[str, Any], str]]:
        """Each entry and the key that signed it, checked."""
        lines = self._lines()
        if not lines:
            return []
        trusted: dict[str, bytes] = {}
        for key in self._keys.public_keys():
            trusted |= parse_trusted_keys(key.pem, key.key_id)
        entries = []
        previous = _FIRST
        for number, line in enumerate(lines, start=1):
            try:
                stored = parse_json(line)
                entry = stored["entry"].encode()
                key_id = stored["key_id"]
                is_whole = key_id in trusted and is_signed(trusted[key_id], entry, bytes.fromhex(stored["signature"]))
                parsed = parse_json(entry)
                is_whole = is_whole and parsed["previous"] == previous
            except (ValueError, KeyError, TypeError, AttributeError):
                is_whole = False
            if not is_whole:
                raise PreconditionError(
                    f"{self._file}, line {number}: is not what this installation wrote; restore it from a backup: "
                    "without it nobody knows what was frozen and looked at"
                )
            entries.append((parsed, key_id))
            previous = hashlib.sha256(line).hexdigest()
        return entries

    def _lines(self) -> list[bytes]:
        try:
            return [line for line in self._file.read_bytes().split(b"\n") if line]
        except FileNotFoundError:
            return []
