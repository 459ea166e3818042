"""From a file's bytes to text, or to a reason why not that a person can act on."""

from __future__ import annotations

from askbook.errors import UnreadableFile

MAX_FILE_BYTES = 20_000_000

_UTF16_MARKS = (b"\xff\xfe", b"\xfe\xff")


def check_size(size: int, source_file: str, limit: int = MAX_FILE_BYTES) -> None:
    """Refuse a file longer than `limit` bytes, before it is read."""
    if size > limit:
        raise UnreadableFile(
            source_file,
            f"the file has {size:,} bytes, more than the limit of {limit:,}; "
            "split it, leave it out, or raise the limit",
        )


def decode(raw: bytes, source_file: str) -> str:
    """Return the text of a UTF-8 file; a byte order mark stays as code point 0."""
    if raw.startswith(_UTF16_MARKS):
        raise UnreadableFile(source_file, "the file is UTF-16; save it as UTF-8", 1)
    nul = raw.find(b"\0")
    if nul >= 0:
        raise UnreadableFile(
            source_file,
            "the file is binary (it holds NUL bytes); leave it out or save it as UTF-8 text",
            _line_of(raw, nul),
        )
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError as error:
        raise UnreadableFile(
            source_file,
            f"byte 0x{raw[error.start]:02x} at offset {error.start:,} is not valid UTF-8; "
            "save the file as UTF-8",
            _line_of(raw, error.start),
        ) from error


def _line_of(raw: bytes, offset: int) -> int:
    return raw.count(b"\n", 0, offset) + 1
