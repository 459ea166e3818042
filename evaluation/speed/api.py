"""Search over HTTP next to the same chain called in a bare loop, in one run.

    python -m evaluation.speed.api [--clients 200] [--workers 2] [--rounds 3] [--seconds 5]

Needs the sample book in the published index (`askbook ingest`). `askbook serve` and the bare
loops run in as many processes, with the same embedder and its same number of threads, all
started before the first measurement. They are measured in turn, round by round, so that a busy
moment of the machine hits all of them; medians of the rounds count.

Two bare loops are measured. One asks one question after the other, as a program would, and leaves
a core idle between two steps of a question. The other has several questions under way, as the
server has: it is the harder one to keep up with, and the target is a share of it.

The clients share the machine with the server: the processor time they take is measured and said.
Processor time for one search compares the two without the clients, and without other programs.
"""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median, quantiles

from evaluation.speed.api_rounds import BareLoops, Round, ask_together, served

_UNDER_WAY = 4  # questions at once in each process of the fuller bare loop
_LEAST_SHARE = 0.70  # of the fuller bare loop
_MOST_SPREAD = 5.0  # p99 in terms of p50


@dataclass(frozen=True, slots=True)
class Report:
    """What is printed and written."""

    workers: int
    clients: int
    cores: int
    load: float  # of the machine, before the first round
    bare_per_s: float
    bare_full_per_s: float
    http_per_s: float
    share_of_bare: float
    share_of_bare_full: float
    client_share_of_machine: float
    bare_cpu_ms: float
    http_cpu_ms: float
    p50_ms: float
    p99_ms: float
    p99_over_p50: float
    searches: int
    errors: int

    @property
    def holds(self) -> bool:
        """Whether the targets are met."""
        is_quick = self.share_of_bare_full >= _LEAST_SHARE
        return is_quick and self.p99_over_p50 <= _MOST_SPREAD and self.errors == 0


def report(
    given: argparse.Namespace, load: float, rounds: Sequence[tuple[Round, Round, Round]]
) -> Report:
    """Medians of the rounds; latencies of all of them together."""
    bare, full, http = (list(each) for each in zip(*rounds, strict=True))
    cuts = quantiles([second for each in http for second in each.latencies], n=100)
    cores = os.cpu_count() or 1
    used = [each.client_cpu_seconds / each.seconds / cores for each in http]
    return Report(
        workers=given.workers,
        clients=given.clients,
        cores=cores,
        load=load,
        bare_per_s=median(each.rate for each in bare),
        bare_full_per_s=median(each.rate for each in full),
        http_per_s=median(each.rate for each in http),
        share_of_bare=median(h.rate / b.rate for b, _, h in rounds),
        share_of_bare_full=median(h.rate / f.rate for _, f, h in rounds),
        client_share_of_machine=median(used),
        bare_cpu_ms=median(each.cpu_ms for each in full),
        http_cpu_ms=median(each.cpu_ms for each in http),
        p50_ms=cuts[49] * 1000,
        p99_ms=cuts[98] * 1000,
        p99_over_p50=cuts[98] / cuts[49],
        searches=sum(each.searches for each in http),
        errors=sum(each.errors for each in http),
    )


def show(told: Report) -> None:
    """Print the table."""
    print(f"{told.cores} cores, load {told.load:.1f} before the first round\n")
    print("| search | value |\n|---|---|")
    print(f"| bare loop, {told.workers} processes | {told.bare_per_s:.0f} a second |")
    print(f"| the same, {_UNDER_WAY} under way in each | {told.bare_full_per_s:.0f} a second |")
    print(
        f"| HTTP, {told.workers} workers, {told.clients} clients | {told.http_per_s:.0f} a second |"
    )
    print(
        f"| share of the bare loops | {told.share_of_bare:.0%} and {told.share_of_bare_full:.0%} |"
    )
    print(f"| clients' own part of the processors | {told.client_share_of_machine:.0%} |")
    print(
        f"| processor time a search, bare and served | {told.bare_cpu_ms:.1f} "
        f"and {told.http_cpu_ms:.1f} ms |"
    )
    print(f"| p50 | {told.p50_ms:.0f} ms |")
    print(f"| p99 | {told.p99_ms:.0f} ms ({told.p99_over_p50:.1f} × p50) |")
    print(f"| errors | {told.errors} of {told.searches} |")
    print(
        f"\n{'OK' if told.holds else 'FAIL'}: at least {_LEAST_SHARE:.0%} of the fuller loop, "
        f"p99 at most {_MOST_SPREAD:.0f} × p50, no errors"
    )


def main() -> None:
    """Measure, print the table, and write it as JSON where wanted."""
    options = argparse.ArgumentParser()
    options.add_argument("--clients", type=int, default=200)
    options.add_argument("--workers", type=int, default=2)
    options.add_argument("--rounds", type=int, default=3)
    options.add_argument("--seconds", type=float, default=5.0, help="of each of the measurements")
    options.add_argument("--json", type=Path, help="also write the figures here")
    given = options.parse_args()
    load = os.getloadavg()[0]
    with served(given.workers) as (port, processes):
        loops = BareLoops(given.workers)
        ask_together(port, processes, given.clients, 2)  # warm
        rounds = [
            (
                loops.measure(given.seconds, 1),
                loops.measure(given.seconds, _UNDER_WAY),
                ask_together(port, processes, given.clients, given.seconds),
            )
            for _ in range(given.rounds)
        ]
        loops.close()
    told = report(given, load, rounds)
    show(told)
    if given.json:
        given.json.write_text(
            json.dumps({**asdict(told), "holds": told.holds}, indent=1), encoding="utf-8"
        )


if __name__ == "__main__":
    main()
