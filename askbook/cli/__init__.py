"""The command line. Heavy parts are imported by the command that needs them.

ingesting.py   ingest
previewing.py  chunks
state.py       status, rollback, reconcile
searching.py   search
asking.py      ask
evaluating.py  eval
watching.py    watch
keeping.py     backup, restore
serving.py     serve
up.py          up
"""

from __future__ import annotations

import sys

import click

from askbook import __version__
from askbook.errors import AskbookError, WrongUse

# Where each command lives, and its line in `askbook --help`: listing them must load none of them.
_COMMANDS = {
    "ingest": ("ingesting", "Index what changed in a book."),
    "chunks": ("previewing", "Show how a file is cut into chunks."),
    "search": ("searching", "Find passages."),
    "ask": ("asking", "Answer a question from the book, with citations."),
    "eval": ("evaluating", "Measure retrieval, chunking, grounding and answers on data sets."),
    "status": ("state", "Show the books, the index versions and the last runs."),
    "rollback": ("state", "Send readers back to an older version of the index."),
    "reconcile": ("state", "Compare PostgreSQL with the index and mend what differs."),
    "backup": ("keeping", "Write the index and PostgreSQL's rows into one file."),
    "restore": ("keeping", "Bring a backup back, here or on another machine."),
    "watch": ("watching", "Re-index a book whenever a file is saved."),
    "serve": ("serving", "Start the API and the page to ask from."),
    "up": ("up", "Start Prefect (server and worker) and the API together."),
}

_NAMES = {"eval": "evaluate"}  # eval is a word of Python


class _Commands(click.Group):
    """Loads a command's module when the command is called."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        if cmd_name not in _COMMANDS:
            return None
        from importlib import import_module

        module = import_module(f"askbook.cli.{_COMMANDS[cmd_name][0]}")
        command: click.Command = getattr(module, _NAMES.get(cmd_name, cmd_name))
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        with formatter.section("Commands"):
            formatter.write_dl([(name, line) for name, (_, line) in _COMMANDS.items()])


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="askbook")
def askbook() -> None:
    """Turn a Markdown/MDX book into cited, checked answers."""


def main() -> None:
    """Run a command: exit code 0 done, 1 failed, 2 wrong use; no traceback for a mistake."""
    try:
        askbook(standalone_mode=False)
    except click.exceptions.Exit as stop:
        sys.exit(stop.exit_code)
    except click.ClickException as error:
        error.show()
        sys.exit(error.exit_code)
    except click.Abort:
        sys.exit(130)
    except WrongUse as error:
        click.echo(f"askbook: {error}", err=True)
        sys.exit(2)
    except AskbookError as error:
        click.echo(f"askbook: {error}", err=True)
        sys.exit(1)
