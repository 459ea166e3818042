"""Real parts for every test: each test session has an ASKBOOK_HOME of its own."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SAMPLE_BOOK = ROOT / "data" / "books" / "physical-ai-robotics"


@pytest.fixture(autouse=True)
def _no_settings_from_outside(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A developer's own environment and `.env` must not change what tests see."""
    for name in list(os.environ):
        if name.startswith(("ASKBOOK_", "PREFECT_", "OPENAI_", "COHERE_")):
            monkeypatch.delenv(name)
    monkeypatch.setenv("ASKBOOK_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(ROOT)


@pytest.fixture
def sample_book() -> Path:
    return SAMPLE_BOOK
