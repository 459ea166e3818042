"""Versions of an embedded index on disk: folders, the CURRENT pointer, the lock.

<collection>/CURRENT             the name of the version that readers open
<collection>/versions/v000007/   one version: the engine's files and version.json
<collection>/building-…/         a draft; left-overs of killed runs are swept away
<collection>/LOCK                held while a draft is built and published
"""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import stat
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any  # version.json

from askbook.errors import IndexFault
from askbook.index import integrity
from askbook.index.extents import extents
from askbook.models import IndexVersion

_FICLONE = 0x40049409  # ioctl: share the blocks of another file (btrfs, xfs, …)


class VersionFolder:
    """The folder of one collection."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self._versions = root / "versions"
        self._pointer = root / "CURRENT"

    def signature(self) -> tuple[int, int] | None:
        """Changes whenever CURRENT was swung; costs one `stat`."""
        try:
            info = self._pointer.stat()
        except FileNotFoundError:
            return None
        return info.st_mtime_ns, info.st_ino

    def current(self) -> str | None:
        """Name of the published version, if there is one."""
        try:
            return self._pointer.read_text(encoding="ascii").strip()
        except FileNotFoundError:
            return None

    def path(self, name: str) -> Path:
        """Where a version lies."""
        return self._versions / name

    def names(self) -> list[str]:
        """All versions, oldest first."""
        if not self._versions.is_dir():
            return []
        return sorted(p.name for p in self._versions.iterdir() if (p / integrity.FACTS).is_file())

    def describe(self, name: str) -> IndexVersion:
        """What `version.json` says."""
        facts = self._facts(name)
        return IndexVersion(
            name=name,
            created_at=datetime.fromisoformat(facts["created_at"]),
            points=facts["points"],
            current=name == self.current(),
            embedding_model=facts["embedding_model"],
            dimensions=facts["dimensions"],
        )

    def damage(self, name: str) -> str | None:
        """What is not as it was published; None where every byte is."""
        try:
            return integrity.damage(self.path(name), self._facts(name).get("sha256", {}))
        except IndexFault as error:
            return str(error)

    def _facts(self, name: str) -> dict[str, Any]:
        try:
            facts = json.loads((self.path(name) / integrity.FACTS).read_text(encoding="utf-8"))
            return dict(facts)
        except (OSError, ValueError, TypeError) as error:
            raise IndexFault(f"{integrity.FACTS} of {name} cannot be read") from error

    @contextmanager
    def lock(self) -> Iterator[None]:
        """Wait for, then hold, the right to build and publish in this collection."""
        self.root.mkdir(parents=True, exist_ok=True)
        with (self.root / "LOCK").open("w") as handle:
            fcntl.flock(handle, fcntl.LOCK_EX)  # released by the kernel, also after kill -9
            yield

    def new_draft(self, base: str | None) -> Path:
        """A folder to build in: a copy of `base`, or empty. Call under the lock."""
        for left_over in self.root.glob("building-*"):
            shutil.rmtree(left_over, ignore_errors=True)
        draft = self.root / f"building-{uuid.uuid4().hex[:12]}"
        if base is None:
            draft.mkdir()
        else:
            copy_tree(self.path(base), draft)
        return draft

    def publish(self, draft: Path, *, points: int, embedding_model: str, dimensions: int) -> str:
        """Turn a finished draft into the current version. Call under the lock."""
        taken = [int(name[1:]) for name in self.names()]
        name = f"v{max(taken, default=0) + 1:06d}"
        facts = {
            "created_at": datetime.now(UTC).isoformat(),
            "points": points,
            "embedding_model": embedding_model,
            "dimensions": dimensions,
            "sha256": integrity.checksums(draft),
        }
        (draft / integrity.FACTS).write_text(json.dumps(facts), encoding="utf-8")
        sync_tree(draft)
        self._versions.mkdir(exist_ok=True)
        draft.rename(self.path(name))
        self.point_to(name)
        return name

    def point_to(self, name: str) -> None:
        """Swing CURRENT with one atomic rename."""
        if name not in self.names():
            known = ", ".join(self.names()) or "none"
            raise IndexFault(f"There is no index version {name!r}; there are: {known}")
        aside = self.root / f"CURRENT.{uuid.uuid4().hex[:8]}"
        with aside.open("w", encoding="ascii") as handle:
            handle.write(name + "\n")
            handle.flush()
            os.fsync(handle.fileno())
        aside.replace(self._pointer)
        _sync_folder(self.root)

    def prune(self, keep: int) -> None:
        """Remove all but the newest `keep` versions, never the current one."""
        current = self.current()
        for name in self.names()[:-keep]:
            if name != current:
                shutil.rmtree(self.path(name), ignore_errors=True)


def copy_tree(source: Path, target: Path) -> None:
    """Copy a version: shared blocks where the file system can, holes kept as holes.

    The engine preallocates: a version of 0.4 MB of data may be 116 MB long.
    """
    target.mkdir()
    for entry in source.iterdir():
        if entry.name.startswith(".") or entry.name == integrity.FACTS:
            continue  # a reader's half-written temporary file; the draft gets its own facts
        if entry.is_dir():
            copy_tree(entry, target / entry.name)
        else:
            _copy_file(entry, target / entry.name)


def _copy_file(source: Path, target: Path) -> None:
    with source.open("rb") as reader, target.open("wb") as writer:
        try:
            fcntl.ioctl(writer, _FICLONE, reader.fileno())
        except OSError:
            _copy_extents(reader.fileno(), writer.fileno())


def _copy_extents(reader: int, writer: int) -> None:
    """Copy only the parts of a sparse file that hold data."""
    for start, end in extents(reader):
        os.lseek(reader, start, os.SEEK_SET)
        os.lseek(writer, start, os.SEEK_SET)
        left = end - start
        while left and (piece := os.read(reader, min(left, 1 << 20))):
            os.write(writer, piece)
            left -= len(piece)
    os.ftruncate(writer, os.fstat(reader).st_size)


def sync_tree(folder: Path) -> None:
    """Make everything below `folder` durable before it is published."""
    for path in folder.rglob("*"):
        if stat.S_ISREG(path.stat().st_mode):
            descriptor = os.open(path, os.O_RDONLY)
            try:
                os.fsync(descriptor)
            finally:
                os.close(descriptor)
    _sync_folder(folder)


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
