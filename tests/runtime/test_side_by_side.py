"""Streams side by side: all items arrive, those of one stream in order, and errors end the others."""

import threading
import time

import pytest

from fdmix.runtime.side_by_side import side_by_side
from fdmix.runtime.threads import thread_count


def counting(k):
    for i in range(k):
        yield 10 * k + i


@pytest.mark.parametrize("n_workers", [1, 2, 7])
def test_all_items_arrive_and_each_stream_keeps_its_order(n_workers):
    found = list(side_by_side(counting, 5, n_workers))
    for k in range(5):
        assert [item for stream, item in found if stream == k] == [10 * k + i for i in range(k)]


def test_two_streams_run_at_the_same_time():
    both_are_there = threading.Barrier(2, timeout=20)

    def meeting(k):
        both_are_there.wait()
        yield k

    assert sorted(side_by_side(meeting, 2, 2)) == [(0, 0), (1, 1)]


def test_work_inside_a_stream_starts_no_threads_by_itself():
    def threads(_):
        yield thread_count()

    assert {count for _, count in side_by_side(threads, 3, 2)} == {1}


def test_an_error_is_raised_and_ends_the_other_streams():
    steps = []

    def failing(k):
        if k == 1:
            raise ValueError("no such fold")
        for i in range(10_000):
            steps.append(i)
            time.sleep(0.001)
            yield i

    with pytest.raises(ValueError, match="no such fold"):
        list(side_by_side(failing, 2, 2))
    assert len(steps) < 10_000


def test_whoever_takes_no_more_ends_all_streams():
    steps = []

    def long(_):
        for i in range(10_000):
            steps.append(i)
            time.sleep(0.001)
            yield i

    taken = side_by_side(long, 2, 2)
    next(taken)
    taken.close()
    assert len(steps) < 10_000
