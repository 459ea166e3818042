"""`askbook backup` and `askbook restore`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from askbook.cli.options import json_option, print_json, settings_with
from askbook.wiring import Parts

if TYPE_CHECKING:
    from askbook.backup.archive import Manifest

_FILE = click.Path(path_type=Path, dir_okay=False)


@click.command()
@click.argument("file", type=_FILE)
@click.option("--force", is_flag=True, help="Replace FILE if it is there.")
@json_option
def backup(file: Path, *, force: bool, as_json: bool) -> None:
    """Write the published index and all of PostgreSQL's rows into FILE."""
    from askbook.backup.saving import save

    manifest = save(Parts(settings_with()), file, force=force)
    if as_json:
        print_json(manifest)
    else:
        click.echo(f"{file} ({file.stat().st_size / 1e6:.1f} MB): {_told(manifest)}")


@click.command()
@click.argument("file", type=_FILE)
@click.option("--force", is_flag=True, help="Replace all that is here.")
@click.option("--dry-run", is_flag=True, help="Only check FILE to its last byte and describe it.")
@json_option
def restore(file: Path, *, force: bool, dry_run: bool, as_json: bool) -> None:
    """Bring the index and PostgreSQL's rows back from FILE."""
    from askbook.backup.restoring import check
    from askbook.backup.restoring import restore as bring_back

    if dry_run:
        manifest, version = check(file), None
    else:
        manifest, version = bring_back(Parts(settings_with()), file, force=force)
    if as_json:
        print_json({"index_version": version, "manifest": manifest})
        return
    click.echo(f"{file} is whole: {_told(manifest)}")
    if not dry_run:
        click.echo(f"Restored; readers now see {version or 'an empty index'}.")


def _told(manifest: Manifest) -> str:
    books = ", ".join(manifest.books) or "no book"
    return (
        f"{manifest.points} chunks of {books}, {sum(manifest.rows.values())} rows, "
        f"made {manifest.created_at[:19]} by askbook {manifest.askbook_version}"
    )
