"""What else the lexical leg may look for when a query asks for a clause type."""

from collections.abc import Sequence

from knowledge_index.domain.languages import Language
from knowledge_index.index.analysis import query_terms
from knowledge_index.retrieval.clauses.library import alias_phrases
from knowledge_index.retrieval.clauses.phrases import GAP, is_plain
from knowledge_index.retrieval.clauses.recognition import RecognisedClause


def expansion_terms(query: str, recognised: Sequence[RecognisedClause]) -> tuple[tuple[str, ...], ...]:
    """The words of the recognised types' names that ``query`` lacks, each as the index terms that stand for it.

    In the form of :attr:`~knowledge_index.index.analysis.QueryTerms.alternatives`, to be scored below the user's own
    words. Names in the language that was asked in; asked in German, in English as well.
    """
    seen = {term for alternatives in query_terms(query).alternatives for term in alternatives}
    found: list[tuple[str, ...]] = []
    for each in recognised:
        for field, alias in alias_phrases(each.type):
            if not is_plain(alias) or (each.language == Language.ENGLISH and field.endswith("_de")):
                continue
            for alternatives in query_terms(alias.replace(GAP, " ")).alternatives:
                if alternatives[0] not in seen:
                    seen.add(alternatives[0])
                    found.append(alternatives)
    return tuple(found)
