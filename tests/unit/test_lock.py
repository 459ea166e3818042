"""The offline part of the dependency audit finds what it is there to find."""

import runpy
from pathlib import Path

AUDIT = Path(__file__).parents[2] / ".ci" / "audit"
GOOD = "six==1.17.0 \\\n    --hash=sha256:aa \\\n    --hash=sha256:bb\n    # via askbook\n"


def test_the_lock_passes_and_a_worse_one_does_not():
    problems = runpy.run_path(str(AUDIT))["problems"]
    lock = (AUDIT.parents[1] / "requirements.lock").read_text(encoding="utf-8")
    assert problems(lock) == []
    assert problems(GOOD) == []
    assert "not pinned" in problems("six>=1.17 --hash=sha256:aa\n")[0]
    assert "no hash" in problems("six==1.17.0\n")[0]
    assert "place to install from" in problems("--index-url https://example.org\n" + GOOD)[0]
