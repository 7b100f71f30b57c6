"""Ctrl-C that waits for a good moment."""

import os
import signal
import threading

import pytest

from fdmix.runtime import interruption
from fdmix.runtime.interruption import completed, deferred_ctrl_c


@pytest.fixture(autouse=True)
def _default_handler():
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # a background job begins with it ignored
    yield
    signal.signal(signal.SIGINT, before)


def press():
    os.kill(os.getpid(), signal.SIGINT)


def test_it_strikes_at_the_next_check_and_once():
    with deferred_ctrl_c:
        press()
        press()  # programs that start others pass it on, too: the same press arrives twice
        with deferred_ctrl_c:
            pass
        with pytest.raises(KeyboardInterrupt):
            deferred_ctrl_c.check()
        deferred_ctrl_c.check()
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    with pytest.raises(KeyboardInterrupt):
        press()


def test_who_presses_again_does_not_wait(monkeypatch):
    monkeypatch.setattr(interruption, "SECOND_PRESS_SECONDS", 0.0)
    with deferred_ctrl_c:
        press()
        with pytest.raises(KeyboardInterrupt):
            press()
        deferred_ctrl_c.check()


def test_a_press_after_the_last_check_is_dropped():
    with deferred_ctrl_c:
        press()
    with deferred_ctrl_c:
        deferred_ctrl_c.check()


def test_a_handler_of_the_program_stays():
    heard = []
    mine = signal.signal(signal.SIGINT, lambda *_: heard.append("mine"))
    with deferred_ctrl_c:
        press()
        deferred_ctrl_c.check()
    assert heard == ["mine"]
    signal.signal(signal.SIGINT, mine)


def test_other_threads_hear_nothing():
    heard = []

    def work():
        with deferred_ctrl_c:
            deferred_ctrl_c.check()
            heard.append("went on")

    with deferred_ctrl_c:
        press()
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
        with pytest.raises(KeyboardInterrupt):
            deferred_ctrl_c.check()
    assert heard == ["went on"]


def test_what_must_be_completed_is_done_again():
    tries = []

    def work():
        tries.append(1)
        if len(tries) == 1:
            raise KeyboardInterrupt
        return "done"

    assert completed(work) == ("done", True)
    assert completed(work) == ("done", False)
