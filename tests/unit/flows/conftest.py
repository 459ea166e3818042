"""Good tables of the sample book, to spoil."""

from dataclasses import asdict
from datetime import UTC, datetime

import numpy as np
import pytest
from gate_tables import BOOK, DIMENSIONS, records

from askbook.book.walk import Globs
from askbook.models import Action
from flows.discover import discover


@pytest.fixture(scope="session")
def lessons():
    return discover(BOOK, "book", globs=Globs(), max_bytes=10**7).lessons


@pytest.fixture(scope="session")
def good_chunks(lessons):
    """The chunks of the three longest files, as stage 3 writes them."""
    longest = sorted(lessons, key=lambda each: -(BOOK / each.source_file).stat().st_size)[:3]
    return [record for lesson in longest for record in records(lesson)]


@pytest.fixture
def chunks(good_chunks):
    """Rows to spoil."""
    return [dict(row) for row in good_chunks]


@pytest.fixture
def vectors(good_chunks):
    random = np.random.default_rng(7)
    rows = []
    for hashed in dict.fromkeys(row["embedded_hash"] for row in good_chunks):
        vector = random.normal(size=DIMENSIONS).astype(np.float32)
        rows.append(
            {
                "embedded_hash": hashed,
                "vector": vector / np.linalg.norm(vector),
                "embedded_at": datetime.now(UTC),
                "origin": "embedded",
            }
        )
    return rows


@pytest.fixture
def files(lessons):
    names = ("source_file", "source_file_hash", "location", "module", "chapter", "lesson")
    return [
        {name: asdict(lesson)[name] for name in names}
        | {"quarantine_reason": None, "quarantine_line": None}
        for lesson in lessons
    ]


@pytest.fixture
def plan(files):
    return [
        {
            "action": Action.NEW.value,
            "source_file": row["source_file"],
            "reason": "not indexed yet",
            "content_hash": row["source_file_hash"],
        }
        for row in files
    ] + [{"action": "deleted", "source_file": "gone.md", "reason": "gone", "content_hash": None}]


@pytest.fixture
def counts():
    return [{"source_file": f"{n}.md", "expected": n, "found": n} for n in range(1, 9)]
