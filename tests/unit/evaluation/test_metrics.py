"""Figures that a reader can redo by hand, and what holds for every run."""

from math import log2

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation.metrics import (
    TokenCount,
    auroc,
    best_f1,
    bootstrap,
    calibration_error,
    compare,
    f1,
    means,
    per_query,
    reliability,
    span_score,
)

spans = st.lists(st.tuples(st.integers(0, 60), st.integers(1, 20)).map(lambda s: (s[0], sum(s))))
shares = st.lists(st.floats(0, 1), min_size=1, max_size=20)


def test_ranking_measures_of_one_query():
    values = means(per_query({"q": {"a": 1, "b": 1}}, {"q": ["x", "a", "y", "b"]}))
    ideal = 1 / log2(2) + 1 / log2(3)
    assert values["nDCG@10"] == pytest.approx((1 / log2(3) + 1 / log2(5)) / ideal)
    assert values["RR@10"] == pytest.approx(1 / 2)
    assert values["AP"] == pytest.approx((1 / 2 + 2 / 4) / 2)
    assert values["P@5"] == pytest.approx(2 / 5)
    assert values["R@5"] == 1
    assert values["Success@1"] == 0
    assert values["Success@5"] == 1


def test_only_the_first_ten_count_for_ndcg_and_reciprocal_rank():
    values = per_query({"q": {"a": 1}}, {"q": [*"0123456789", "a"]})
    assert values["nDCG@10"]["q"] == values["RR@10"]["q"] == values["R@10"]["q"] == 0
    assert values["R@100"]["q"] == 1
    assert values["AP"]["q"] == pytest.approx(1 / 11)


def test_a_query_that_found_nothing_counts_as_zero():
    values = per_query({"q": {"a": 1}, "lost": {"b": 1}}, {"q": ["a"]})
    assert values["nDCG@10"] == {"q": 1, "lost": 0}
    assert means(values)["nDCG@10"] == 1 / 2


def test_a_document_found_twice_counts_where_it_was_found_first():
    once = per_query({"q": {"a": 1, "b": 1}}, {"q": ["a", "b"]})
    assert per_query({"q": {"a": 1, "b": 1}}, {"q": ["a", "a", "b"]}) == once


def test_span_measures_count_characters():
    score = span_score(retrieved=[(0, 10), (20, 30)], gold=[(5, 15)])
    assert score.recall == 5 / 10
    assert score.precision == 5 / 20
    assert score.iou == 5 / (20 + 5)


def test_text_retrieved_twice_is_found_once_but_read_twice():
    score = span_score(retrieved=[(0, 10), (0, 10)], gold=[(0, 10)])
    assert (score.recall, score.precision, score.iou) == (1, 10 / 20, 10 / 20)


def test_nothing_retrieved_or_nothing_to_find_is_zero_not_an_error():
    assert span_score([], [(0, 5)]).recall == 0
    assert span_score([], []).iou == 0


@given(spans, spans)
def test_spans_are_shares_and_more_chunks_never_recall_less(retrieved, gold):
    score, fewer = span_score(retrieved, gold), span_score(retrieved[:1], gold)
    assert 0 <= score.iou <= min(score.recall, score.precision) <= 1
    assert score.recall >= fewer.recall


@given(spans.filter(bool))
def test_everything_is_recalled_where_gold_itself_is_retrieved(gold):
    assert span_score(gold, gold).recall == 1


def test_the_interval_of_equal_values_is_a_point():
    interval = bootstrap([0.25, 0.25, 0.25])
    assert (interval.mean, interval.low, interval.high) == (0.25, 0.25, 0.25)


def test_the_interval_of_a_fair_coin_is_about_two_standard_errors_wide():
    interval = bootstrap([0.0, 1.0] * 50)
    error = 0.5 / 100**0.5
    assert interval.mean == 0.5
    assert interval.low == pytest.approx(0.5 - 1.96 * error, abs=0.02)
    assert interval.high == pytest.approx(0.5 + 1.96 * error, abs=0.02)


def test_no_queries_have_no_mean():
    with pytest.raises(ValueError, match="no queries"):
        bootstrap([])


