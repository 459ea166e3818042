"""Lines of JSON with checked fields; what is wrong is named by file, line and field."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from askbook.book.source import decode
from askbook.errors import DatasetError, UnreadableFile


@dataclass(frozen=True, slots=True)
class Record:
    """One JSON object and its place, such as "questions.jsonl:12" or "...:12, answers[0]"."""

    where: str
    fields: Mapping[str, object]

    def fault(self, name: str, problem: str, advice: str) -> DatasetError:
        """The error to raise about one field."""
        return DatasetError(f'{self.where}: field "{name}" {problem}; {advice}')

    def has(self, name: str) -> bool:
        """Tell whether the field is there and not null."""
        return self.fields.get(name) is not None

    def words(self, name: str) -> str:
        """A string that may be empty."""
        value = self._value(name)
        if not isinstance(value, str):
            raise self._wrong(name, value, "a string")
        return value

    def key(self, name: str) -> str:
        """An id: a string, or a whole number, as some data sets have it."""
        value = self._value(name)
        is_number = isinstance(value, int) and not isinstance(value, bool)
        return str(value) if is_number else self.text(name)

    def text(self, name: str) -> str:
        """A string with something in it."""
        value = self.words(name)
        if not value.strip():
            raise self.fault(name, "is empty", "write the text or remove the record")
        return value

    def choice(self, name: str, allowed: Collection[str]) -> str:
        """One of the allowed strings."""
        value = self.text(name)
        if value not in allowed:
            raise self.fault(name, f'is "{value}"', f"use one of: {', '.join(allowed)}")
        return value

    def number(self, name: str) -> int:
        """An integer."""
        value = self._value(name)
        if not isinstance(value, int) or isinstance(value, bool):
            raise self._wrong(name, value, "an integer")
        return value

    def flag(self, name: str) -> bool:
        """True or false."""
        value = self._value(name)
        if not isinstance(value, bool):
            raise self._wrong(name, value, "true or false")
        return value

    def span(self, start: str, end: str, within: str) -> tuple[int, int]:
        """Two offsets in code points that enclose something inside a text."""
        first, last = self.number(start), self.number(end)
        if not 0 <= first < last <= len(within):
            raise self.fault(
                end,
                f"and {start} are {last} and {first} in a text of {len(within)} code points",
                f"give 0 <= {start} < {end} <= the text's length",
            )
        return first, last

    def texts(self, name: str) -> tuple[str, ...]:
        """A list of strings."""
        values = self._list(name)
        for value in values:
            if not isinstance(value, str):
                raise self._wrong(name, value, "a list of strings")
        return tuple(str(value) for value in values)

    def records(self, name: str) -> tuple[Record, ...]:
        """A list of objects."""
        places = ((f"{self.where}, {name}[{i}]", each) for i, each in enumerate(self._list(name)))
        return tuple(_record(where, value) for where, value in places)

    def record(self, name: str) -> Record:
        """An object inside this one."""
        return _record(f"{self.where}, {name}", self._value(name))

    def only(self, known: Collection[str]) -> None:
        """Refuse fields that nobody reads: they are mostly misspelled."""
        for name in self.fields:
            if name not in known:
                raise self.fault(name, "is not known", f"use some of: {', '.join(known)}")

    def _value(self, name: str) -> object:
        if name not in self.fields:
            raise self.fault(name, "is missing", "add it or remove the record")
        return self.fields[name]

    def _list(self, name: str) -> list[object]:
        value = self._value(name)
        if not isinstance(value, list):
            raise self._wrong(name, value, "a list")
        return value

    def _wrong(self, name: str, value: object, wanted: str) -> DatasetError:
        return self.fault(name, f"is {json.dumps(value)[:60]}", f"make it {wanted}")


def read_records(path: Path) -> list[Record]:
    """The objects of a JSON Lines file, one a line; blank lines are passed over."""
    lines = read_text(path).removeprefix("\ufeff").split("\n")  # U+2028 is no end of line here
    records = [
        _record(f"{path}:{number}", _parse(line, f"{path}:{number}"))
        for number, line in enumerate(lines, 1)
        if line.strip()
    ]
    if not records:
        raise DatasetError(f"{path}: the file is empty; write one JSON object a line")
    return records


def by_id(records: Iterable[Record], name: str) -> dict[str, Record]:
    """Records under their ids, in order; an id that stands twice is refused."""
    found: dict[str, Record] = {}
    for record in records:
        key = record.key(name)
        if key in found:
            raise record.fault(
                name, f'is "{key}" as in {found[key].where}', "give each record an id of its own"
            )
        found[key] = record
    return found


def read_text(path: Path) -> str:
    """The text of a UTF-8 file, line ends and all."""
    try:
        return decode(read_bytes(path), str(path))
    except UnreadableFile as error:
        raise DatasetError(str(error)) from error


def read_bytes(path: Path) -> bytes:
    """The bytes of a file of a data set."""
    try:
        return path.read_bytes()
    except OSError as error:
        raise DatasetError(
            f"{path}: cannot be read ({error.strerror}); "
            "check the path, or fetch the data set again"
        ) from error


def _parse(line: str, where: str) -> object:
    try:
        return json.loads(line)
    except (ValueError, RecursionError) as error:
        raise DatasetError(
            f"{where}: not valid JSON ({error}); write one JSON object a line"
        ) from error


def _record(where: str, value: object) -> Record:
    if not isinstance(value, dict):
        raise DatasetError(
            f"{where}: {json.dumps(value)[:60]} is no JSON object; put the fields in braces"
        )
    return Record(where, value)
