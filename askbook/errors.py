"""The one error tree. Its messages are written for the person who reads them.

AskbookError
├── TerminalError            trying again changes nothing; somebody must act
│   ├── WrongUse             the call itself is wrong (exit code 2)
│   ├── SettingsError        a setting is missing or has an impossible value
│   ├── BookError            the book folder as a whole cannot be read
│   ├── UnreadableFile       one file cannot be read or located: it is quarantined
│   ├── ModelFileError       a model file is missing or is not the expected one
│   ├── ProviderError        an embedder, reranker or writer refused or answered wrongly
│   ├── IndexFault          the index does not fit what is asked of it
│   ├── RunRefused           an ingest run stopped before it touched the index
│   ├── StorageFull          the disk has no room left for what is to be written
│   ├── BackupError          a backup is damaged, or does not fit where it is to be restored
│   └── DatasetError         a data set for measuring is missing or broken
└── TransientError           the same call may succeed later; only these are retried
    ├── ProviderUnavailable  timeout, 429 or 5xx, with the wait the provider asked for
    ├── DatabaseDown         PostgreSQL does not answer
    └── IndexDown            Qdrant does not answer
"""

from __future__ import annotations


class AskbookError(Exception):
    """Base of everything askbook raises on purpose; `str(error)` is fit to print."""


class TerminalError(AskbookError):
    """Trying again changes nothing."""


class TransientError(AskbookError):
    """The same call may succeed later."""


class WrongUse(TerminalError):
    """The command or call was given arguments that make no sense together."""


class SettingsError(TerminalError):
    """A setting is missing or has an impossible value."""


class BookError(TerminalError):
    """The book folder cannot be used as a book."""


class UnreadableFile(TerminalError):
    """One file of the book cannot be read, parsed or located.

    `reason` says what is wrong and what to do; `line` (1-based) says where, when known.
    """

    def __init__(self, source_file: str, reason: str, line: int | None = None) -> None:
        self.source_file = source_file
        self.reason = reason
        self.line = line
        where = f"{source_file}:{line}" if line else source_file
        super().__init__(f"{where}: {reason}")

    def __reduce__(self) -> tuple[type[UnreadableFile], tuple[str, str, int | None]]:
        """So that it comes back whole from a worker in another process."""
        return type(self), (self.source_file, self.reason, self.line)


class ModelFileError(TerminalError):
    """A model file is missing or is not the file askbook was measured with."""


class ProviderError(TerminalError):
    """A provider refused the call or answered something that cannot be used."""


class IndexFault(TerminalError):
    """The vector index does not fit what is asked of it."""


class RunRefused(TerminalError):
    """An ingest run stopped before it touched the index."""


class StorageFull(TerminalError):
    """The disk has no room left; somebody must make some."""


class BackupError(TerminalError):
    """A backup cannot be made, is damaged, or does not fit where it is to be restored."""


class DatasetError(TerminalError):
    """A file of a data set is missing or broken; the message names file:line and field."""


class ProviderUnavailable(TransientError):
    """A provider timed out, is overloaded or limits us; `retry_after` is in seconds."""

    def __init__(self, message: str, retry_after: float | None = None) -> None:
        self.retry_after = retry_after
        super().__init__(message)


class DatabaseDown(TransientError):
    """PostgreSQL does not answer."""


class IndexDown(TransientError):
    """The Qdrant server does not answer."""
