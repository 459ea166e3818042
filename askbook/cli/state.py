"""`askbook status` and `askbook rollback`."""

from __future__ import annotations

import click

from askbook.cli.options import book_id_option, json_option, print_json, settings_with
from askbook.wiring import Parts


@click.command()
@json_option
def status(*, as_json: bool) -> None:
    """Show the books, the index versions and the last runs."""
    from askbook.store import documents, jobs

    parts = Parts(settings_with())
    with parts.database.begin() as connection:
        books = documents.books(connection)
        recent = jobs.recent(connection, limit=5)
    versions = parts.index.versions()
    if as_json:
        print_json({"books": books, "versions": versions, "jobs": recent})
        return
    for book in books:
        click.echo(f"{book.book_id}: {book.total_chunks} chunks, from {book.book_dir}")
    for version in versions:
        mark = "*" if version.current else " "
        click.echo(
            f"{mark} {version.name}  {version.created_at:%Y-%m-%d %H:%M:%S}  "
            f"{version.points} chunks  {version.embedding_model}"
        )
    for job in recent:
        problem = f"  {job.error_message}" if job.error_message else ""
        click.echo(f"  job {job.job_id}  {job.book_id}  {job.mode}  {job.status}{problem}")
    if not books:
        click.echo("Nothing is indexed yet. Run `askbook ingest BOOK_DIR`.")


@click.command()
@click.argument("version", required=False)
@json_option
def rollback(version: str | None, *, as_json: bool) -> None:
    """Send readers back to VERSION [default: the one before the current]."""
    from askbook.rollback import rollback as go_back

    name = go_back(Parts(settings_with()), version)
    if as_json:
        print_json({"index_version": name})
    else:
        click.echo(f"Readers now see {name}. `askbook ingest` brings newer files back.")


@click.command()
@book_id_option
@click.option("--dry-run", is_flag=True, help="Only report; change nothing.")
@json_option
def reconcile(book_id: str | None, *, dry_run: bool, as_json: bool) -> None:
    """Compare PostgreSQL with the index, both ways, and mend what differs."""
    from flows.repair import reconcile as compare

    findings = compare(Parts(settings_with()), book_id, repair=not dry_run)
    if as_json:
        print_json({"repaired": bool(findings) and not dry_run, "findings": findings})
        return
    for each in findings:
        click.echo(f"  {each.book_id}/{each.source_file}: {each.problem}")
    if not findings:
        click.echo("PostgreSQL and the index agree.")
    elif not dry_run:
        click.echo("Mended. Run `askbook ingest` to index again what was removed.")
