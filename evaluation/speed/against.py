"""Ingest next to other libraries: the same texts, the same free embedder, one run, as ratios.

    python -m evaluation.speed.against --peers .venv/bench-peers/bin/python [--pages 112]

Each phase is one process from its start to its end, imports and all, as a scheduler would run it:
the whole book (cold), nothing changed, one paragraph edited, one page deleted. The figures are CPU
seconds, of the process and its children; PostgreSQL and the Prefect server, which run before and
after, are not in askbook's. Floors: reading and hashing the files, embedding all chunks, putting
them into the engine.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from evaluation.speed.ingest_books import first_page, write_book
from evaluation.speed.ingest_contenders import ASKBOOK, Contender
from evaluation.speed.processes import Ran, clean_environment, prefect_server, run

PEERS = {
    "LangChain index()": "langchain_index",
    "LlamaIndex IngestionPipeline": "llamaindex_pipeline",
    "CocoIndex": "cocoindex_app",
}
PHASES = ("cold", "unchanged", "edit", "delete")
_ROOT = Path(__file__).parents[2]
_HOW = (
    "{pages} pages. CPU seconds of one process from start to end, with its children; in brackets, "
    "how many times askbook's: over 1 means that askbook needs less. One run: the second digit is "
    "noise."
)
_EMBED = """
import sys, pathlib, pyarrow.parquet as pq
from askbook.providers.hashing import HashingEmbedder
texts = [t for p in pathlib.Path(sys.argv[1]).rglob("chunks-*.parquet")
         for t in pq.read_table(p, columns=["embedded_text"])[0].to_pylist()]
embedder = HashingEmbedder()
for text in texts: embedder._embed(text)
"""
_ENGINE = """
import sys, pathlib, pyarrow.parquet as pq
from askbook.index.edge import EdgeIndex
from askbook.models import IndexPoint
rows = [r for p in pathlib.Path(sys.argv[1]).rglob("chunks-*.parquet")
        for r in pq.read_table(p, columns=["id", "embedded_text", "text", "book_id"]).to_pylist()]
with EdgeIndex(pathlib.Path(sys.argv[2])).build(embedding_model="m", dimensions=256) as draft:
    draft.upsert(IndexPoint(r["id"], [0.0625] * 256, r["embedded_text"], r) for r in rows)
    draft.publish()
"""


def peer(name: str, python: Path) -> Contender:
    """Another library, run by the Python of its own environment."""
    script = _ROOT / "evaluation" / "speed" / "peers" / f"{PEERS[name]}.py"
    return Contender(
        name,
        lambda book, home: [str(python), str(script), str(book), str(home)],
        {"PYTHONPATH": str(_ROOT)},
    )


def phases(contender: Contender, folder: Path, pages: int, prefect: str) -> dict[str, Ran]:
    """One book brought through all phases by one contender."""
    book, home = write_book(folder / "book", pages), folder / "home"
    home.mkdir(parents=True)
    changes: dict[str, Callable[[], object]] = {
        "cold": lambda: None,
        "unchanged": lambda: None,
        "edit": lambda: _edit(first_page(book)),
        "delete": lambda: first_page(book).unlink(),
    }
    environment = {
        **clean_environment(),
        "ASKBOOK_HOME": str(home),
        "ASKBOOK_PREFECT_API_URL": prefect,
        **contender.settings,
    }
    found = {}
    for phase in PHASES:
        changes[phase]()
        found[phase] = run(contender.command(book, home), environment)
        print(f"{contender.name}, {phase}: {found[phase].cpu_seconds:.2f} s", file=sys.stderr)
    return found


def _edit(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    page.write_text(text + "\nA paragraph that was not there before.\n", encoding="utf-8")


def floors(folder: Path) -> dict[str, float]:
    """CPU seconds of the work that nobody can leave out, of askbook's own cold run."""
    book, home = folder / "book", folder / "home"
    files = [str(path) for path in sorted(book.rglob("*.md"))]
    environment = {**clean_environment(), "PYTHONPATH": str(_ROOT)}
    commands = {
        "sha256sum of all files": ["sha256sum", *files],
        "embedding alone": [sys.executable, "-c", _EMBED, str(home)],
        "the engine alone": [sys.executable, "-c", _ENGINE, str(home), str(folder / "engine")],
    }
    return {name: run(command, environment).cpu_seconds for name, command in commands.items()}


def report(pages: int, found: dict[str, dict[str, Ran]], least: dict[str, float]) -> str:
    """Two Markdown tables: all contenders by phase, and the floors."""
    ours = found[ASKBOOK.name]
    lines = [
        _HOW.format(pages=pages),
        "",
        "| | " + " | ".join(PHASES) + " | peak memory, cold |",
        "|---|" + "---|" * (len(PHASES) + 1),
    ]
    for name, ran in found.items():
        cells = [
            f"{ran[phase].cpu_seconds:.2f} s"
            + (
                f" ({ran[phase].cpu_seconds / ours[phase].cpu_seconds:.1f} ×)"
                if ran is not ours
                else ""
            )
            for phase in PHASES
        ]
        lines.append(f"| {name} | " + " | ".join(cells) + f" | {ran['cold'].peak_mb:.0f} MB |")
    lines += ["", "| floor | CPU seconds |", "|---|---|"]
    lines += [f"| {name} | {seconds:.2f} s |" for name, seconds in least.items()]
    return "\n".join(lines)


def main() -> None:
    """Measure all contenders one after the other and print the report."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--peers", type=Path, required=True, help="Python with the other libraries")
    parser.add_argument("--pages", type=int, default=112)
    options = parser.parse_args()
    contenders = [ASKBOOK, *(peer(name, options.peers.absolute()) for name in PEERS)]
    with (
        tempfile.TemporaryDirectory(prefix="askbook-bench-") as folder,
        prefect_server(Path(folder) / "prefect") as prefect,
    ):
        found = {
            each.name: phases(each, Path(folder) / str(number), options.pages, prefect)
            for number, each in enumerate(contenders)
        }
        print(report(options.pages, found, floors(Path(folder) / "0")))


if __name__ == "__main__":
    main()
