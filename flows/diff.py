"""Stage 2: compare the folder with what is indexed: new, modified, moved, deleted, unchanged."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

from askbook.errors import RunRefused
from askbook.models import Action, Document, Lesson, Mode
from flows.discover import Quarantined, Survey


@dataclass(frozen=True, slots=True)
class Step:
    """What is done with one file, and why."""

    action: Action
    source_file: str
    lesson: Lesson | None  # None for deleted and quarantined files
    known: Document | None  # how it is indexed now; for a moved file, its old place
    reason: str


@dataclass(frozen=True, slots=True)
class Plan:
    """What a run will do, file by file, by path."""

    steps: tuple[Step, ...]
    quarantined: tuple[Quarantined, ...]

    def of(self, *actions: Action) -> list[Step]:
        """The steps with one of these actions."""
        return [step for step in self.steps if step.action in actions]

    @property
    def to_index(self) -> list[Step]:
        """Files that are chunked and indexed by this run."""
        return self.of(Action.NEW, Action.MODIFIED, Action.MOVED)

    @property
    def counts(self) -> dict[str, int]:
        """Files by action."""
        found = Counter(step.action for step in self.steps)
        return {action.value: found[action] for action in Action}

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to do."""
        return not self.to_index and not self.of(Action.DELETED)


def diff(
    survey: Survey, known: Iterable[Document], *, mode: Mode, embedding_model: str, chunker: str
) -> Plan:
    """Pure comparison; decides, touches nothing."""
    indexed = {document.file_path: document for document in known}
    present = {lesson.source_file for lesson in survey.lessons}
    gone = {
        path: document
        for path, document in indexed.items()
        if path not in present and not _held_back(path, survey.quarantined)
    }
    moves = _moves(survey.lessons, indexed, gone)

    steps = [
        _step(lesson, indexed.get(lesson.source_file), moves.get(lesson.source_file), rules)
        for rules in [_Rules(mode, embedding_model, chunker)]
        for lesson in survey.lessons
    ]
    moved_away = {document.file_path for document in moves.values()}
    steps += [
        Step(Action.DELETED, path, None, document, "no longer in the folder")
        for path, document in gone.items()
        if path not in moved_away
    ]
    steps += [
        Step(Action.QUARANTINED, each.source_file, None, indexed.get(each.source_file), each.reason)
        for each in survey.quarantined
    ]
    return Plan(tuple(sorted(steps, key=lambda step: step.source_file)), survey.quarantined)


def _held_back(path: str, quarantined: Iterable[Quarantined]) -> bool:
    """Whether a file, or a folder it is in, could not be read: then it is not gone."""
    return any(path == q.source_file or path.startswith(f"{q.source_file}/") for q in quarantined)


def guard_deletions(plan: Plan, *, known: int, max_share: float) -> None:
    """Stop when so much of the book vanished that a mistake is likelier than an edit."""
    deleted = len(plan.of(Action.DELETED))
    if known and deleted / known > max_share:
        raise RunRefused(
            f"{deleted} of {known} known files are gone from the folder (more than "
            f"{max_share:.0%}). Nothing was changed. If that is right, run again with --force."
        )


@dataclass(frozen=True, slots=True)
class _Rules:
    mode: Mode
    embedding_model: str
    chunker: str


def _moves(
    lessons: Iterable[Lesson], indexed: dict[str, Document], gone: dict[str, Document]
) -> dict[str, Document]:
    """New path → the vanished document with the same bytes; each document moves once."""
    by_hash: dict[str, list[Document]] = defaultdict(list)
    for _, document in sorted(gone.items()):
        by_hash[document.content_hash].append(document)
    moves = {}
    for lesson in lessons:
        candidates = by_hash.get(lesson.source_file_hash)
        if lesson.source_file not in indexed and candidates:
            moves[lesson.source_file] = candidates.pop(0)
    return moves


def _step(lesson: Lesson, known: Document | None, moved: Document | None, rules: _Rules) -> Step:
    path = lesson.source_file
    if moved is not None:
        return Step(Action.MOVED, path, lesson, moved, f"was {moved.file_path}")
    if known is None:
        return Step(Action.NEW, path, lesson, None, "not indexed yet")
    reason = _stale(lesson, known, rules)
    if reason is None:
        return Step(Action.UNCHANGED, path, lesson, known, "")
    return Step(Action.MODIFIED, path, lesson, known, reason)


def _stale(lesson: Lesson, known: Document, rules: _Rules) -> str | None:
    """Why an indexed file is indexed again, if it is."""
    if known.content_hash != lesson.source_file_hash:
        return "content changed"
    if known.location != lesson.location:
        return "its place in the book changed"
    if known.chunker != rules.chunker:
        return "chunk settings changed"
    if known.embedding_model != rules.embedding_model:
        return f"embedding model changed from {known.embedding_model}"
    return None if rules.mode is Mode.INCREMENTAL else f"mode {rules.mode.value}"
