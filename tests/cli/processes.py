"""Commands as processes of their own, started quickly: a process that has imported everything forks
one a command, so that hundreds can be started, and killed, in a test.
"""

import json
import os
import signal
import subprocess
import sys
from dataclasses import dataclass

CODE = """
import contextlib, json, os, signal, sys, tempfile
import numpy as np
from largemargin import MIRA
from largemargin.cli import app, main
from largemargin.online.progressive import answer_and_learn
from largemargin.streaming import driver
from largemargin.runtime.threads import Workers

X = np.arange(12.0).reshape(6, 2)
for kernel in ("poly", "rbf"):  # loads what is compiled
    model = MIRA(kernel=kernel, budget=3)
    answer_and_learn(model, X, np.arange(6) % 3, np.ones(6, bool), Workers(1))

orders = os.dup(0)
with tempfile.TemporaryDirectory() as folder:  # a whole command imports what commands need
    with open(f"{folder}/events", "w+") as events:
        events.write('{"x": [1, 2], "y": 0}\\n{"x": [2, 1], "y": 1}\\n')
        events.seek(0)
        os.dup2(events.fileno(), 0)
    files = ["--checkpoint", f"{folder}/c", "-o", f"{folder}/o", "-m", f"{folder}/m"]
    sys.argv = ["largemargin", "stream", "mira", "--n-jobs", "1", "-q", *files]
    with contextlib.suppress(SystemExit):
        main()
    assert os.path.exists(f"{folder}/m")
os.dup2(orders, 0)

for line in sys.stdin:
    order = json.loads(line)
    child = os.fork()
    if not child:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        signal.signal(signal.SIGHUP, signal.SIG_DFL)  # which is ignored where nohup runs the tests
        os.chdir(order["folder"])
        for target, name in enumerate(order["files"]):
            flags = os.O_RDONLY if target == 0 else os.O_WRONLY | os.O_CREAT | os.O_TRUNC
            os.dup2(os.open(name, flags), target)
        sys.argv = ["largemargin", *order["args"]]
        code = 1
        try:
            main()
        except SystemExit as error:
            code = error.code or 0
        except KeyboardInterrupt:  # before or after the command itself
            code = 130
        finally:
            sys.stdout.flush()
            os._exit(code)
    print(child, flush=True)
    sys.stdin.readline()  # its id is its own until it has been waited for
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
"""


@dataclass
class Result:
    returncode: int
    stdout: str
    stderr: str


class Started:
    """A command that runs in a folder."""

    def __init__(self, parent, folder):
        self._parent = parent
        self._folder = folder
        self.pid = int(parent.stdout.readline())

    def kill(self, number=signal.SIGKILL):
        os.kill(self.pid, number)

    def wait(self):
        self._parent.stdin.write("\n")
        self._parent.stdin.flush()
        code = int(self._parent.stdout.readline())
        texts = [(self._folder / name).read_text() for name in ("stdout", "stderr")]
        return Result(code, *texts)


class Commands:
    """Starts commands; one at a time."""

    def __init__(self):
        self._parent = subprocess.Popen(
            [sys.executable, "-c", CODE], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def start(self, folder, *args, stdin=os.devnull):
        files = [str(stdin), str(folder / "stdout"), str(folder / "stderr")]
        order = {"folder": str(folder), "files": files, "args": [str(arg) for arg in args]}
        self._parent.stdin.write(json.dumps(order) + "\n")
        self._parent.stdin.flush()
        return Started(self._parent, folder)

    def run(self, folder, *args, stdin=os.devnull):
        return self.start(folder, *args, stdin=stdin).wait()

    def close(self):
        self._parent.stdin.close()
        self._parent.stdout.close()
        self._parent.wait(60)
