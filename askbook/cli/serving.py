"""`askbook serve`: the API and its page."""

from __future__ import annotations

import socket

import anyio
import click

from askbook.cli.options import book_id_option, chosen_book, settings_with
from askbook.errors import WrongUse
from askbook.models import ChunkFilter, Question
from askbook.settings import Settings
from askbook.wiring import Parts


@click.command()
@click.option("--host", help="Address to listen on [default: ASKBOOK_HOST, 127.0.0.1].")
@click.option("--port", type=click.IntRange(1, 65535), help="Port [default: ASKBOOK_PORT, 8000].")
@click.option(
    "--workers", type=click.IntRange(1, 256), help="Processes [default: ASKBOOK_WORKERS, 1]."
)
@book_id_option
@click.option("--ask", "question", help="Ask this first and print the answer.")
def serve(
    host: str | None,
    port: int | None,
    workers: int | None,
    book_id: str | None,
    question: str | None,
) -> None:
    """Start the API and the page to ask from."""
    settings = settings_with(host=host, port=port, workers=workers)
    check_port(settings.host, settings.port)
    parts = Parts(settings)
    if book_id or parts.index.count(ChunkFilter()):
        settings = settings_with(book_id=chosen_book(parts, book_id))
    else:
        click.echo(
            "Nothing is indexed yet: questions are refused until `askbook ingest`.", err=True
        )
    if question is not None:
        _ask_once(settings, question)
    click.echo(f"Open http://{settings.host}:{settings.port}  (Ctrl-C stops it)")
    from api.server import serve as listen

    listen(settings)


def check_port(host: str, port: int) -> None:
    """Say so before anything is started when the port is taken."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError as error:
            raise WrongUse(
                f"Cannot listen on {host}:{port} ({error.strerror}). "
                "Stop what listens there, or choose another port with --port."
            ) from None


def _ask_once(settings: Settings, question: str) -> None:
    from askbook.cli.asking import show_answer

    parts = Parts(settings)
    asked = Question(question, ChunkFilter(book_id=settings.book_id))
    click.secho(f"\n{question}", bold=True)
    show_answer(anyio.run(parts.asking.ask, asked), settings.book_dir)
    click.echo()
