"""Python's collector is as it was, whatever happens while a long page is cut."""

import gc

import pytest

from askbook.book.collector import paused_for

LONG = 2_000_000


def test_the_collector_rests_for_a_long_page_only():
    with paused_for(1000):
        assert gc.isenabled()
    with paused_for(LONG), paused_for(LONG):
        assert not gc.isenabled()
    assert gc.isenabled()


def test_a_pause_inside_another_does_not_end_it():
    with paused_for(LONG):
        with paused_for(LONG):
            pass
        assert not gc.isenabled()


def test_an_error_ends_the_pause():
    with pytest.raises(ValueError, match="x"), paused_for(LONG):
        raise ValueError("x")
    assert gc.isenabled()


def test_a_collector_that_was_off_stays_off():
    gc.disable()
    try:
        with paused_for(LONG):
            pass
        assert not gc.isenabled()
    finally:
        gc.enable()
