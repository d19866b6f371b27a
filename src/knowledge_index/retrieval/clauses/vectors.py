"""Model wordings in place of a language model's hypothetical passage.

A question is worded unlike the clause that answers it. The mean vector of a few typical wordings lies where such
clauses lie, and mixed with the query's own vector it keeps what the query says beyond the type.

After Gao, Ma, Lin and Callan, "Precise Zero-Shot Dense Retrieval without Relevance Labels", ACL 2023, which has a
language model write the passage at query time.
"""

import os
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from knowledge_index.domain.languages import Language
from knowledge_index.embed import CachedEmbedder, Embedder, Matrix, MemoisedEmbedder, Vector, VectorCache
from knowledge_index.retrieval.clauses.library import ClauseType
from knowledge_index.retrieval.clauses.recognition import RecognisedClause


def wording_embedder(embedder: Embedder, cache_file: Path) -> Embedder:
    """``embedder``, made to remember: wordings are embedded when their type is first asked for, and never again.

    They are kept in ``cache_file``, the home's vector cache; a home that this user cannot write to is left alone, and
    each process then computes what it recognises once.
    """
    place = cache_file if cache_file.exists() else cache_file.parent
    if os.access(place, os.W_OK) and os.access(cache_file.parent, os.W_OK):
        return MemoisedEmbedder(CachedEmbedder(embedder, VectorCache(cache_file)))
    return MemoisedEmbedder(embedder)


def mixed_vector(
    query_vector: Vector,
    recognised: Sequence[RecognisedClause],
    embedder: Embedder,
    own_share: float,
) -> Vector:
    """``own_share`` of the query's vector and the rest of the recognised types', of unit length again.

    A type's vector is the direction of the mean of its wordings' vectors; several types count alike. Only wordings of
    the types that were recognised are embedded, up to some fifteen short texts a type; let ``embedder`` remember them
    (:func:`wording_embedder`). Without a recognised type the query's vector comes
    back as it is.
    """
    if not recognised:
        return query_vector
    types = np.stack([_type_vector(each, embedder) for each in recognised])
    return _unit(own_share * query_vector + (1.0 - own_share) * _unit(types.mean(axis=0)))


def _type_vector(recognised: RecognisedClause, embedder: Embedder) -> Vector:
    directions = [_unit(embedder.embed(wordings).mean(axis=0)) for wordings in _wordings(recognised)]
    return _unit(np.stack(directions).mean(axis=0))


def _wordings(recognised: RecognisedClause) -> list[tuple[str, ...]]:
    """Lists of wordings that count alike, whatever their lengths.

    Asked in English, the English ones. Asked in German, both: German words reach German clauses already, and the
    English wordings find what a German query has no word in common with.
    """
    clause: ClauseType = recognised.type
    english, german = clause.english.wordings, clause.german.wordings
    if recognised.language == Language.ENGLISH:
        return [english or german]
    return [each for each in (german, english) if each]


def _unit(vector: Vector | Matrix) -> Vector:
    length = float(np.linalg.norm(vector))
    return (vector / length if length else vector).astype(np.float32)
