"""What the index really holds, file by file: the truth that PostgreSQL is compared with."""

from __future__ import annotations

from collections import defaultdict
from datetime import datetime

from askbook.models import ChunkFilter, Document, StoredChunk
from askbook.ports import VectorIndex


def documents_in(index: VectorIndex, book_id: str) -> list[Document]:
    """The book's files as the published index holds them, by path."""
    by_file: dict[str, list[StoredChunk]] = defaultdict(list)
    for stored in index.scroll(ChunkFilter(book_id=book_id)):
        by_file[str(stored.payload["source_file"])].append(stored)
    return [_document(book_id, path, chunks) for path, chunks in sorted(by_file.items())]


def _document(book_id: str, path: str, chunks: list[StoredChunk]) -> Document:
    chunks.sort(key=lambda chunk: int(str(chunk.payload["chunk_index"])))
    payload = chunks[0].payload
    return Document(
        book_id=book_id,
        file_path=path,
        content_hash=str(payload["source_file_hash"]),
        chunk_ids=tuple(chunk.id for chunk in chunks),
        module=str(payload["module"]),
        chapter=int(str(payload["chapter"])),
        lesson=int(str(payload["lesson"])),
        location=str(payload["location"]),
        embedding_model=str(payload["embedding_model"]),
        chunker=str(payload["chunker"]),
        last_indexed_at=max(datetime.fromisoformat(str(c.payload["updated_at"])) for c in chunks),
    )
