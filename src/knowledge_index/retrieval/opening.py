"""Puts a RetrievalService together from an installation's stores."""

from knowledge_index.catalog import Catalog
from knowledge_index.config import AppConfig
from knowledge_index.config.home import Home
from knowledge_index.domain.errors import IndexStateError, PreconditionError
from knowledge_index.embed import Embedder, build_reranker
from knowledge_index.index import holds_indexes, open_lexical_index, open_profile_index, open_vector_index
from knowledge_index.retrieval.clauses import open_clause_library, wording_embedder
from knowledge_index.retrieval.service import RetrievalService


def open_retrieval(home: Home, catalog: Catalog, config: AppConfig, embedder: Embedder) -> RetrievalService:
    """Open the indexes for reading; ``embedder`` makes the queries' vectors.

    Raises:
        PreconditionError: nothing was indexed yet.
        IndexStateError: an index is gone, or was made with another embedding model than ``embedder``.
    """
    with catalog.transaction() as session:
        if session.meta.embedding_signature() is None:
            raise PreconditionError(
                f"{home.folder}: nothing is indexed yet; run 'ki add-source', 'ki sync' and 'ki run'"
            )
        _, row_count = session.status.index_counts()
    if row_count and not holds_indexes(home.lexical_folder, home.profile_folder, home.vector_folder):
        raise IndexStateError(f"{home.lexical_folder.parent}: an index is missing; run 'ki run', which makes it anew")
    return RetrievalService(
        catalog=catalog,
        lexical=open_lexical_index(home.lexical_folder),
        profiles=open_profile_index(home.profile_folder),
        vectors=open_vector_index(home.vector_folder, embedder.signature),
        embedder=embedder,
        reranker=build_reranker(config.retrieval),
        clauses=open_clause_library(home, config.retrieval),
        wordings=wording_embedder(embedder, home.vector_cache_file),
    )
