"""The system of record."""

from knowledge_index.catalog.database import Catalog, CatalogSession, open_catalog

__all__ = ["Catalog", "CatalogSession", "open_catalog"]
