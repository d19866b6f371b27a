"""What every command starts from."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from knowledge_index.domain.errors import ConfigurationError

if TYPE_CHECKING:
    from knowledge_index.access.recording import AccessRecorder
    from knowledge_index.catalog import Catalog
    from knowledge_index.config import LoadedConfig
    from knowledge_index.config.home import Home


@dataclass(frozen=True)
class State:
    """The home of this call and the settings given on the command line; everything else is loaded when needed."""

    home_folder: Path
    settings: tuple[str, ...]

    def load_config(self) -> "LoadedConfig":
        """The settings in force."""
        from knowledge_index.config import load_config

        overrides: dict[str, str] = {}
        for text in self.settings:
            name, separator, value = text.partition("=")
            if not separator or "." not in name:
                raise ConfigurationError(
                    f"--set {text}: write SECTION.KEY=VALUE, for example retrieval.fusion_rrf_k=30"
                )
            overrides[name.strip()] = value.strip()
        return load_config(self.home_folder, os.environ, overrides)

    def home(self) -> "Home":
        """The home, made where it does not exist."""
        from knowledge_index.config.home import Home

        home = Home(self.home_folder)
        home.create()
        return home

    def recorder(self) -> "AccessRecorder":
        """What writes the audit log of the home."""
        from datetime import UTC, datetime

        from knowledge_index.access.recording import open_recorder

        return open_recorder(self.home(), self.load_config().config.audit, _account(), lambda: datetime.now(UTC))

    @contextmanager
    def catalog(self) -> Iterator["Catalog"]:
        """The catalog of the home, closed when the block ends."""
        from knowledge_index.catalog import open_catalog

        catalog = open_catalog(self.home().catalog_file)
        try:
            yield catalog
        finally:
            catalog.close()


def _account() -> str:
    """The account that runs this process; not from the environment, which anyone may set."""
    import pwd

    try:
        return pwd.getpwuid(os.getuid()).pw_name
    except KeyError:
        return f"uid {os.getuid()}"


def resolve_home(given: Path | None) -> Path:
    """``--home``, else ``KI_HOME``, else the platform's folder for application data."""
    if given is not None:
        return given.absolute()
    if os.environ.get("KI_HOME"):
        return Path(os.environ["KI_HOME"]).absolute()
    from platformdirs import user_data_path

    return user_data_path("knowledge_index", appauthor=False)
