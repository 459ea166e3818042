"""Frontmatter values of any reasonable spelling and type, as the ones the index knows."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final, NoReturn

from askbook.book.frontmatter import Frontmatter
from askbook.errors import UnreadableFile
from askbook.models import DIFFICULTIES, HARDWARE_TIERS, LAYERS, PROFICIENCY_LEVELS

CHAPTERS: Final = range(21)
LESSONS: Final = range(16)

# What a key may be called, with case, "-", "_" and spaces ignored; the first one found counts.
_SPELLINGS: Final[Mapping[str, tuple[str, ...]]] = {
    "hardware_tier": ("hardwaretier", "minhardwaretier", "tier"),
    "proficiency_level": ("proficiencylevel", "proficiency", "cefrlevel", "cefr"),
    "layer": ("layer", "teachinglayer"),
    "difficulty": ("difficulty", "difficultylevel"),
    "module": ("module", "modulename", "moduleid", "modulenumber"),
    "chapter": ("chapter", "chapternumber", "chapterno"),
    "lesson": ("lesson", "lessonnumber", "lessonno"),
    "chapter_title": ("chaptertitle",),
    "title": ("title", "sidebarlabel", "linktitle"),
    "tags": ("tags",),
    "keywords": ("keywords",),
    "page_number": ("pagenumber", "page"),
    "draft": ("draft",),
}
_WRAPPERS: Final = ("metadata", "meta", "params", "extra", "custom", "personalization", "askbook")
_AMBIGUOUS: Final = {"tier", "page"}  # words here mean something else; numbers are ours
_NUMBER: Final = re.compile(r"(?:[a-z]+\.?[\s:#_]*-?)??[\s]*(-?\d+(?:\.\d+)?)(?!\d)", re.IGNORECASE)
_LEVEL: Final = re.compile(r"(?<![a-z0-9])([abc][12])(?![0-9a-z])", re.IGNORECASE)
_LEVEL_WORDS: Final = {
    "beginner": "A1", "elementary": "A2", "intermediate": "B1", "upper intermediate": "B2",
    "advanced": "C1", "proficient": "C2", "expert": "C2",
}  # fmt: skip
_DIFFICULTY_WORDS: Final = {
    "beginner": "beginner", "beginners": "beginner", "easy": "beginner", "basic": "beginner",
    "basics": "beginner", "introductory": "beginner", "intro": "beginner", "novice": "beginner",
    "elementary": "beginner", "simple": "beginner", "low": "beginner", "1": "beginner",
    "intermediate": "intermediate", "medium": "intermediate", "moderate": "intermediate",
    "normal": "intermediate", "2": "intermediate", "advanced": "advanced", "hard": "advanced",
    "difficult": "advanced", "challenging": "advanced", "expert": "advanced", "high": "advanced",
    "3": "advanced",
}  # fmt: skip
_WORDS: Final = re.compile(r"[a-z]+|\d+")


@dataclass(frozen=True, slots=True)
class Given:
    """The frontmatter of one file, asked by meaning instead of by spelling."""

    source_file: str
    frontmatter: Frontmatter
    by_plain_key: Mapping[str, tuple[str, object]]  # "hardwaretier" -> key as written, value

    @classmethod
    def of(cls, source_file: str, frontmatter: Frontmatter) -> Given:
        """Index the keys by their plain spelling; those inside `metadata:` and the like too."""
        top = {_plain(key): (key, value) for key, value in reversed(list(frontmatter.data.items()))}
        inner = {
            _plain(name): (f"{key}.{name}", value)
            for wrapper in _WRAPPERS
            for key, inside in [top.get(wrapper, ("", None))]
            if isinstance(inside, dict)
            for name, value in reversed(inside.items())
        }
        return cls(source_file, frontmatter, inner | top)

    def find(self, meaning: str) -> tuple[str, object] | None:
        """Return the key as written and its value, unless it is missing or empty."""
        for spelling in _SPELLINGS[meaning]:
            key, value = self.by_plain_key.get(spelling, ("", None))
            if value is not None and value not in ("", [], {}):
                return key, value
        return None

    def tier(self) -> int:
        """Return the lowest hardware tier named; 1 without one."""
        found = self.find("hardware_tier")
        if not found:
            return HARDWARE_TIERS[0]
        number = self._number(*found)
        if number is None and found[0].rpartition(".")[2].lower() in _AMBIGUOUS:
            return HARDWARE_TIERS[0]
        if number not in HARDWARE_TIERS:
            self._refuse(*found, "1, 2, 3 or 4")
        return int(number)

    def level(self) -> str:
        """Return the lowest CEFR level named; A2 without one."""
        found = self.find("proficiency_level")
        if not found:
            return "A2"
        text = " ".join(str(part) for part in _parts(found[1]))
        levels = [level.upper() for level in _LEVEL.findall(text)]
        levels += [
            _LEVEL_WORDS[w] for w in re.split(r"\s*[-–,/]\s*", text.lower()) if w in _LEVEL_WORDS
        ]
        if not levels:
            self._refuse(*found, ", ".join(PROFICIENCY_LEVELS))
        return str(min(levels))

    def layer(self) -> str:
        """Return the lowest teaching layer named; L1 without one."""
        found = self.find("layer")
        if not found:
            return LAYERS[0]
        layer = f"L{self._number(*found)}"
        return layer if layer in LAYERS else self._refuse(*found, ", ".join(LAYERS))

    def difficulty(self) -> str | None:
        """Return the easiest difficulty named; None without one."""
        found = self.find("difficulty")
        if not found:
            return None
        words = _WORDS.findall(" ".join(str(part) for part in _parts(found[1])).lower())
        named = [_DIFFICULTY_WORDS[word] for word in words if word in _DIFFICULTY_WORDS]
        return (
            min(named, key=DIFFICULTIES.index)
            if named
            else self._refuse(*found, ", ".join(DIFFICULTIES))
        )

    def number(self, meaning: str, allowed: range) -> int | None:
        """Return a chapter or lesson number. Words without a number are a name, not one."""
        found = self.find(meaning)
        number = self._number(*found) if found else None
        if found and number is None and isinstance(found[1], bool | dict | list):
            self._refuse(*found, f"{allowed.start} to {allowed.stop - 1}")
        if found and number is not None and number not in allowed:
            self._refuse(*found, f"{allowed.start} to {allowed.stop - 1}")
        return None if number is None else int(number)

    def page_number(self) -> int | None:
        """Return the printed page, when a positive one is given."""
        found = self.find("page_number")
        number = self._number(*found) if found else None
        return int(number) if number and number > 0 and number == int(number) else None

    def words(self, meaning: str) -> str | None:
        """Return a value that is to be read as words, on one line."""
        found = self.find(meaning)
        if not found or isinstance(found[1], dict | list | bool):
            return None
        return " ".join(str(found[1]).split()) or None

    def tags(self) -> tuple[str, ...]:
        """Return tags, or else keywords: a list, or words separated by commas."""
        found = self.find("tags") or self.find("keywords")
        named = (_tag(part) for part in _parts(found[1], separator=",")) if found else ()
        return tuple(dict.fromkeys(tag for tag in named if tag))

    def is_draft(self) -> bool:
        """Tell whether the page says of itself that it is not to be published."""
        found = self.find("draft")
        return found is not None and str(found[1]).strip().lower() in ("true", "yes", "on", "1")

    def _number(self, key: str, value: object) -> float | int | None:
        if isinstance(value, bool):
            return self._refuse(key, value, "a number")
        numbers = [n for part in _parts(value) if (n := _lowest(part)) is not None]
        return min(numbers, default=None)

    def _refuse(self, key: str, value: object, allowed: str) -> NoReturn:
        lines = self.frontmatter.key_lines
        line = lines.get(key) or lines.get(key.partition(".")[0])
        reason = f"`{key}: {value}` in the frontmatter is outside its range; allowed: {allowed}"
        raise UnreadableFile(self.source_file, reason, line)


def _plain(key: object) -> str:
    return re.sub(r"[\W_]", "", str(key)).lower()


def _parts(value: object, separator: str | None = None) -> Iterable[object]:
    if isinstance(value, list | tuple | set):
        return value
    if separator and isinstance(value, str):
        return value.split(separator)
    return (value,)


def _tag(part: object) -> str:
    if isinstance(part, dict):
        part = part.get("label") or part.get("name") or part.get("permalink") or ""
    return " ".join(str(part).split())


def _lowest(value: object) -> float | int | None:
    """Return the first number: the lower end of "2-3", 2 of "Tier 2+", 1 of "L1 Manual"."""
    if isinstance(value, int | float):
        number = float(value)
    elif isinstance(value, str) and (found := _NUMBER.match(value.strip())):
        number = float(found[1])
    else:
        return None
    return int(number) if number.is_integer() else number
