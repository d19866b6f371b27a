"""A permission-aware shadow index over a law firm's documents."""

__version__ = "0.1.0"
