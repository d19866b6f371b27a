"""Merges the settings' four layers and refuses what none of them knows."""

import json
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from knowledge_index.config.settings import AppConfig
from knowledge_index.domain.errors import ConfigurationError

CONFIG_FILE_NAME = "config.toml"
_PREFIX = "KI_"
# Read where they are needed: global options of the command line, and the one secret, which no listing may show.
_NOT_SETTINGS = frozenset({"KI_HOME", "KI_DEBUG", "KI_GATEWAY_KEY"})


@dataclass(frozen=True)
class LoadedConfig:
    """The settings in force; ``origins`` maps ``section.key`` to the layer that set it, for those not at default."""

    config: AppConfig
    origins: Mapping[str, str]


def load_config(home: Path, environment: Mapping[str, str], overrides: Mapping[str, str] | None = None) -> LoadedConfig:
    """Load ``home/config.toml``, then ``KI_SECTION__KEY`` variables, then ``section.key`` overrides.

    Raises:
        ConfigurationError: a key is unknown, a value does not fit, or the file is not TOML.
    """
    values: dict[str, dict[str, Any]] = {}
    origins: dict[str, str] = {}
    file = home / CONFIG_FILE_NAME
    for section, key, value in _file_settings(file):
        _set(values, origins, section, key, value, str(file))
    for name in sorted(environment):
        if name.startswith(_PREFIX) and name not in _NOT_SETTINGS:
            section, separator, key = name.removeprefix(_PREFIX).lower().partition("__")
            if not separator:
                raise ConfigurationError(
                    f"environment: {name} is no setting; write KI_SECTION__KEY, see 'ki config show'"
                )
            _set(values, origins, section, key, _typed(environment[name]), f"environment {name}")
    for dotted, text in (overrides or {}).items():
        section, _, key = dotted.partition(".")
        _set(values, origins, section, key, _typed(text), f"command line {dotted}")
    try:
        config = AppConfig.model_validate(values)
    except ValidationError as error:
        raise ConfigurationError(_explain(error, origins)) from error
    return LoadedConfig(config, origins)


def _file_settings(file: Path) -> list[tuple[str, str, Any]]:
    try:
        table = tomllib.loads(file.read_text(encoding="utf-8"))
    except (FileNotFoundError, NotADirectoryError):
        return []
    except (OSError, ValueError, RecursionError) as error:
        # ValueError: no UTF-8, no TOML, or a number of thousands of digits.
        raise ConfigurationError(f"{file}: cannot be read as TOML: {error}") from error
    settings: list[tuple[str, str, Any]] = []
    for section, content in table.items():
        if not isinstance(content, dict):
            raise ConfigurationError(f"{file}: '{section}' stands outside a section; see 'ki config show' for sections")
        if section not in AppConfig.model_fields:
            raise ConfigurationError(f"{file}: [{section}] is no section; see 'ki config show' for sections")
        settings.extend((section, key, value) for key, value in content.items())
    return settings


def _set(
    values: dict[str, dict[str, Any]], origins: dict[str, str], section: str, key: str, value: Any, origin: str
) -> None:
    values.setdefault(section, {})[key] = value
    origins[f"{section}.{key}"] = origin


def _typed(text: str) -> Any:
    """A variable's text as JSON where it is JSON (true, 0.5, null), else the text itself."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def _explain(error: ValidationError, origins: Mapping[str, str]) -> str:
    lines = []
    for detail in error.errors():
        where = ".".join(str(part) for part in detail["loc"])
        origin = origins.get(where)
        if origin is None:
            # A contradiction within a section: every layer that took part in it may hold the fault.
            parts = sorted({each for key, each in origins.items() if key.split(".")[0] == where})
            origin = ", ".join(parts) or "settings"
        message = (
            "unknown setting" if detail["type"] == "extra_forbidden" else detail["msg"].removeprefix("Value error, ")
        )
        lines.append(f"{origin}: {where}: {message}")
    return "\n".join([*lines, "See 'ki config show' for every setting and its value."])
