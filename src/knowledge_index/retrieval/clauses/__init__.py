"""Which kind of clause does a query ask for, what is it called, and how does it sound? The clause library."""

from knowledge_index.retrieval.clauses.library import ClauseLibrary, ClauseType, LanguageForms, load_clause_library
from knowledge_index.retrieval.clauses.recognition import Language, RecognisedClause, Strength, recognise
from knowledge_index.retrieval.clauses.vectors import mixed_vector

__all__ = [
    "ClauseLibrary",
    "ClauseType",
    "Language",
    "LanguageForms",
    "RecognisedClause",
    "Strength",
    "load_clause_library",
    "mixed_vector",
    "recognise",
]
