"""Conditions are what the settings say, changed by name; nonsense is refused by name."""

import pytest

from askbook.errors import WrongUse
from askbook.settings import load_settings
from evaluation.conditions import Condition, chunk_settings
from evaluation.passages import Text, cut


def test_the_default_condition_is_what_readers_get(monkeypatch):
    monkeypatch.setenv("ASKBOOK_CHUNK_PRESET", "wide")
    monkeypatch.setenv("ASKBOOK_PREFETCH", "50")
    condition = Condition.of(load_settings())
    assert (condition.chunk, condition.prefetch, condition.fusion) == ("wide", 50, "dbsf")


def test_a_condition_is_told_in_the_words_it_is_given_in():
    changed = Condition().parsed("fusion=rrf, chunk=256,prefetch=20")
    assert changed == Condition(fusion="rrf", chunk="256", prefetch=20)
    assert Condition().parsed(changed.told()) == changed
    assert Condition().told() == "default"


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("fusion", "write name=value"),
        ("fuse=rrf", "No condition is called 'fuse'; use some of: embedder, chunk, fusion"),
        ("fusion=max", "fusion=max is not known; use one of: dbsf, rrf"),
        ("embedder=bert", "use one of: minilm"),
        ("chunk=huge", "is no chunk size; use compact"),
        ("prefetch=many", "prefetch=many is no whole number"),
        ("top=0", "at least 1"),
    ],
)
def test_what_makes_no_sense_is_refused_with_what_would(text, complaint):
    with pytest.raises(WrongUse, match=complaint):
        Condition().parsed(text)


def test_a_size_is_a_preset_or_a_number_of_tokens():
    assert chunk_settings("400").max_tokens == chunk_settings("compact").max_tokens == 512


def test_whole_documents_carry_their_title():
    (passage,) = cut([Text("a", "Title", "words")], "whole")
    assert (passage.embedded_text, passage.start, passage.end) == ("Title\n\nwords", 0, 5)
