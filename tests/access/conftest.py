from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from access_world import SOURCE, RollBackError, World

from knowledge_index.catalog import Catalog, open_catalog


@pytest.fixture(scope="session")
def access_catalog(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Catalog]:
    catalog = open_catalog(tmp_path_factory.mktemp("access world") / "catalog.sqlite")
    with catalog.transaction() as session:
        session.sources.add(SOURCE, "local_fs", "/nowhere", None)
    yield catalog
    catalog.close()


@pytest.fixture
def world(access_catalog: Catalog, tmp_path: Path) -> Iterator[World]:
    """An empty estate with one source; what a test does to it is rolled back."""
    with suppress(RollBackError), access_catalog.transaction() as session:
        yield World(session, tmp_path)
        raise RollBackError
