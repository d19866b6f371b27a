from collections.abc import Iterator
from pathlib import Path

import pytest
from estate import Estate, FakeSource

from knowledge_index.catalog import Catalog, open_catalog
from knowledge_index.sources.local_fs import LocalFolderSource


@pytest.fixture
def catalog_file(tmp_path: Path) -> Path:
    return tmp_path / "catalog.sqlite"


@pytest.fixture
def catalog(catalog_file: Path) -> Iterator[Catalog]:
    catalog = open_catalog(catalog_file)
    yield catalog
    catalog.close()


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "estate"
    root.mkdir()
    return root


@pytest.fixture
def estate(catalog: Catalog, root: Path) -> Estate:
    return Estate(catalog, LocalFolderSource(root))


@pytest.fixture
def fake(catalog: Catalog) -> tuple[Estate, FakeSource]:
    source = FakeSource()
    return Estate(catalog, source), source
