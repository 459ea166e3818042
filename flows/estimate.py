"""What a run would embed and what it would cost, without writing anything: `--dry-run`."""

from __future__ import annotations

from dataclasses import dataclass

from askbook.book.tokens import count_tokens
from askbook.models import ChunkFilter
from askbook.providers.prices import PRICES
from flows.chunk import records_of
from flows.diff import Plan
from flows.run import RunSpec

_LOOKUP = 256  # hashes a lookup in the index
_PREVIEWS = 20  # changed texts whose first line is shown
_PREVIEW_LENGTH = 80


@dataclass(frozen=True, slots=True)
class Estimate:
    """Chunks to embed and to reuse, tokens, and what they would cost by model, in USD."""

    chunks: int
    embed: int
    reuse: int
    tokens: int
    usd: dict[str, float]
    first_lines: dict[str, list[str]]  # by file: how the texts to embed begin


def estimate(spec: RunSpec, plan: Plan) -> Estimate:
    """Cut every file of the plan and look up which texts have vectors. One file at a time."""
    chunks = reuse = tokens = 0
    wanted: set[str] = set()
    first_lines: dict[str, list[str]] = {}
    for step in plan.to_index:
        if step.lesson is None:
            continue
        texts = {
            str(record["embedded_hash"]): (str(record["embedded_text"]), str(record["text"]))
            for record in records_of(spec, step.lesson)
        }
        chunks += len(texts)
        known = _known(spec, list(texts))
        reuse += len(known)
        for key, (embedded_text, text) in texts.items():
            if key in known or key in wanted:
                continue
            tokens += count_tokens(embedded_text)
            if sum(map(len, first_lines.values())) < _PREVIEWS:
                first_lines.setdefault(step.source_file, []).append(_first_line(text))
        wanted |= texts.keys() - known
    usd = {model: round(tokens * price / 1e6, 4) for model, price in PRICES.items()}
    return Estimate(chunks, len(wanted), reuse, tokens, usd, first_lines)


def _known(spec: RunSpec, keys: list[str]) -> set[str]:
    found: set[str] = set()
    for start in range(0, len(keys), _LOOKUP):
        where = ChunkFilter(embedded_hashes=tuple(keys[start : start + _LOOKUP]))
        found |= {str(each.payload["embedded_hash"]) for each in spec.parts.index.scroll(where)}
    return found


def _first_line(text: str) -> str:
    line = next((line for line in text.splitlines() if line.strip()), "")
    return line if len(line) <= _PREVIEW_LENGTH else line[:_PREVIEW_LENGTH] + "…"
