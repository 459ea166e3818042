"""Passages as a search returns them, for tests."""

from askbook.models import Hit, Source

TEXT = "A node runs in a process."


def hit(text=TEXT, *, file="a.md", index=0, score=0.5, similarity=0.5, **payload):
    own = {
        "text": text,
        "book_id": "b",
        "source_file": file,
        "chunk_index": index,
        "chapter_title": "Nodes",
        "chapter_id": "ch-1",
        "section_title": "Start",
        "section_id": "start",
        "start_char_offset": 100,
        "end_char_offset": 100 + len(text),
        "prev_chunk_id": None,
        "next_chunk_id": None,
    }
    return Hit(f"{file}-{index}", score, similarity, own | payload)


def source(number, text=TEXT, **payload):
    return Source(number, hit(text, index=number, **payload))
