"""`askbook serve` and `askbook up`."""

from __future__ import annotations

import socket
from functools import partial

import anyio
import click

from askbook.cli.options import book_id_option, chosen_book, settings_with
from askbook.errors import WrongUse
from askbook.models import ChunkFilter
from askbook.settings import Settings
from askbook.wiring import Parts

EXAMPLE = "What happens when the publisher and the subscriber use incompatible QoS settings?"


@click.command()
@click.option("--host", help="Address to listen on [default: 127.0.0.1].")
@click.option("--port", type=click.IntRange(1, 65535), help="Port [default: 8000].")
@book_id_option
@click.option("--ask", "question", help="Ask this first and print the answer.")
def serve(
    host: str | None, port: int | None, book_id: str | None, question: str | None
) -> None:
    """Start the API and the page to ask from."""
    settings = settings_with(host=host, port=port)
    check_port(settings)
    parts = Parts(settings)
    settings = settings_with(book_id=chosen_book(parts, book_id))
    if question is not None:
        _ask_once(settings, question)
    click.echo(f"Open http://{settings.host}:{settings.port}  (Ctrl-C stops it)")
    run_api(settings)


def run_api(settings: Settings) -> None:
    """Serve until stopped."""
    import uvicorn

    from api.app import create_app

    uvicorn.run(
        create_app(settings), host=settings.host, port=settings.port, log_level="warning"
    )


def check_port(settings: Settings) -> None:
    """Say so before anything is started when the port is taken."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((settings.host, settings.port))
        except OSError as error:
            raise WrongUse(
                f"Cannot listen on {settings.host}:{settings.port} ({error.strerror}). "
                "Choose another port with --port or ASKBOOK_PORT."
            ) from None


def _ask_once(settings: Settings, question: str) -> None:
    from askbook.cli.asking import show_answer

    parts = Parts(settings)
    where = ChunkFilter(book_id=settings.book_id)
    click.secho(f"\n{question}", bold=True)
    show_answer(anyio.run(partial(parts.asking.ask, question, where)))
    click.echo()
