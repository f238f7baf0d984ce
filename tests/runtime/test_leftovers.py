"""What killed processes leave beside a file is removed, and nothing that somebody still writes."""

import os
import threading

import pytest

from largemargin.runtime import files as atomic_file
from largemargin.runtime.files import remove_leftovers, write_atomically


def names(folder):
    return sorted(os.listdir(folder))


def write_and_die(path):
    """A process that dies with its new file half written."""
    child = os.fork()
    if not child:

        def parts():
            yield b"half"
            os._exit(9)

        try:
            write_atomically(path, parts())
        finally:
            os._exit(1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 9


def test_a_killed_writer_leaves_nothing_for_long(tmp_path):
    path = tmp_path / "file"
    path.write_bytes(b"old")
    write_and_die(path)
    assert len(names(tmp_path)) == 2  # else there is nothing to remove
    (tmp_path / ".largemargin-mine.txt").write_bytes(b"keep")
    (tmp_path / ".largemargin-folder.tmp").mkdir()
    (tmp_path / ".largemargin-link.tmp").symlink_to(path)
    write_atomically(path, [b"new"])
    assert path.read_bytes() == b"new"
    assert names(tmp_path) == [
        ".largemargin-folder.tmp", ".largemargin-link.tmp", ".largemargin-mine.txt", "file",
    ]  # fmt: skip


def test_what_is_being_written_stays(tmp_path):
    def parts():
        yield b"one "
        remove_leftovers(tmp_path)
        assert len(names(tmp_path)) == 1
        yield b"two"

    write_atomically(tmp_path / "file", parts())
    assert (tmp_path / "file").read_bytes() == b"one two"


def test_the_lock_lasts_until_the_file_has_its_name(tmp_path, monkeypatch):
    def replace(source, target, rename=os.replace):
        remove_leftovers(tmp_path)
        rename(source, target)

    monkeypatch.setattr(os, "replace", replace)
    write_atomically(tmp_path / "file", [b"whole"])
    assert names(tmp_path) == ["file"]


def test_taken_for_a_leftover_before_it_had_its_lock(tmp_path, monkeypatch):
    lock, times = atomic_file.fcntl.flock, []

    def late(descriptor, how):
        if not how & atomic_file.fcntl.LOCK_NB and not times:
            times.append(1)
            remove_leftovers(tmp_path)
            assert not names(tmp_path)
        lock(descriptor, how)

    monkeypatch.setattr(atomic_file.fcntl, "flock", late)
    write_atomically(tmp_path / "file", [b"whole"])
    assert times
    assert (tmp_path / "file").read_bytes() == b"whole"
    assert names(tmp_path) == ["file"]


def test_writers_and_cleaners_at_once(tmp_path):
    errors = []

    def write(number):
        try:
            for i in range(40):
                write_atomically(tmp_path / f"file{number}", [b"%d" % i])
                remove_leftovers(tmp_path)
        except OSError as error:
            errors.append(error)

    threads = [threading.Thread(target=write, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not errors
    assert names(tmp_path) == [f"file{number}" for number in range(4)]
    assert {path.read_bytes() for path in tmp_path.iterdir()} == {b"39"}


@pytest.mark.parametrize("how", ["no module", "no locks"])
def test_without_locks_all_stay(how, tmp_path, monkeypatch):
    write_and_die(tmp_path / "file")

    def refuse(descriptor, how):
        raise OSError(95, "Operation not supported")

    if how == "no module":
        monkeypatch.setattr(atomic_file, "fcntl", None)
    else:
        monkeypatch.setattr(atomic_file.fcntl, "flock", refuse)
    write_atomically(tmp_path / "file", [b"new"])
    remove_leftovers(tmp_path)
    assert (tmp_path / "file").read_bytes() == b"new"
    assert len(names(tmp_path)) == 2
