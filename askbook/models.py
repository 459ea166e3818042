"""The values that travel along both rivers. All are frozen; none knows a framework."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Literal

PROFICIENCY_LEVELS = ("A1", "A2", "B1", "B2", "C1", "C2")
LAYERS = ("L1", "L2", "L3", "L4")
HARDWARE_TIERS = (1, 2, 3, 4)
DIFFICULTIES = ("beginner", "intermediate", "advanced")


@dataclass(frozen=True, slots=True)
class Lesson:
    """One file of the book and where it stands: what all its chunks inherit."""

    book_id: str
    source_file: str  # relative to the book's folder, with forward slashes
    source_file_hash: str  # SHA-256 of the file's bytes, hex
    module: str
    chapter: int
    lesson: int
    chapter_id: str  # e.g. "module-1-ros2/chapter-2-nodes"; the path for other layouts
    chapter_title: str
    title_is_written: bool  # False where the title was guessed from the file's name
    location: str  # what ids are made from: "module:chapter:lesson", or the path
    hardware_tier: int = 1
    proficiency_level: str = "A2"
    layer: str = "L1"
    difficulty: str | None = None
    tags: tuple[str, ...] = ()
    page_number: int | None = None


@dataclass(frozen=True, slots=True)
class Chunk:
    """A piece of a lesson: its text, its exact place in the source, its neighbours."""

    id: str
    text: str
    lesson: Lesson
    parent_doc_id: str
    chunk_index: int
    total_chunks: int
    prev_chunk_id: str | None
    next_chunk_id: str | None
    section_title: str | None  # the nearest heading above or at the start of the chunk
    section_id: str | None  # that heading's Docusaurus anchor
    heading_path: tuple[str, ...]  # headings from the top of the page down to section_title
    start_char_offset: int  # code points into the decoded file
    end_char_offset: int
    content_hash: str  # SHA-256 of `text`, hex
    word_count: int
    token_count: int  # cl100k_base
    char_count: int

    @property
    def embedded_text(self) -> str:
        """What the embedder sees: chapter title › section heading, then the text.

        A title guessed from the file's name is left out, so that renaming a file
        never changes what was embedded.
        """
        titles = [self.lesson.chapter_title] if self.lesson.title_is_written else []
        if self.section_title and self.section_title not in titles:
            titles.append(self.section_title)
        return " › ".join(titles) + "\n\n" + self.text if titles else self.text


@dataclass(frozen=True, slots=True)
class ChunkSettings:
    """How long chunks are, in cl100k_base tokens."""

    preset: str
    target_tokens: int
    max_tokens: int
    min_tokens: int
    overlap_tokens: int = 0


class Mode(StrEnum):
    """How an ingest run treats what is already indexed."""

    INCREMENTAL = "incremental"  # only what changed
    FULL = "full"  # every file again, in place
    RECREATE = "recreate"  # a new index built aside and swapped in


class Action(StrEnum):
    """What an ingest run does with one file."""

    NEW = "new"
    MODIFIED = "modified"
    MOVED = "moved"
    DELETED = "deleted"
    UNCHANGED = "unchanged"
    QUARANTINED = "quarantined"


@dataclass(frozen=True, slots=True)
class Document:
    """One indexed file, as PostgreSQL remembers it."""

    book_id: str
    file_path: str
    content_hash: str
    chunk_ids: tuple[str, ...]
    module: str
    chapter: int
    lesson: int
    location: str
    embedding_model: str
    chunker: str
    last_indexed_at: datetime

    @property
    def chunk_count(self) -> int:
        """Number of chunks the index holds of this file."""
        return len(self.chunk_ids)


@dataclass(frozen=True, slots=True)
class ChunkFilter:
    """Which chunks a search may return. Every given condition must hold."""

    book_id: str | None = None
    max_hardware_tier: int | None = None
    module: str | None = None
    chapter_min: int | None = None
    chapter_max: int | None = None
    lesson: int | None = None
    proficiency_levels: tuple[str, ...] = ()  # any of these
    layer: str | None = None
    parent_doc_id: str | None = None
    difficulty: str | None = None
    tags: tuple[str, ...] = ()  # any of these
    source_file: str | None = None
    chapter_id: str | None = None
    overlaps: tuple[int, int] | None = None  # a range of code points [start, end)
    embedded_hashes: tuple[str, ...] = ()  # any of these: finds vectors to reuse


@dataclass(frozen=True, slots=True)
class WordWeights:
    """What BM25 made of a text: numbers of words and their weights."""

    indices: list[int]
    values: list[float]


@dataclass(frozen=True, slots=True)
class IndexPoint:
    """A chunk as the index stores it: vector, the text BM25 sees, payload."""

    id: str
    vector: list[float]
    lexical_text: str
    payload: dict[str, object]
    words: WordWeights | None = None  # known already: then `lexical_text` is not looked at


@dataclass(frozen=True, slots=True)
class StoredChunk:
    """What the index holds under one id."""

    id: str
    payload: dict[str, object]
    vector: list[float] | None = None
    words: WordWeights | None = None


@dataclass(frozen=True, slots=True)
class Hit:
    """A found chunk. `score` orders hits of one search; `similarity` is the cosine."""

    id: str
    score: float
    similarity: float
    payload: dict[str, object]


@dataclass(frozen=True, slots=True)
class IndexVersion:
    """One version of the index that readers can be sent to."""

    name: str
    created_at: datetime
    points: int
    current: bool
    embedding_model: str
    dimensions: int


@dataclass(frozen=True, slots=True)
class Source:
    """A numbered passage that an answer may be made from."""

    number: int  # as in [Source 1]
    hit: Hit | None  # its place in the book; None for a selection from elsewhere
    passage: str | None = None  # what the reader selected, where that alone may be used

    @property
    def text(self) -> str:
        """The words an answer may be made from."""
        return self.passage if self.passage is not None else str(self.payload.get("text", ""))

    @property
    def payload(self) -> dict[str, object]:
        """What the index holds of its place."""
        return self.hit.payload if self.hit else {}


@dataclass(frozen=True, slots=True)
class Message:
    """One turn of a conversation, or one part of a prompt."""

    role: Literal["system", "user", "assistant"]
    content: str


@dataclass(frozen=True, slots=True)
class Question:
    """What a reader asks, of which part of the book, after which conversation."""

    text: str
    where: ChunkFilter = field(default_factory=ChunkFilter)
    top_k: int | None = None  # passages to answer from; None: the setting
    history: tuple[Message, ...] = ()  # oldest first; the last five pairs are used
    selected_text: str | None = None  # then this alone is the context
    broaden: bool = False  # look without filters where they leave nothing


@dataclass(frozen=True, slots=True)
class Prompt:
    """What a writer gets: the question, the only passages it may use, and both as messages."""

    question: str
    sources: tuple[Source, ...]
    messages: tuple[Message, ...] = ()  # for writers that are language models
    max_tokens: int = 512  # of the answer


@dataclass(slots=True)
class Usage:
    """Tokens a writer was paid for, counted up while it writes."""

    prompt_tokens: int = 0
    completion_tokens: int = 0


@dataclass(frozen=True, slots=True)
class Citation:
    """Where a sentence of an answer comes from."""

    chapter_title: str
    section: str | None
    source_file: str
    anchor: str | None
    start_char_offset: int
    end_char_offset: int
    excerpt: str
    score: float
    chunk_id: str
    chapter_id: str


@dataclass(frozen=True, slots=True)
class Released:
    """A part of an answer that passed its check: readers may see it now."""

    text: str


@dataclass(frozen=True, slots=True)
class Withheld:
    """A sentence that readers do not see, and why."""

    text: str
    reason: str


@dataclass(frozen=True, slots=True)
class Answer:
    """A checked answer, or a refusal: then there are no citations and confidence is 0."""

    answer: str
    citations: tuple[Citation, ...]
    confidence: float
    refused: bool
    mode: str  # "rag" or "selected_text"
    withheld: tuple[Withheld, ...] = ()  # sentences that were not supported and are not shown
    parts: dict[str, str | None] = field(default_factory=dict)  # what made it, by role
    notes: tuple[str, ...] = ()  # what a reader should know, e.g. that filters left nothing
    usage: Usage = field(default_factory=Usage)
    seconds: dict[str, float] = field(default_factory=dict)  # wall time by stage