@given(shares)
def test_the_interval_holds_the_mean_and_repeats_itself(values):
    interval = bootstrap(values, resamples=200)
    assert interval.low - 1e-9 <= interval.high
    assert min(values) - 1e-9 <= interval.low
    assert interval.high <= max(values) + 1e-9
    assert interval == bootstrap(values, resamples=200)


def test_a_run_that_wins_everywhere_is_surely_better():
    worse = {str(n): 0.0 for n in range(12)}
    better = compare(worse, dict.fromkeys(worse, 1.0))
    assert better.difference == 1
    assert (better.wins, better.ties, better.losses) == (12, 0, 0)
    assert better.p == pytest.approx(2 / 2**12, abs=0.001)  # all signs up, or all down


def test_a_win_and_an_equal_loss_prove_nothing():
    found = compare({"a": 0.0, "b": 1.0, "c": 0.5}, {"a": 1.0, "b": 0.0, "c": 0.5})
    assert (found.difference, found.wins, found.ties, found.losses, found.p) == (0, 1, 1, 1, 1)


def test_runs_on_other_queries_are_not_compared():
    with pytest.raises(ValueError, match="same queries"):
        compare({"a": 1.0}, {"b": 1.0})


@given(shares)
def test_comparing_the_other_way_round_turns_the_sign_and_nothing_else(values):
    a = {str(n): value for n, value in enumerate(values)}
    b = {str(n): value for n, value in enumerate(reversed(values))}
    there, back = compare(a, b, resamples=100), compare(b, a, resamples=100)
    assert there.difference == -back.difference
    assert (there.wins, there.ties, there.p) == (back.losses, back.ties, back.p)


def test_auroc_counts_pairs_and_halves_ties():
    # pairs (positive, negative): .9>.5, .9>.1, .5=.5, .5>.1
    assert auroc([True, True, False, False], [0.9, 0.5, 0.5, 0.1]) == (1 + 1 + 0.5 + 1) / 4


def test_auroc_of_one_class_is_not_defined():
    with pytest.raises(ValueError, match="one positive and one negative"):
        auroc([True], [0.5])


@given(st.lists(st.tuples(st.booleans(), st.integers(0, 5)), min_size=2, max_size=30))
def test_auroc_of_turned_scores_is_the_rest_to_one(rows):
    labels, scores = [yes for yes, _ in rows], [score for _, score in rows]
    if len(set(labels)) == 2:
        assert auroc(labels, scores) == pytest.approx(1 - auroc(labels, [-s for s in scores]))


def test_f1_is_the_harmonic_mean():
    precision, recall = 1 / 2, 1 / 3
    labels, guesses = [True, True, True, False], [True, False, False, True]
    assert f1(labels, guesses) == pytest.approx(2 * precision * recall / (precision + recall))
    assert f1([False], [False]) == 0


def test_the_best_threshold_is_one_of_the_scores():
    assert best_f1([True, True, False], [0.9, 0.4, 0.2]) == (1, 0.4)


def test_code_points_become_the_tokens_they_stand_in():
    count = TokenCount("The robot walks. 😀 Grüße!")
    # The| robot| walks|.| 😀 (2 tokens: one code point)| Gr|ü|ße|!
    assert count.span(0, 3) == (0, 1)
    assert count.span(4, 9) == (1, 2)
    assert count.span(5, 11) == (1, 3)  # the end of "robot", the start of " walks"
    assert count.span(0, 25) == (0, len(count))


@given(st.text(min_size=1, max_size=40), st.data())
def test_token_spans_lie_in_the_text_and_grow_with_the_span(text, data):
    count = TokenCount(text)
    start = data.draw(st.integers(0, len(text) - 1))
    end = data.draw(st.integers(start + 1, len(text)))
    first, last = count.span(start, end)
    assert 0 <= first < last <= len(count)
    assert count.span(0, len(text)) == (0, len(count))


def test_confidence_is_compared_with_the_truth_bin_by_bin():
    bins = reliability([0.9, 0.9, 1.0, 0.1], [True, False, True, False])
    assert [(each.count, each.right) for each in bins] == [(1, 0), (3, 2 / 3)]
    assert calibration_error(bins) == pytest.approx((0.1 * 1 + (2.8 / 3 - 2 / 3) * 3) / 4)
    assert reliability([], []) == []
    assert calibration_error([]) == 0
