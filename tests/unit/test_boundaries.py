"""The import rule, and that nothing heavy is loaded before it is needed."""

import ast
import json
import resource
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
HEAVY = {
    "prefect",
    "great_expectations",
    "pandas",
    "pyarrow",
    "onnxruntime",
    "openai",
    "cohere",
    "litestar",
    "sqlalchemy",
    "qdrant_client",
}


def imported_by(path: Path) -> set[str]:
    """Top-level names that a module imports anywhere, also inside functions."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names.add(node.module.split(".")[0])
    return names


def modules(package: str) -> list[Path]:
    found = sorted((ROOT / package).rglob("*.py"))
    assert found, f"no modules in {package}"
    return found


def test_the_domain_knows_neither_prefect_nor_litestar_nor_the_rivers():
    for path in modules("askbook"):
        if "cli" not in path.relative_to(ROOT).parts:
            assert not imported_by(path) & {"prefect", "litestar", "flows", "api", "evaluation"}, (
                path
            )


@pytest.mark.parametrize("package", ["flows", "api", "evaluation"])
def test_the_rivers_do_not_import_each_other(package):
    others = {"flows", "api", "evaluation"} - {package}
    for path in modules(package):
        assert not imported_by(path) & others, path


def test_only_the_flow_modules_know_prefect():
    for path in modules("flows"):
        if path.name not in {"ingest.py", "maintain.py", "artifacts.py", "workers.py"}:
            assert "prefect" not in imported_by(path), path


def loaded_after(code: str) -> set[str]:
    script = f"import sys, json; {code}; print(json.dumps(sorted(sys.modules)))"
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, cwd=ROOT
    )
    return {name.split(".")[0] for name in json.loads(done.stdout)}


def test_importing_askbook_and_its_command_line_loads_nothing_heavy():
    assert not loaded_after("import askbook, askbook.cli, askbook.models, askbook.errors") & HEAVY


def test_planning_a_run_does_not_load_prefect():
    assert "prefect" not in loaded_after("import flows.planning, askbook.cli.ingesting")


def test_help_answers_in_under_half_a_second_of_cpu():
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(
        [sys.executable, "-m", "askbook.cli", "--help"], capture_output=True, text=True, check=True
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert "ingest" in done.stdout
    spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    assert spent < 0.5
