"""A chunk as one flat record: the same fields in the index, in Parquet, and on the command line."""

from __future__ import annotations

import hashlib

from askbook.models import Chunk


def to_record(chunk: Chunk) -> dict[str, object]:
    """All fields of a chunk, by the names of the data contract."""
    lesson = chunk.lesson
    return {
        "id": chunk.id,
        "text": chunk.text,
        "book_id": lesson.book_id,
        "module": lesson.module,
        "chapter": lesson.chapter,
        "lesson": lesson.lesson,
        "location": lesson.location,
        "chapter_id": lesson.chapter_id,
        "chapter_title": lesson.chapter_title,
        "section_title": chunk.section_title,
        "section_id": chunk.section_id,
        "heading_path": list(chunk.heading_path),
        "hardware_tier": lesson.hardware_tier,
        "proficiency_level": lesson.proficiency_level,
        "layer": lesson.layer,
        "difficulty": lesson.difficulty,
        "tags": list(lesson.tags),
        "source_file": lesson.source_file,
        "parent_doc_id": chunk.parent_doc_id,
        "chunk_index": chunk.chunk_index,
        "total_chunks": chunk.total_chunks,
        "prev_chunk_id": chunk.prev_chunk_id,
        "next_chunk_id": chunk.next_chunk_id,
        "start_char_offset": chunk.start_char_offset,
        "end_char_offset": chunk.end_char_offset,
        "page_number": lesson.page_number,
        "content_hash": chunk.content_hash,
        "source_file_hash": lesson.source_file_hash,
        "word_count": chunk.word_count,
        "token_count": chunk.token_count,
        "char_count": chunk.char_count,
    }


def embedded_hash(embedded_text: str, model: str, dimensions: int) -> str:
    """The key under which a vector is used again: exact text, model and dimensions."""
    return hashlib.sha256(f"{model}\0{dimensions}\0{embedded_text}".encode()).hexdigest()
