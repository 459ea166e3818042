"""Where labelled words stand in a search, as arithmetic; and when a new index is called worse."""

from math import log2

import pytest

from askbook.golden.questions import Label, LabelSpan, Located, Question
from askbook.golden.scoring import holds, ndcg, needs_of, ranking
from askbook.golden.verdict import Verdict
from evaluation.metrics import per_query

HEAT = LabelSpan("a.md", 10, 20, "for heat", "h1")
COLD = LabelSpan("b.md", 0, 8, "for cold", "h2")


def chunk(file="a.md", start=0, end=100, text="", file_hash="h1"):
    return {
        "source_file": file,
        "source_file_hash": file_hash,
        "start_char_offset": start,
        "end_char_offset": end,
        "text": text,
    }


NEITHER = chunk("c.md", file_hash="h3")


@pytest.mark.parametrize(
    ("payload", "is_held"),
    [
        (chunk(start=0, end=100), True),
        (chunk(start=15, end=30), True),  # half of the label
        (chunk(start=16, end=30), False),  # less than half
        (chunk(start=20, end=30), False),
        (chunk("b.md"), False),
        (chunk(file_hash="older"), False),  # offsets of another version of the file mean nothing
        (chunk(file_hash="older", text="it is\nfor   heat, mostly"), True),  # but its words do
        (chunk("moved.md", text="for heat"), True),
    ],
)
def test_a_chunk_holds_a_label_by_its_place_or_by_its_words(payload, is_held):
    assert holds(payload, HEAT) is is_held


def question(*, needs_all=False, labels=2):
    answers = tuple(Label("a.md", "x") for _ in range(labels))
    return Question("q", "why?", "plain", "dev", answers, needs_all=needs_all)


def test_any_label_is_enough_unless_all_are_needed():
    located = Located({"q": (HEAT, COLD)}, ())
    assert needs_of(question(), located) == ((HEAT, COLD),)
    assert needs_of(question(needs_all=True), located) == ((HEAT,), (COLD,))


def test_a_question_whose_labels_left_the_book_cannot_be_judged():
    assert needs_of(question(labels=1), Located({"q": ()}, ())) == ()
    assert needs_of(question(needs_all=True), Located({"q": (HEAT,)}, ())) == ()


def test_a_need_counts_where_it_is_first_met():
    found = [NEITHER, chunk(), chunk()]
    assert ranking(found, ((HEAT,),)) == ["other-0", "need-0", "other-2"]
    assert ndcg(["other-0", "need-0", "other-2"], ((HEAT,),)) == pytest.approx(1 / log2(3))


def test_one_of_two_needs_at_the_top_is_worth_its_share_of_the_ideal():
    needs = ((HEAT,), (COLD,))
    names = ranking([chunk(), NEITHER], needs)
    assert ndcg(names, needs) == pytest.approx(1 / (1 + 1 / log2(3)))
    both = ranking([chunk(), chunk("b.md", file_hash="h2")], needs)
    assert ndcg(both, needs) == 1


@pytest.mark.parametrize("found", [[], [NEITHER], [NEITHER] * 10 + [chunk()], [chunk()]])
def test_the_gate_and_the_benchmarks_compute_the_same_ndcg(found):
    names, needs = ranking(found, ((HEAT,), (COLD,))), ((HEAT,), (COLD,))
    judged = per_query({"q": {"need-0": 1, "need-1": 1}}, {"q": names})
    assert ndcg(names, needs) == pytest.approx(judged["nDCG@10"]["q"])


def scores(*values):
    return {str(at): value for at, value in enumerate(values)}


def test_an_index_is_worse_only_where_it_is_more_than_chance():
    five, six = scores(*[1.0] * 5), scores(*[1.0] * 6)
    assert not Verdict(scores(*[0.0] * 5), five).is_worse  # p = 2 / 2**5, above 0.05
    assert Verdict(scores(*[0.0] * 6), six).is_worse  # p = 2 / 2**6
    assert not Verdict(six, scores(*[0.0] * 6)).is_worse  # better is not worse
    assert not Verdict(six, None).is_worse


def test_a_verdict_tells_its_numbers_and_who_lost():
    verdict = Verdict(scores(1.0, 0.0, 0.5), scores(1.0, 0.5, 0.25))
    assert verdict.told.startswith("nDCG@10 0.500 on 3 golden questions; the live index has 0.583")
    assert "1 won, 1 tied, 1 lost" in verdict.told
    assert verdict.worst() == [("1", 0.5, 0.0)]
