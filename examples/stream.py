"""A stream that changes.

After an abrupt change the error rises and falls again, in constant memory.

Chunks of examples arrive, are answered, and are then learned. In the middle the model is saved
and loaded, as if another process went on.

python examples/stream.py [FOLDER]
"""

import sys
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_moons

from largemargin import MIRA, load, save

folder = Path(sys.argv[1] if sys.argv[1:] else ".")
CHUNK, N_CHUNKS, TURN = 100, 60, 30


def chunk(number):
    """Two moons; from chunk TURN on they are upside down."""
    X, y = make_moons(CHUNK, noise=0.15, random_state=number)
    return (X, y) if number < TURN else (X * [1, -1], y)


model = MIRA(budget=100, policy="forgetron", average=False, gamma=2.0)  # forgets the oldest
errors, held = [], []
for number in range(N_CHUNKS):
    X, y = chunk(number)
    if number:
        errors.append((model.predict(X) != y).mean())
    model.partial_fit(X, y, classes=[0, 1])
    held.append(model.n_support_)
    if number == N_CHUNKS // 2:  # as if the process ended here and another one went on
        save(model, folder / "stream.safetensors")
        model = load(folder / "stream.safetensors")

print(f"{CHUNK * N_CHUNKS} examples, never more than {max(held)} of them held")
print(f"{model.online_errors_} errors on the way")
for name, part in (("before", errors[10:TURN]), ("after", errors[TURN + 10 :])):
    print(f"error of chunks well {name} the turn: {np.mean(part):.1%}")

figure, ax = plt.subplots(figsize=(7, 4), layout="constrained")
ax.plot(range(1, N_CHUNKS), errors, label="error on the next chunk")
ax.axvline(TURN, color="grey", linestyle="dotted", label="the turn")
ax.set(xlabel="chunk", ylabel="error", ylim=(0, None))
ax.legend()
figure.savefig(folder / "stream.png")
