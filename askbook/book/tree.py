"""The nested blocks of one long block, for cutting inside it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from askbook.book.html import PARSER, flattened
from askbook.book.offsets import Offsets
from askbook.book.parse import KINDS, Kind

_DEEPEST: Final = 32  # blocks nested deeper are taken as the text of the one around them


@dataclass(slots=True)
class Node:
    """A block, from the start of its first line, and the blocks inside it."""

    kind: Kind
    start: int
    stop: int
    children: list[Node] = field(default_factory=list)


def block_tree(text: str) -> list[Node]:
    """Return the outermost blocks of `text`, each with its children."""
    root = Node(Kind.OTHER, 0, len(text))
    stack: list[Node | None] = []
    nodes: list[Node] = []
    parents = [root]
    for event, span in PARSER.events_with_range(flattened(text), merge_text=True):
        if not isinstance(event, dict):
            continue
        if (opening := event.get("Start")) is not None:
            kind = _kind(opening) if len(stack) < _DEEPEST else None
            node = Node(kind, span["start"], span["end"]) if kind else None
            stack.append(node)
            if node:
                parents[-1].children.append(node)
                parents.append(node)
                nodes.append(node)
        elif "End" in event and stack.pop() is not None:
            parents.pop()
    _to_lines(text, nodes)
    return root.children


def _kind(opening: object) -> Kind | None:
    name = str(next(iter(opening))) if isinstance(opening, dict) else str(opening)
    if name == "CodeBlock" and isinstance(opening, dict):
        return Kind.CODE if opening[name] == "Indented" else Kind.FENCE
    return KINDS.get(name)


def _to_lines(text: str, nodes: list[Node]) -> None:
    offsets = Offsets(text)
    starts = offsets.to_points([node.start for node in nodes])
    stops = offsets.to_points([node.stop for node in nodes])
    line = 0  # nodes come in order of their start
    for node, start, stop in zip(nodes, starts, stops, strict=True):
        line = max(line, text.rfind("\n", line, start) + 1)
        node.start, node.stop = line, stop
