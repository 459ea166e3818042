"""When the gates' process is started before anybody knows that there is work for it."""

import os

import pytest

from askbook.settings import Settings
from flows import gate_process


@pytest.fixture
def starts(monkeypatch) -> list[str]:
    started: list[str] = []
    monkeypatch.setattr(gate_process, "gatekeeper", lambda: started.append("started"))
    return started


@pytest.fixture
def book(tmp_path):
    page = tmp_path / "book" / "page.md"
    page.parent.mkdir()
    page.write_text("# A page\n")
    for path in (page, page.parent):
        os.utime(path, (1000, 1000))
    return page.parent


def surveyed(home, at: int) -> Settings:
    survey = home / "checkpoints" / gate_process.SURVEYS / "book" / "files.parquet"
    survey.parent.mkdir(parents=True)
    survey.touch()
    os.utime(survey, (at, at))
    return Settings(home=home)


def test_it_starts_early_for_a_book_that_no_run_has_read(tmp_path, book, starts):
    gate_process.call_early(Settings(home=tmp_path), book, "book")
    assert starts


def test_it_starts_early_when_a_page_changed_since_the_last_run(tmp_path, book, starts):
    settings = surveyed(tmp_path, 2000)
    os.utime(book / "page.md", (3000, 3000))
    gate_process.call_early(settings, book, "book")
    assert starts


def test_it_does_not_start_for_a_folder_that_nobody_touched(tmp_path, book, starts):
    gate_process.call_early(surveyed(tmp_path, 2000), book, "book")
    assert not starts


def test_it_does_not_guess_where_checkpoints_lie_elsewhere(tmp_path, book, starts):
    settings = Settings(home=tmp_path, checkpoints="memory://checkpoints")
    gate_process.call_early(settings, book, "book")
    assert not starts
