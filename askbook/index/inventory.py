"""What the index really holds, file by file: the truth that PostgreSQL is compared with."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from datetime import datetime
from typing import Any  # payloads are JSON

from askbook.models import ChunkFilter, Document, StoredChunk
from askbook.ports import VectorIndex


@dataclass(frozen=True, slots=True)
class HeldFile:
    """A file as the index holds it, and what is wrong with its chunks, if anything."""

    document: Document
    defect: str | None


def files_in(index: VectorIndex, book_id: str) -> list[HeldFile]:
    """The book's files as the published index holds them, by path."""
    by_file: dict[str, list[StoredChunk]] = defaultdict(list)
    for stored in index.scroll(ChunkFilter(book_id=book_id)):
        by_file[str(stored.payload["source_file"])].append(stored)
    return [_held(book_id, path, chunks) for path, chunks in sorted(by_file.items())]


def _held(book_id: str, path: str, chunks: list[StoredChunk]) -> HeldFile:
    payloads: list[tuple[str, dict[str, Any]]] = sorted(
        ((chunk.id, chunk.payload) for chunk in chunks), key=lambda each: each[1]["chunk_index"]
    )
    ids = [chunk_id for chunk_id, _ in payloads]
    first = payloads[0][1]
    document = Document(
        book_id=book_id,
        file_path=path,
        content_hash=first["source_file_hash"],
        chunk_ids=tuple(ids),
        module=first["module"],
        chapter=first["chapter"],
        lesson=first["lesson"],
        location=first["location"],
        embedding_model=first["embedding_model"],
        chunker=first["chunker"],
        last_indexed_at=max(datetime.fromisoformat(p["updated_at"]) for _, p in payloads),
    )
    return HeldFile(document, _defect(ids, [payload for _, payload in payloads]))


def _defect(ids: list[str], payloads: list[dict[str, Any]]) -> str | None:
    """Why these chunks are not one whole file."""
    if any(payload["total_chunks"] != len(ids) for payload in payloads):
        return f"the index holds {len(ids)} of {payloads[0]['total_chunks']} chunks"
    if len({payload["source_file_hash"] for payload in payloads}) > 1:
        return "the index holds chunks of two versions of the file"
    before = [payload["prev_chunk_id"] for payload in payloads]
    after = [payload["next_chunk_id"] for payload in payloads]
    if before != [None, *ids[:-1]] or after != [*ids[1:], None]:
        return "a link of the chain leads nowhere"
    return None
