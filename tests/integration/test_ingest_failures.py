"""An embedder that fails for good, and a run whose lock is lost: nothing changes, work is kept."""

import pytest
import stamina
from wire import Events, Trouble, cohere_reply, serving

from askbook.errors import IndexFault, ProviderError, ProviderUnavailable, RunRefused
from askbook.providers import batching
from askbook.providers.cohere import CohereEmbedder
from askbook.store import jobs

SHORT = {"id": "x", "embeddings": {"float": []}, "texts": []}
ANSWERS = {
    "401": ((401, {}, {"message": "invalid api token"}), ProviderError, "answered 401"),
    "500": ((500, {}, {"message": "broken"}), ProviderUnavailable, "answered 500"),
    "429": ((429, {"Retry-After": "0"}, {"message": "slow"}), ProviderUnavailable, "answered 429"),
    "lost": ((200, {}, Events([b"{", Trouble.DROP])), ProviderUnavailable, "cannot be reached"),
    "short": ((200, {}, SHORT), ProviderError, "0 vectors for"),
}


@pytest.fixture
def _no_pauses(monkeypatch):
    """All retries, without the waits between them and without Cohere's limit per minute."""
    monkeypatch.setitem(batching._rates, CohereEmbedder.model, batching.Rate(None))
    stamina.set_testing(True, attempts=6, cap=True)
    yield
    stamina.set_testing(False)


def add_pages(book, count: int = 100) -> None:
    """Enough for two calls of at most 96 texts."""
    for number in range(count):
        book.mkdir(exist_ok=True)
        (book / f"page-{number:03}.md").write_text(
            f"# {book.name} {number}\n\nA page of its own, number {number}, with enough words in it that "
            "no gate takes it for a leftover of a broken file or an empty page.\n"
        )


def use_cohere(library, address: str) -> None:
    for name, value in {"": "cohere", "_API_KEY": "key", "_BASE_URL": address}.items():
        library.set(f"COHERE{name}" if name else "EMBEDDER", value)


@pytest.mark.usefixtures("_no_pauses")
def test_an_embedder_that_fails_for_good_half_way_changes_nothing_and_nothing_is_paid_twice(
    library,
):
    paid: list[str] = []
    calls = 0

    def healthy(body):
        paid.extend(body["texts"])
        return 200, {}, cohere_reply(body)

    with serving(healthy) as wire:
        use_cohere(library, wire.address)
        library.ingest()
        before, version = library.snapshot(), library.version
        for name, (answer, kind, words) in ANSWERS.items():
            add_pages(library.book / name)
            calls = 0

            def dying(body, answer=answer):
                nonlocal calls
                calls += 1
                return healthy(body) if calls == 1 else answer

            wire.answer = dying
            with pytest.raises(kind, match=words):
                library.ingest()
            assert calls > 1, name
            assert library.snapshot() == before, name
            assert library.version == version, name
            assert library.last_job.status == "failed", name
            assert words in library.last_job.error_message, name
        wire.answer = healthy
        report = library.ingest()
    assert report["files"]["new"] == 100 * len(ANSWERS)
    assert len(paid) == len(set(paid)) == len(library.texts)


def test_a_run_that_lost_its_lock_and_its_job_publishes_nothing(library):
    """PostgreSQL was restarted under it, and another run took over meanwhile."""
    library.ingest()
    before, version = library.snapshot(), library.version

    def another_takes_over(body):
        with library.parts.database.begin() as connection:
            jobs.abandon_running(connection, "book")
        return 200, {}, cohere_reply(body)

    with serving(another_takes_over) as wire:
        use_cohere(library, wire.address)
        with pytest.raises(RunRefused, match="another run took over"):
            library.ingest()
    library.set("EMBEDDER", "hashing")
    assert library.version == version
    assert library.snapshot() == before


def test_a_model_that_cannot_stand_beside_other_books_is_refused_before_a_text_is_paid_for(library):
    from flows.ingest import ingest

    library.ingest()  # with the default model of the tests
    paid: list[str] = []

    def healthy(body):
        paid.extend(body["texts"])
        return 200, {}, cohere_reply(body)

    with serving(healthy) as wire:
        use_cohere(library, wire.address)
        with pytest.raises(IndexFault, match="set ASKBOOK_COLLECTION to a new name"):
            ingest(book_dir=str(library.book), book_id="another")
    assert not paid
