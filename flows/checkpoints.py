"""Parquet between the stages: written aside, renamed in, readable with plain pandas.

    <checkpoints>/<book_id>/<fingerprint>/plan.parquet
                                          files-0000.parquet    a shard's lessons
                                          chunks-0000.parquet   its chunks
                                          vectors-0000-0000.parquet  a batch of its vectors
                                          COMPLETE              the run ended well

The fingerprint is made of the plan, the chunker and the model, so that a run that was killed is
found again by the run that does the same work. Any location that fsspec knows will do.
"""

from __future__ import annotations

import errno
import hashlib
import logging
import uuid
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass

import fsspec
import pyarrow as pa
import pyarrow.parquet as pq

from askbook.errors import RunRefused, StorageFull

SCHEMA_VERSION = b"1"
_MARK = b"askbook_schema"
_COMPLETE = "COMPLETE"
_log = logging.getLogger("askbook.checkpoints")


class DamagedPart(RunRefused):
    """A part was cut short, altered, or written by another version of askbook."""


def _cannot_write(path: str, error: OSError) -> StorageFull | RunRefused:
    told = f"The checkpoint {path} cannot be written: {error.strerror or error}."
    if error.errno in {errno.ENOSPC, errno.EDQUOT}:
        return StorageFull(f"{told} Free some room and run again: what was embedded is kept.")
    return RunRefused(told)


@dataclass(frozen=True, slots=True)
class Checkpoints:
    """The parts of one run below a folder."""

    folder: str

    def write(self, part: str, table: pa.Table) -> None:
        """Write aside, then rename: a part is there whole, or not at all."""
        files, root = self._open()
        path = f"{root}/{part}.parquet"
        aside = f"{root}/{part}.{uuid.uuid4().hex[:8]}.tmp"
        files.makedirs(root, exist_ok=True)
        stamped = table.replace_schema_metadata({_MARK: SCHEMA_VERSION})
        written = pa.BufferOutputStream()
        pq.write_table(stamped, written, compression="zstd", write_page_checksum=True)
        whole = written.getvalue().to_pybytes()
        try:
            # Parquet's own checksums leave out the footer, column names and all.
            files.pipe_file(f"{root}/{part}.sha256", hashlib.sha256(whole).hexdigest().encode())
            files.pipe_file(aside, whole)
            files.mv(aside, path)
        except OSError as error:
            with suppress(OSError):
                files.rm(aside)
            raise _cannot_write(path, error) from error

    def read(self, part: str, columns: list[str] | None = None) -> pa.Table:
        """A whole part, or some of its columns; raises `DamagedPart` where it cannot be used."""
        files, root = self._open()
        with files.open(f"{root}/{part}.parquet", "rb") as handle:
            try:
                table = pq.read_table(handle, columns=columns, page_checksum_verification=True)
            except (pa.ArrowException, OSError) as error:
                raise DamagedPart(
                    f"The checkpoint {root}/{part}.parquet is damaged ({error}). "
                    "Run again: it is made anew."
                ) from error
        if (table.schema.metadata or {}).get(_MARK) != SCHEMA_VERSION:
            raise DamagedPart(
                f"The checkpoint {root}/{part}.parquet was written by another version of askbook. "
                "Run again: it is made anew."
            )
        return table

    def usable_parts(self, prefix: str) -> list[str]:
        """Names of the parts that begin so and can be read to the end; the others are removed.

        For parts that an earlier run left: what is damaged is made again.
        """
        usable = []
        for part in self.parts(prefix):
            try:
                self._check(part)
                self.read(part)
            except DamagedPart as error:
                _log.warning("%s", error)
                files, root = self._open()
                with suppress(FileNotFoundError):  # another shard may have come first
                    files.rm(f"{root}/{part}.parquet")
            else:
                usable.append(part)
        return usable

    def _check(self, part: str) -> None:
        """Raise unless the part is, to the byte, what was written."""
        files, root = self._open()
        try:
            whole, noted = (files.cat_file(f"{root}/{part}.{end}") for end in ("parquet", "sha256"))
        except OSError as error:
            raise DamagedPart(f"The checkpoint {root}/{part} cannot be read: {error}") from error
        if hashlib.sha256(whole).hexdigest().encode() != noted:
            raise DamagedPart(f"The checkpoint {root}/{part}.parquet is damaged: it is made anew.")

    def parts(self, prefix: str) -> list[str]:
        """Names of the finished parts that begin so, sorted."""
        files, root = self._open()
        if not files.exists(root):
            return []
        names = (entry.rsplit("/", 1)[-1] for entry in files.ls(root, detail=False))
        return sorted(
            name.removesuffix(".parquet")
            for name in names
            if name.startswith(prefix) and name.endswith(".parquet")
        )

    def read_all(self, prefix: str, columns: list[str] | None = None) -> Iterator[pa.Table]:
        """The finished parts that begin so, one at a time."""
        for part in self.parts(prefix):
            yield self.read(part, columns)

    def mark_complete(self) -> None:
        """The work of this run is in the index and recorded."""
        files, root = self._open()
        files.makedirs(root, exist_ok=True)
        files.touch(f"{root}/{_COMPLETE}")

    @property
    def is_complete(self) -> bool:
        """Whether a run ended well with these checkpoints."""
        files, root = self._open()
        return bool(files.exists(f"{root}/{_COMPLETE}"))

    def siblings(self) -> list[Checkpoints]:
        """Other runs of the same book, oldest first."""
        files, root = self._open()
        parent = root.rsplit("/", 1)[0]
        if not files.exists(parent):
            return []
        entries = sorted(
            files.ls(parent, detail=True), key=lambda e: str(e.get("mtime", e.get("created", "")))
        )
        base = self.folder.rsplit("/", 1)[0]
        names = [
            e["name"].rstrip("/").rsplit("/", 1)[-1] for e in entries if e["type"] == "directory"
        ]
        return [Checkpoints(f"{base}/{name}") for name in names if not root.endswith(f"/{name}")]

    def remove(self) -> None:
        """Forget the run."""
        files, root = self._open()
        if files.exists(root):
            files.rm(root, recursive=True)

    def _open(self) -> tuple[fsspec.AbstractFileSystem, str]:
        files, root = fsspec.core.url_to_fs(self.folder)
        return files, root


def prune(current: Checkpoints, keep: int) -> None:
    """Keep the newest `keep` finished runs besides the current one; unfinished ones stay.

    An unfinished run holds vectors that were paid for; when the current run has done its work
    they are in the index, so runs that are older than the kept ones go too.
    """
    others = current.siblings()
    for run in others[: max(len(others) - keep, 0)]:
        run.remove()
