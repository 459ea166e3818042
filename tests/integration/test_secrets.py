"""Secrets stay where they are set: not in logs, job rows, artifacts, checkpoints or messages."""

import httpx
import pytest
from wire import cohere_reply, serving

from askbook.errors import DatabaseDown, ProviderError
from askbook.settings import load_settings
from askbook.store.database import open_database

SECRETS = {
    "COHERE_API_KEY": "cohere-key-7f3a9c",
    "OPENAI_API_KEY": "openai-key-2b8d1e",
    "QDRANT_API_KEY": "qdrant-key-9e4c6a",
}


def told_to_prefect(address: str) -> str:
    """Everything the Prefect server would show an operator."""
    kinds = ("flow_runs", "task_runs", "artifacts", "logs")
    replies = [httpx.post(f"{address}/{kind}/filter", json={"limit": 200}) for kind in kinds]
    assert all(reply.is_success for reply in replies)
    return "".join(reply.text for reply in replies)


def test_a_run_that_ends_well_and_one_that_fails_tell_no_secret(
    library, prefect_api, caplog, capfd
):
    for name, secret in SECRETS.items():
        library.set(name, secret)
    with serving(lambda body: (200, {}, cohere_reply(body))) as wire:
        library.set("EMBEDDER", "cohere")
        library.set("COHERE_BASE_URL", wire.address)
        library.ingest()
        wire.answer = lambda body: (401, {}, {"message": "invalid api token"})
        (library.book / "new.md").write_text("# Saturn\n\nIts rings are 282,000 km wide.\n")
        with pytest.raises(ProviderError) as failure:
            library.ingest()
    home = load_settings().home
    kept = b"".join(
        path.read_bytes()
        for path in home.rglob("*")
        if path.is_file() and "postgres" not in path.parts and "index" not in path.parts
    )
    told = "\n".join(
        [
            str(failure.value),
            str(library.last_job),
            told_to_prefect(prefect_api),
            caplog.text,
            *capfd.readouterr(),
            repr(load_settings()),
            kept.decode("utf-8", "replace"),
        ]
    )
    assert "invalid api token" in told or "answered 401" in told  # it was looked at the right place
    for name, secret in SECRETS.items():
        assert secret not in told, name


def test_a_database_that_is_away_is_named_without_its_password(tmp_path):
    with pytest.raises(DatabaseDown) as failure:
        open_database("postgresql://reader:hunter2@127.0.0.1:1/askbook", tmp_path)
    assert "127.0.0.1" in str(failure.value)
    assert "hunter2" not in str(failure.value)
