"""Keeps the model libraries from writing to the terminal."""

import logging


def silence_model_libraries() -> None:
    """Errors only, and no progress bars: what a reader of the command line sees is ours to say."""
    from transformers.utils import logging as transformers_logging

    transformers_logging.set_verbosity_error()  # type: ignore[no-untyped-call]
    transformers_logging.disable_progress_bar()  # type: ignore[no-untyped-call]
    logging.getLogger("sentence_transformers").setLevel(logging.ERROR)
