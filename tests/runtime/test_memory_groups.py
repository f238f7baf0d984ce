"""What control groups leave: the process's own, and all those above it."""

import pytest

from largemargin.runtime.memory import room_in_groups

NONE = float("inf")


def write(root, files):
    for name, content in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)


def unified(path, limit, used, high="max", cached=0):
    folder = f"sys/fs/cgroup{path}".rstrip("/")
    return {
        f"{folder}/memory.max": f"{limit}\n",
        f"{folder}/memory.high": f"{high}\n",
        f"{folder}/memory.current": f"{used}\n",
        f"{folder}/memory.stat": f"anon 5\ninactive_file {cached}\n",
    }


def separate(path, limit, used, cached=0, top="memory"):
    folder = f"sys/fs/cgroup/{top}{path}".rstrip("/")
    return {
        f"{folder}/memory.limit_in_bytes": f"{limit}\n",
        f"{folder}/memory.usage_in_bytes": f"{used}\n",
        f"{folder}/memory.stat": f"cache 5\ntotal_inactive_file {cached}\n",
    }


@pytest.mark.parametrize(
    ("own", "files", "room"),
    [
        ("0::/\n", {}, NONE),
        ("", {}, NONE),
        ("0::/\n", unified("/", 1000, 300), 700),
        ("", unified("/", 1000, 300), 700),
        ("0::/a/b\n", unified("/a/b", 1000, 300), 700),
        ("0::/a/b\n", unified("/a/b", "max", 300) | unified("/a", 500, 400), 100),
        ("0::/a/b\n", unified("/a/b", 1000, 300) | unified("/a", 2000, 1900), 100),
        ("0::/a/b\n", unified("/a", 1000, 1) | unified("/a/b", "max", 1, high=200), 199),
        ("0::/a\n", unified("/a", 1000, 900, cached=600), 700),
        ("0::/a\n", unified("/a", 1000, 1200), 0),
        ("0::/a\n", unified("/b", 10, 0), NONE),
        ("0::/../../x\n", unified("/", 1000, 400), 600),
        ("0::/not/to/be/seen\n", unified("/", 1000, 400), 600),
        ("0::/with:colon\n", unified("/with:colon", 1000, 400), 600),
        ("4:memory:/job/7\n0::/\n", separate("/job/7", 1000, 300), 700),
        ("4:memory:/job/7\n", separate("/job", 500, 300) | separate("/", 2**63 - 4096, 9), 200),
        ("4:memory:/docker/abc\n", separate("/", 800, 700, cached=500), 600),
        ("3:cpu,memory:/j\n", separate("/j", 800, 700, top="cpu,memory"), 100),
        ("3:cpu:/j\n", separate("/j", 800, 700), NONE),
        ("nonsense\n\n::\n", {}, NONE),
        ("0::/a\n", {"sys/fs/cgroup/a/memory.max": "many"}, NONE),
        ("0::/a\n", {"sys/fs/cgroup/a/memory.max": "10"}, NONE),
    ],
)
def test_the_least_of_all_groups(tmp_path, own, files, room):
    write(tmp_path, files)
    if own:
        write(tmp_path, {"proc/self/cgroup": own})
    assert room_in_groups(tmp_path) == room


def test_here():
    assert room_in_groups() >= 0
