"""`askbook watch`: for authors. Re-index on save, through the same flow, in this process."""

from __future__ import annotations

import signal
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from askbook.cli.options import name_for, settings_with
from askbook.errors import AskbookError

if TYPE_CHECKING:
    from flows.run import RunSpec

_FIRST_LOOK_MS = 500
_QUIET_MS = 200  # an editor writes a file in several steps: wait until it is done


@click.command()
@click.argument("book_dir", required=False, type=click.Path(path_type=Path))
@click.option("--book-id", help="Name of the book in the index [default: the folder's name].")
def watch(book_dir: Path | None, book_id: str | None) -> None:
    """Re-index BOOK_DIR [default: ASKBOOK_BOOK_DIR] whenever a file is saved; Ctrl-C ends it."""
    settings = settings_with()
    name = book_id or (name_for(book_dir) if book_dir else settings.book_id)

    from flows.environment import prepare_prefect
    from flows.gate_process import gatekeeper
    from flows.lazily import collect_rarely, convert_without_pandas
    from flows.run import RunSpec

    collect_rarely()
    convert_without_pandas()
    gatekeeper()  # imports for seconds: in the background, from the beginning
    prepare_prefect(settings)
    spec = RunSpec(settings, book_dir or settings.book_dir, name)
    _run(spec)
    _load(spec)

    from watchfiles import watch as changes

    stop = threading.Event()  # a run that is under way is finished, then watching ends
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: stop.set())
    watching = changes(
        spec.book_dir,
        debounce=_QUIET_MS,
        step=50,
        rust_timeout=_FIRST_LOOK_MS,
        yield_on_timeout=True,
        stop_event=stop,
    )
    announced = False
    for changed in watching:
        if changed or not announced:  # what was saved before the watcher was ready counts too
            _run(spec)
        if not announced:
            click.echo(f"Watching {spec.book_dir}  (Ctrl-C ends it)")
            announced = True


def _load(spec: RunSpec) -> None:
    """Load what a run needs, so that the first save is as quick as the others."""
    import flows.ingest  # noqa: F401 - Prefect
    from askbook.book.tokens import count_tokens
    from askbook.models import ChunkFilter
    from flows.gate_process import gatekeeper

    count_tokens("")
    spec.parts.index.count(ChunkFilter())
    if not spec.parts.embedder.limits.usd_per_million_tokens:
        spec.parts.portal.call(spec.parts.embedder.embed_query, "")
    gatekeeper().wait_until_ready()


def _run(spec: RunSpec) -> None:
    """One run; a mistake in the book is told and watching goes on."""
    from flows.ingest import ingest as flow
    from flows.planning import nothing_to_do, plan_now

    started = time.perf_counter()
    try:
        plan = plan_now(spec)
        for each in plan.quarantined:
            where = f"{each.source_file}:{each.line}" if each.line else each.source_file
            click.echo(f"{_now()}  quarantined {where}: {each.reason}", err=True)
        if nothing_to_do(spec, plan):
            return
        report: dict[str, Any] = flow(
            book_dir=str(spec.book_dir.resolve()), book_id=spec.book_id, mode=spec.mode
        )
    except AskbookError as error:
        click.echo(f"{_now()}  {error}", err=True)
        return
    changed = [step.source_file for step in plan.steps if step.action.value != "unchanged"]
    shown = ", ".join(changed[:3]) + (f" and {len(changed) - 3} more" if len(changed) > 3 else "")  # noqa: PLR2004
    chunks = report["chunks"]
    click.echo(
        f"{_now()}  {shown}: {chunks['embedded']} embedded, {chunks['reused']} reused, "
        f"{chunks['deleted']} deleted; searchable after {time.perf_counter() - started:.1f} s"
    )


def _now() -> str:
    return time.strftime("%H:%M:%S")
