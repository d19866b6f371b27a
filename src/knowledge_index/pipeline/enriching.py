"""The enrich stage: the identifiers that a text holds, and what a filter may ask of a document."""

from knowledge_index.catalog import Catalog
from knowledge_index.catalog.passage_records import StoredIdentifier
from knowledge_index.catalog.records import DescribedObject, ObjectProperties
from knowledge_index.domain.document_dates import document_date_of
from knowledge_index.domain.document_types import TYPE_RULES_VERSION, document_type_of, type_of_opening
from knowledge_index.domain.identifiers import IDENTIFIER_RULES_VERSION, extract_identifiers
from knowledge_index.domain.languages import LANGUAGE_RULES_VERSION, language_of

# Another rule for types makes no index row anew; one for languages does, through the signature of the German analysis.
IDENTIFIERS_VERSION = f"identifiers-{IDENTIFIER_RULES_VERSION}"
ENRICHER_VERSION = f"{IDENTIFIERS_VERSION} types-{TYPE_RULES_VERSION} languages-{LANGUAGE_RULES_VERSION}"


def enrich_document(catalog: Catalog, document_id: int) -> None:
    """Store the identifiers of one converted document, its language, and the type that its opening says."""
    with catalog.transaction() as session:
        text = session.conversions.text(document_id)
        found = [
            StoredIdentifier(str(each.kind), each.raw, each.normalised, each.start_char, each.end_char)
            for each in extract_identifiers(text)
        ]
        session.conversions.set_enriched(document_id, ENRICHER_VERSION, found, language_of(text), type_of_opening(text))


def renew_properties(catalog: Catalog) -> None:
    """Bring the stored properties to what the objects' names, texts, mails and files tell at this moment."""
    with catalog.transaction() as session:
        told = [(each, _properties_of(each)) for each in session.properties.described()]
        session.properties.put({each.id: properties for each, properties in told if properties != each.properties})


def _properties_of(each: DescribedObject) -> ObjectProperties:
    return ObjectProperties(
        document_type_of(each.path, each.opening_type, is_mail=each.is_mail),
        each.language,
        document_date_of(each.path, each.sent_at, each.sent_around_at, each.mtime_ns),
    )
