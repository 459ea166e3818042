"""How well passages are found, with what production uses: chunker, embedder, index, fusion.

    python -m evaluation.retrieval DATASET... [--size compact] [--prefetch 100] [--windows]

A DATASET is a folder in BEIR's layout (corpus.jsonl, queries.jsonl, qrels/), ranked by documents:
a document stands where its best chunk stands. Or a folder with corpora/ and questions.jsonl
(Chroma's layout): then the share of the gold characters inside the best `--top` chunks is measured.
Several sizes, prefetch depths or data sets, separated by commas or spaces, make several rows.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path

import click

from askbook.providers.minilm import MiniLM
from askbook.providers.registry import make_embedder
from askbook.settings import load_settings
from evaluation.datasets import Beir, SpanSet, load_beir, load_spans
from evaluation.metrics import Comparison, bootstrap, compare, means, per_query, span_score
from evaluation.searching import CachedVectors, Passage, Text, cut, indexed, search

PerQuery = Mapping[str, Mapping[str, float]]  # measure → query → value


@dataclass(frozen=True, slots=True)
class Condition:
    """What one row of the table is measured with."""

    size: str = "compact"  # a preset, a number of tokens, or "whole"
    prefetch: int = 100
    top: int = 5  # chunks read, where spans are measured


def measure_ranking(data: Beir, vectors: CachedVectors, condition: Condition) -> PerQuery:
    """Return the ranking measures of every query."""
    texts = (Text(each.id, each.title, each.text) for each in data.documents.values())
    found = _found(cut(texts, condition.size), data.queries, vectors, condition)
    run = {query: [each.document for each in passages] for query, passages in found.items()}
    return per_query(data.judgements, run)


def measure_spans(data: SpanSet, vectors: CachedVectors, condition: Condition) -> PerQuery:
    """Return recall, precision and IoU of every question, in characters of the best chunks."""
    passages = cut((Text(name, "", text) for name, text in data.corpora.items()), condition.size)
    questions = {each.id: each.question for each in data.questions}
    found = _found(passages, questions, vectors, condition)
    lengths = accumulate((len(text) for text in data.corpora.values()), initial=0)
    starts = dict(zip(data.corpora, lengths, strict=False))  # all corpora as one long text
    scores = {
        each.id: span_score(
            retrieved=[
                (starts[passage.document] + passage.start, starts[passage.document] + passage.end)
                for passage in found[each.id][: condition.top]
            ],
            gold=[
                (starts[each.corpus_id] + span.start, starts[each.corpus_id] + span.end)
                for span in each.references
            ],
        )
        for each in data.questions
    }
    return {
        "recall": {query: score.recall for query, score in scores.items()},
        "precision": {query: score.precision for query, score in scores.items()},
        "IoU": {query: score.iou for query, score in scores.items()},
    }


def _found(
    passages: Sequence[Passage],
    queries: Mapping[str, str],
    vectors: CachedVectors,
    condition: Condition,
) -> dict[str, list[Passage]]:
    with indexed(passages, vectors) as index:
        return search(index, passages, queries, vectors, prefetch=condition.prefetch)


def measure(folder: Path, vectors: CachedVectors, condition: Condition) -> PerQuery:
    """Return the measures that the folder's layout calls for."""
    if (folder / "questions.jsonl").exists():
        return measure_spans(load_spans(folder), vectors, condition)
    return measure_ranking(load_beir(folder), vectors, condition)


def table(name: str, rows: Sequence[tuple[Condition, PerQuery]]) -> Iterator[str]:
    """Yield a Markdown table; the first row is what the others are compared with."""
    first = rows[0][1]
    main = next(iter(first))
    yield f"| {name} | prefetch | " + " | ".join(first) + f" | 95 % of {main} | against row 1 |"
    yield "|---" * (len(first) + 4) + "|"
    for condition, values in rows:
        interval = bootstrap(list(values[main].values()))
        figures = " | ".join(f"{mean:.4f}" for mean in means(values).values())
        versus = "" if values is first else _words(compare(first[main], values[main]))
        yield (
            f"| {condition.size} | {condition.prefetch} | {figures} "
            f"| {interval.low:.3f}–{interval.high:.3f} | {versus} |"
        )


def _words(found: Comparison) -> str:
    record = f"{found.wins} won, {found.ties} tied, {found.losses} lost"
    return f"{found.difference:+.4f} (p {found.p:.3f}; {record})"


@click.command(help=__doc__)
@click.argument(
    "datasets",
    nargs=-1,
    required=True,
    type=click.Path(exists=True, file_okay=False, path_type=Path),
)
@click.option("--size", "sizes", default="compact", help="Presets, tokens, or whole.")
@click.option("--prefetch", "depths", default="100", help="Candidates per search before fusion.")
@click.option("--top", default=5, help="Chunks read, where spans are measured.")
@click.option("--embedder", default=None, help="As ASKBOOK_EMBEDDER.")
@click.option("--windows", is_flag=True, help="MiniLM reads long passages in windows.")
@click.option(
    "--cache",
    default=Path("data/runtime/benchmarks/vectors.sqlite"),
    type=click.Path(dir_okay=False, path_type=Path),
    help="File that keeps vectors between runs.",
)
def main(
    *,
    datasets: tuple[Path, ...],
    sizes: str,
    depths: str,
    top: int,
    embedder: str | None,
    windows: bool,
    cache: Path,
) -> None:
    """Print one table per data set."""
    settings = load_settings()
    if embedder is not None:
        settings = settings.model_copy(update={"embedder": embedder})
    vectors = CachedVectors(MiniLM(windows=True) if windows else make_embedder(settings), cache)
    conditions = [
        Condition(size, int(depth), top) for size in sizes.split(",") for depth in depths.split(",")
    ]
    for folder in datasets:
        rows = [(condition, measure(folder, vectors, condition)) for condition in conditions]
        click.echo("\n".join(table(folder.name, rows)) + "\n")


if __name__ == "__main__":
    main()
