"""One process at a time for a file."""

import os
import platform
import threading
import time

import pytest

from largemargin.streaming import files as module
from largemargin.streaming.files import locked


def test_the_second_is_told_who_has_it(tmp_path):
    path = str(tmp_path / "file")
    with locked(path):
        with pytest.raises(ValueError, match=f"in use by process {os.getpid()} on ") as error:
            locked(path).__enter__()
        assert platform.node() in str(error.value)
        os.symlink(path, tmp_path / "link")
        with pytest.raises(ValueError, match="in use by process"):
            locked(str(tmp_path / "link")).__enter__()
        with locked(str(tmp_path / "other")):
            pass
    assert os.listdir(tmp_path) == ["link"]
    with locked(path):
        pass


def test_a_process_that_dies_frees_it(tmp_path):
    path = str(tmp_path / "file")
    told, tell = os.pipe()
    child = os.fork()
    if not child:
        with locked(path):
            os.write(tell, b"!")
            threading.Event().wait(60)
            os._exit(0)
    os.read(told, 1)
    with pytest.raises(ValueError, match=f"process {child} on"):
        locked(path).__enter__()
    os.kill(child, 9)
    os.waitpid(child, 0)
    assert os.listdir(tmp_path) == [".file.lock"]
    with locked(path):
        pass
    assert os.listdir(tmp_path) == []


def test_never_two_at_once(tmp_path):
    """Removing the file beside and making it anew must not let a second one in."""
    path, inside, worst, entered = str(tmp_path / "file"), [], [], []

    def enter():
        for _ in range(150):
            try:
                with locked(path):
                    inside.append(1)
                    time.sleep(0)
                    worst.append(len(inside))
                    inside.pop()
                entered.append(1)
            except ValueError:
                pass

    threads = [threading.Thread(target=enter) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert max(worst) == 1
    assert entered


@pytest.mark.parametrize("how", ["no module", "no locks"])
def test_without_locks_it_says_so(how, tmp_path, monkeypatch):
    def refuse(descriptor, how):
        raise OSError(37, "No locks available")

    if how == "no module":
        monkeypatch.setattr(module, "fcntl", None)
    else:
        monkeypatch.setattr(module.fcntl, "flock", refuse)
    with (
        pytest.warns(UserWarning, match="no locks in the folder of .*file"),
        locked(str(tmp_path / "file")),
    ):
        pass
    assert os.listdir(tmp_path) == []
