"""Which kind of clause does a query ask for, what is it called, and how does it sound? The clause library."""

from knowledge_index.retrieval.clauses.expansion import expansion_terms
from knowledge_index.retrieval.clauses.library import (
    ClauseLibrary,
    ClauseType,
    LanguageForms,
    load_clause_library,
    open_clause_library,
)
from knowledge_index.retrieval.clauses.recognition import RecognisedClause, Strength, recognise
from knowledge_index.retrieval.clauses.vectors import mixed_vector, wording_embedder

__all__ = [
    "ClauseLibrary",
    "ClauseType",
    "LanguageForms",
    "RecognisedClause",
    "Strength",
    "expansion_terms",
    "load_clause_library",
    "mixed_vector",
    "open_clause_library",
    "recognise",
    "wording_embedder",
]
