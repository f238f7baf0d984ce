"""A progress bar, a time limit, and Ctrl-C."""

import os
import signal
import threading
import time

import numpy as np
import pytest

from largemargin.runtime.progress import LINES, Watch
from tests.clock import driven_clock


def press_ctrl_c():
    os.kill(os.getpid(), signal.SIGINT)
    time.sleep(0.01)


def test_nothing_happens():
    with Watch("work", 10) as watch:
        for _ in range(10):
            watch.advance(1)
        assert watch.stopped == ""


def test_the_time_limit():
    with driven_clock() as clock, Watch("work", 10, max_seconds=2) as watch:
        watch.advance(1)
        clock.now += 1.5
        watch.advance(1)
        assert watch.stopped == ""
        assert (watch.elapsed, watch.seconds_left) == (1.5, 0.5)
        clock.now += 1
        assert watch.stopped == ""
        watch.advance(1)
        assert watch.stopped == "max_seconds=2 was reached"
        assert watch.seconds_left == 0


def test_a_look_is_enough():
    with driven_clock(tick=1.0), Watch("work", 10, max_seconds=2.5) as watch:
        assert watch.look() == ""
        assert watch.look() == ""
        assert watch.look() == watch.stopped == "max_seconds=2.5 was reached"


@pytest.mark.parametrize("wrong", [0, -1, "1", np.nan, True])
def test_wrong_limits(wrong):
    with pytest.raises(ValueError, match=f"max_seconds must be .* got {wrong!r}"):
        Watch("work", 10, max_seconds=wrong)


def test_the_first_ctrl_c_is_noted_and_the_second_interrupts():
    before = signal.getsignal(signal.SIGINT)
    with Watch("work", 10) as watch:
        assert signal.getsignal(signal.SIGINT) is not before
        press_ctrl_c()
        assert watch.stopped == "it was interrupted"
        with pytest.raises(KeyboardInterrupt):
            press_ctrl_c()
    assert signal.getsignal(signal.SIGINT) is before


def test_ctrl_c_is_as_it_was_afterwards():
    before = signal.getsignal(signal.SIGINT)
    with Watch("work", 10):
        pass
    assert signal.getsignal(signal.SIGINT) is before
    with pytest.raises(KeyError), Watch("work", 10):
        raise KeyError
    assert signal.getsignal(signal.SIGINT) is before


def test_a_handler_of_the_program_is_left_alone():
    pressed = []
    before = signal.signal(signal.SIGINT, lambda *args: pressed.append(1))
    try:
        with Watch("work", 10) as watch:
            press_ctrl_c()
            assert watch.stopped == ""
        assert pressed == [1]
    finally:
        signal.signal(signal.SIGINT, before)


def test_in_another_thread():
    before, seen = signal.getsignal(signal.SIGINT), []

    def work():
        with Watch("work", 10, max_seconds=1) as watch:
            clock.now += 2
            watch.advance(1)
            seen.append(watch.stopped)

    with driven_clock() as clock:
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
    assert seen == ["max_seconds=1 was reached"]
    assert signal.getsignal(signal.SIGINT) is before


def test_the_bar_is_on_stderr(capfd):
    with Watch("much work", 10, verbose=1) as watch:
        watch.advance(10, "a note")
    out, err = capfd.readouterr()
    assert out == ""
    assert "much work" in err
    assert "10/10" in err


def test_lines_for_a_log(capsys):
    """One every ten seconds of work, after the first step, which loads code."""
    with driven_clock() as clock, Watch("work", 10, verbose=LINES) as watch:
        clock.now = 25.0
        watch.advance(1)
        assert capsys.readouterr().err == ""
        for _ in range(4):
            clock.now += 6.0
            watch.advance(1, "a note")
    lines = capsys.readouterr().err.splitlines()
    assert lines == [
        "work: 3 of 10 after 37 seconds, about 86 seconds to go, a note",
        "work: 5 of 10 after 49 seconds, about 49 seconds to go, a note",
    ]
