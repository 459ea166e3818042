"""The command line. Heavy parts are imported by the command that needs them.

    ingesting.py   ingest
    previewing.py  chunks
    state.py       status, rollback
    asking.py      search, ask
    serving.py     serve
    up.py          up
"""

from __future__ import annotations

import sys

import click

from askbook import __version__
from askbook.errors import AskbookError, WrongUse

_LAZY = {
    "ingest": "ingesting",
    "chunks": "previewing",
    "status": "state",
    "rollback": "state",
    "search": "asking",
    "ask": "asking",
    "serve": "serving",
    "up": "up",
}


class _Commands(click.Group):
    """Loads a command's module when the command is called."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        return list(_LAZY)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        if cmd_name not in _LAZY:
            return None
        from importlib import import_module

        command: click.Command = getattr(
            import_module(f"askbook.cli.{_LAZY[cmd_name]}"), cmd_name
        )
        return command


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
