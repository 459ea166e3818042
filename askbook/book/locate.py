"""Where a file stands in the book: from its frontmatter, then its path, then defaults."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Final

from askbook.book.frontmatter import Frontmatter
from askbook.book.titles import page_heading
from askbook.book.values import CHAPTERS, LESSONS, Given
from askbook.models import Lesson

_MODULE: Final = re.compile(r"module[-_ ]?(\d+)(?:[-_ ]+(.+))?", re.IGNORECASE)
_CHAPTER: Final = re.compile(r"chapter[-_ ]?(\d+)(?:[-_ ].*)?", re.IGNORECASE)
_LESSON: Final = re.compile(r"(?:lesson[-_ ]?)?(\d{1,4})(?:[-_. ].*)?", re.IGNORECASE)
_PREFIX: Final = re.compile(r"(\d{1,4})[-_. ]+(?=\D)")
_OVERVIEWS: Final = {"readme", "index", "_index"}
_MAX_CHAPTER_ID: Final = 100


@dataclass(frozen=True, slots=True)
class _Place:
    """What a path says. `is_laid_out`: module, chapter and lesson are all in it."""

    module: str | None
    chapter: int
    lesson: int
    chapter_id: str
    is_laid_out: bool


def is_left_out(source_file: str, frontmatter: Frontmatter | None = None) -> bool:
    """Tell drafts and files or folders that start with "_" or ".", as Docusaurus does."""
    if any(part.startswith(("_", ".")) for part in source_file.split("/")):
        return True
    return frontmatter is not None and Given.of(source_file, frontmatter).is_draft()


def locate(
    source_file: str, text: str, frontmatter: Frontmatter, book_id: str, source_file_hash: str
) -> Lesson:
    """Return the lesson a file is. `text` is looked into for a title only when needed.

    Raises UnreadableFile naming the key when a frontmatter value is outside its range.
    """
    given = Given.of(source_file, frontmatter)
    place = _read_path(source_file)
    module, chapter, lesson, location = _location(given, place, source_file, book_id)
    title = given.words("chapter_title") or given.words("title")
    title = title or page_heading(text, frontmatter.end)
    return Lesson(
        book_id=book_id,
        source_file=source_file,
        source_file_hash=source_file_hash,
        module=module,
        chapter=chapter,
        lesson=lesson,
        chapter_id=place.chapter_id,
        chapter_title=title or _humanise(source_file),
        title_is_written=title is not None,
        location=location,
        hardware_tier=given.tier(),
        proficiency_level=given.level(),
        layer=given.layer(),
        difficulty=given.difficulty(),
        tags=given.tags(),
        page_number=given.page_number(),
    )


def resolve_collisions(lessons: Iterable[Lesson]) -> list[Lesson]:
    """Let the path stand in wherever two files of one book claim the same location."""
    lessons = list(lessons)
    claims = Counter((lesson.book_id, lesson.location) for lesson in lessons)
    return [
        replace(lesson, location=lesson.source_file)
        if claims[lesson.book_id, lesson.location] > 1
        else lesson
        for lesson in lessons
    ]


def _location(
    given: Given, place: _Place, source_file: str, book_id: str
) -> tuple[str, int, int, str]:
    named = _module_name(given)
    chapter = given.number("chapter", CHAPTERS)
    lesson = given.number("lesson", LESSONS)
    module = named or place.module or _top_folder(source_file) or _slug(book_id) or "book"
    is_told = chapter is not None and lesson is not None and bool(named or place.module)
    chapter = place.chapter if chapter is None else chapter
    lesson = place.lesson if lesson is None else lesson
    located = is_told or place.is_laid_out
    return module, chapter, lesson, f"{module}:{chapter}:{lesson}" if located else source_file


def _module_name(given: Given) -> str | None:
    words = given.words("module")
    if not words or words.replace(".", "").isdigit():  # a bare number: the path knows the name
        return None
    slug = _slug(words)
    found = _MODULE.fullmatch(slug)
    if not found:
        return slug or None
    return found[2]


def _read_path(source_file: str) -> _Place:
    *folders, name = source_file.split("/")
    stem = name.rsplit(".", 1)[0]
    at = next((i for i, part in enumerate(folders) if _MODULE.fullmatch(part)), None)
    if at is None:
        parent = _number(_PREFIX, folders[-1], CHAPTERS) if folders else None
        path = "/".join([*folders, stem])
        lesson = _number(_LESSON, stem, LESSONS) or 0
        return _Place(None, parent or 0, lesson, _short(path), is_laid_out=False)
    inside = folders[at:]
    return _read_module(inside, stem)


def _read_module(inside: list[str], stem: str) -> _Place:
    found = _MODULE.fullmatch(inside[0])
    module = _slug(found[2]) if found and found[2] else _slug(inside[0])
    is_overview = stem.lower() in _OVERVIEWS
    lesson = 0 if is_overview else _number(_LESSON, stem, LESSONS)
    if len(inside) == 1:
        return _Place(module, 0, lesson or 0, _short(inside[0]), is_overview)
    chapter = _number(_CHAPTER, inside[1], CHAPTERS)
    is_laid_out = len(inside) == 2 and chapter is not None and lesson is not None  # noqa: PLR2004
    return _Place(module, chapter or 0, lesson or 0, _short("/".join(inside[:2])), is_laid_out)


def _number(pattern: re.Pattern[str], name: str, allowed: range) -> int | None:
    """Return the number in a file's or folder's name; None beyond the range of the index."""
    found = pattern.match(name) if pattern is _PREFIX else pattern.fullmatch(name)
    return int(found[1]) if found and int(found[1]) in allowed else None


def _top_folder(source_file: str) -> str | None:
    folder, slash, _ = source_file.partition("/")
    return (_slug(_PREFIX.sub("", folder)) or None) if slash else None


def _slug(words: str) -> str:
    return re.sub(r"[\W_]+", "-", words.lower()).strip("-")


def _short(chapter_id: str) -> str:
    if len(chapter_id) <= _MAX_CHAPTER_ID:
        return chapter_id
    digest = hashlib.sha256(chapter_id.encode("utf-8")).hexdigest()[:8]
    return f"{chapter_id[: _MAX_CHAPTER_ID - 9]}-{digest}"


def _humanise(source_file: str) -> str:
    *folders, name = source_file.split("/")
    stem = name.rsplit(".", 1)[0]
    if stem.lower() in _OVERVIEWS and folders:
        stem = folders[-1]
    words = re.sub(r"[-_\s]+", " ", _PREFIX.sub("", stem)).strip()
    return (words[:1].upper() + words[1:]) or name
