"""The enrich stage: the identifiers that a text holds."""

from knowledge_index.catalog import Catalog
from knowledge_index.catalog.records import StoredIdentifier
from knowledge_index.domain.identifiers import IDENTIFIER_RULES_VERSION, extract_identifiers

ENRICHER_VERSION = f"identifiers-{IDENTIFIER_RULES_VERSION}"


def enrich_document(catalog: Catalog, document_id: int) -> None:
    """Store the identifiers of one converted document."""
    with catalog.transaction() as session:
        text = session.conversions.text(document_id)
        found = [
            StoredIdentifier(str(each.kind), each.raw, each.normalised, each.start_char, each.end_char)
            for each in extract_identifiers(text)
        ]
        session.conversions.set_identifiers(document_id, ENRICHER_VERSION, found)
