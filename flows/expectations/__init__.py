"""Great Expectations gates between the stages of a run.

    files → plan → chunks → embeddings → index

    require(check_chunks(table, GateSettings()))     stops the run unless the table is good

gates.py     what is expected of each table
columns.py   what is computed first, so that Great Expectations can check it by column
expect.py    the expectations in use, by short names
engine.py    runs the expectations: one quiet context per process, imported when it is needed
results.py   what a gate found, for logs, job rows and Prefect artifacts
docs.py      the page that is kept with the run

The page is our own. Data Docs of Great Expectations load scripts and styles from five public
hosts, so they would be neither self-contained nor readable offline, and they need stores and a
checkpoint for each gate, which cost more than the gates themselves.
"""

from flows.expectations.docs import write_data_docs
from flows.expectations.engine import preload
from flows.expectations.gates import (
    check_chunks,
    check_embeddings,
    check_files,
    check_index,
    check_plan,
)
from flows.expectations.results import Failure, GateFailed, GateResult, GateSettings, require

__all__ = [
    "Failure",
    "GateFailed",
    "GateResult",
    "GateSettings",
    "check_chunks",
    "check_embeddings",
    "check_files",
    "check_index",
    "check_plan",
    "preload",
    "require",
    "write_data_docs",
]
