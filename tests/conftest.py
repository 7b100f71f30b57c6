"""Settings for all tests, a browser, and a hand that presses Ctrl-C."""

import os
import signal
import threading
from contextlib import contextmanager

import pytest
from browser import launched
from hypothesis import settings

# No deadline: the first call of a kernel compiles it. `make check` asks for the profile "quick"; `make test` and CI
# try all examples.
settings.register_profile("fdmix", deadline=None)
settings.register_profile("quick", deadline=None, max_examples=20)
settings.load_profile("fdmix")


@pytest.fixture(scope="session")
def browser():
    with launched() as running:
        yield running


@pytest.fixture
def ctrl_c_after():
    """`with ctrl_c_after(seconds)` presses Ctrl-C once, in the middle of whatever happens then, or never if the block
    ends before."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # a background job begins with it ignored

    @contextmanager
    def pressing(seconds):
        timer = threading.Timer(seconds, os.kill, (os.getpid(), signal.SIGINT))
        try:
            timer.start()
            yield
        finally:
            signal.signal(signal.SIGINT, signal.SIG_IGN)  # it may be pressed just now
            timer.cancel()
            timer.join()
            signal.signal(signal.SIGINT, signal.default_int_handler)

    yield pressing
    signal.signal(signal.SIGINT, before)
