"""The metadata block at the top of a page: YAML between `---`, or TOML between `+++`."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

import yaml

from askbook.errors import UnreadableFile

_OPENING: Final = re.compile(r"\ufeff?(---|\+\+\+)[ \t]*\r?\n")
# After a blank line, words that are no `key:` mean that the first `---` is just a rule.
_PROSE: Final = re.compile(r"(?:[ \t]*\r?\n)+(?![ \t]*(?:#|---|[\w\"'-]+[ \t]*[:=](?:\s|$)))")
_TOP_LEVEL_KEY: Final = re.compile(r"^([^\s#:\[\]{}\"'][^:\n]*?)[ \t]*[:=]", re.MULTILINE)
_MAX_DEPTH: Final = 100
_DEPTH_MATTERS_FROM: Final = 500  # fewer structure characters cannot nest dangerously deep
_Base: Final[type[yaml.SafeLoader]] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


@dataclass(frozen=True, slots=True)
class Frontmatter:
    """`data` of the block, and `end`: the code-point offset where the page's body starts."""

    data: Mapping[str, object]
    end: int
    key_lines: Mapping[str, int] = field(default_factory=dict)  # 1-based, top-level keys


class _Loader(_Base):  # type: ignore[misc, valid-type]  # the C loader where it is built
    """Safe YAML that leaves dates as written and takes unknown tags for plain values."""


_Loader.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in rules if tag != "tag:yaml.org,2002:timestamp"]
    for first, rules in _Base.yaml_implicit_resolvers.items()
}


def _unknown_tag(loader: yaml.SafeLoader, _suffix: str, node: yaml.Node) -> object:
    if isinstance(node, yaml.MappingNode):
        return loader.construct_mapping(node, deep=True)
    if isinstance(node, yaml.SequenceNode):
        return loader.construct_sequence(node, deep=True)
    return node.value


_Loader.add_multi_constructor("!", _unknown_tag)


def read_frontmatter(text: str, source_file: str) -> Frontmatter:
    """Read the block at the top of `text`; without one, `data` is empty.

    Raises UnreadableFile, with the line, when the block is not valid or not a mapping.
    """
    opening, closing = _find(text)
    if not opening or not closing:
        return Frontmatter({}, body_start(text))
    block = text[opening.end() : closing.start()]
    data = _load_toml(block, source_file) if opening[1] == "+++" else _load(block, source_file)
    if data is None:
        return Frontmatter({}, closing.end())
    if not isinstance(data, dict):
        reason = f"the frontmatter is {_kind(data)}, not `key: value` lines; write it as such"
        raise UnreadableFile(source_file, f"{reason}, or remove the `---` lines", 2)
    return Frontmatter({str(k): v for k, v in data.items()}, closing.end(), _key_lines(block))


def body_start(text: str) -> int:
    """Return the code-point offset where the page's body starts, without reading the block."""
    _, closing = _find(text)
    return closing.end() if closing else int(text.startswith("\ufeff"))


def _find(text: str) -> tuple[re.Match[str] | None, re.Match[str] | None]:
    opening = _OPENING.match(text)
    if not opening or _PROSE.match(text, opening.end()):
        return None, None
    return opening, _closing(opening[1]).search(text, opening.end())


def _closing(mark: str) -> re.Pattern[str]:
    marks = r"(?:---|\.\.\.)" if mark == "---" else r"\+\+\+"  # YAML may also end with dots
    return re.compile(rf"^{marks}[ \t]*(?:\r?\n|\Z)", re.MULTILINE)


def _load(block: str, source_file: str) -> object:
    try:
        _check_depth(block, source_file)
        return yaml.load(block, _Loader)  # noqa: S506 - a subclass of the safe loader
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 2 if error.problem_mark else None
        problem = error.problem or "it cannot be parsed"
    except yaml.YAMLError as error:  # a character that YAML does not allow
        line, problem = _line_of_position(block, error), "it holds a character YAML does not allow"
    except (ValueError, TypeError, RecursionError) as error:
        line, problem = 2, str(error)
    raise UnreadableFile(
        source_file,
        f"the frontmatter is not valid YAML: {problem}; correct it (quote values)",
        line,
    )


def _check_depth(block: str, source_file: str) -> None:
    # libyaml's composer recurses in C and would end the process on deep nesting.
    if sum(map(block.count, "[{-:?")) < _DEPTH_MATTERS_FROM:
        return
    depth = 0
    for event in yaml.parse(block, _Loader):
        if isinstance(event, yaml.CollectionStartEvent):
            depth += 1
            if depth > _MAX_DEPTH:
                line = event.start_mark.line + 2 if event.start_mark else 2
                raise UnreadableFile(source_file, "the frontmatter is nested too deeply", line)
        elif isinstance(event, yaml.CollectionEndEvent):
            depth -= 1


def _load_toml(block: str, source_file: str) -> object:
    try:
        return tomllib.loads(block.replace("\r\n", "\n"))
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        found = re.search(r"at line (\d+)", str(error))
        line = int(found[1]) + 1 if found else 2
        reason = f"the frontmatter is not valid TOML: {error}; correct it"
        raise UnreadableFile(source_file, reason, line) from error


def _line_of_position(block: str, error: yaml.YAMLError) -> int:
    position = getattr(error, "position", 0)
    return block.count("\n", 0, position if isinstance(position, int) else 0) + 2


def _key_lines(block: str) -> dict[str, int]:
    lines: dict[str, int] = {}
    line, seen = 2, 0
    for found in _TOP_LEVEL_KEY.finditer(block):
        line += block.count("\n", seen, found.start())
        seen = found.start()
        lines.setdefault(found[1], line)
    return lines


def _kind(data: object) -> str:
    if isinstance(data, list):
        return "a list"
    return "plain text" if isinstance(data, str) else "a single value"
