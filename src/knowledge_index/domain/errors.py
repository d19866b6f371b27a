"""The one exception tree: each message says what was wrong, where, and what to do next."""


class KnowledgeIndexError(Exception):
    """Base of every error that the product raises on purpose.

    ``exit_code`` is what the command line ends with: 2 for bad usage, input or configuration.
    """

    exit_code = 2


class ConfigurationError(KnowledgeIndexError):
    """A setting is unknown, malformed, or contradicts another."""


class UsageError(KnowledgeIndexError):
    """A request cannot be carried out as it was asked."""


class InputError(KnowledgeIndexError):
    """A file or folder that the user handed over is not what it has to be."""


class PermissionMapError(InputError):
    """An ACL map or a principal is malformed; nothing of it was applied."""


class NotVisibleError(KnowledgeIndexError):
    """What was asked for does not exist, is gone, or may not be seen: one error, so that none betrays another."""


class PreconditionError(KnowledgeIndexError):
    """The work is well asked for, but something it needs is not there yet (exit code 3)."""

    exit_code = 3


class BusyError(PreconditionError):
    """Another process is writing to this home."""


class AuditLogError(PreconditionError):
    """The audit log cannot be written or is damaged; what was to be logged did not happen."""


class IndexStateError(PreconditionError):
    """An index was made with other settings than those in force, or is damaged."""


class ModelError(KnowledgeIndexError):
    """A model cannot be loaded, or its weights are not the pinned ones."""


class SourceError(KnowledgeIndexError):
    """A source cannot be read."""


class VanishedFileError(SourceError):
    """A file that was listed is no longer there."""


class ConversionError(KnowledgeIndexError):
    """A file's text cannot be had; the object is quarantined under ``error_class``.

    ``error_class`` is a short, stable code such as ``damaged``, ``encrypted``, ``unsupported`` or ``empty``.
    """

    def __init__(self, error_class: str, message: str) -> None:
        super().__init__(message)
        self.error_class = error_class
