"""Which embedder, first stage and reranker is best for these papers? A grid, frozen on dev and tested once."""
