"""Answers questions from the caller's documents, each citation checked before the answer is let out."""

from knowledge_index.answers.answer import Answer, AnswerKind, AnswerSentence, Citation, Searched
from knowledge_index.answers.gateway import Gateway, build_gateway
from knowledge_index.answers.service import DEFAULT_PASSAGES, answer_question

__all__ = [
    "DEFAULT_PASSAGES",
    "Answer",
    "AnswerKind",
    "AnswerSentence",
    "Citation",
    "Gateway",
    "Searched",
    "answer_question",
    "build_gateway",
]
