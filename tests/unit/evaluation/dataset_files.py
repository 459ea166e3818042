"""Data sets written for a test, and what is said of them."""

import json
from pathlib import Path

import pytest

from askbook.errors import DatasetError, TerminalError

ROOT = Path(__file__).parents[3]
BOOK = ROOT / "data" / "books" / "physical-ai-robotics"
SAMPLE = ROOT / "data" / "benchmarks" / "physical-ai-robotics" / "questions.jsonl"
SHARED = ROOT.parent / "shared" / "datasets"


def write_lines(path: Path, *records: object) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = (each if isinstance(each, str) else json.dumps(each) for each in records)
    path.write_text("\n".join(lines) + "\n", "utf-8")
    return path


def refusal(load, *args) -> str:
    with pytest.raises(DatasetError) as caught:
        load(*args)
    assert isinstance(caught.value, TerminalError)
    return str(caught.value)
