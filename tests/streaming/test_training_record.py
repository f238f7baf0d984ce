"""A stream knows what it has learned, and its checkpoint does."""

import json

import numpy as np
import pytest
import scipy.sparse as sp

from largemargin import MIRA
from largemargin.runtime.threads import Workers
from largemargin.streaming.checkpoint import StreamPosition, read_checkpoint, write_checkpoint
from largemargin.streaming.schema import Schema
from largemargin.streaming.session import LineCounts, Session

ROWS = np.random.default_rng(0).normal(size=(12, 3))
LABELS = np.array(["bee", "ant", "cat"])[np.arange(12) * 7 % 3]
LABELS[:4] = "bee"  # the classes before and after it come later


@pytest.mark.bits
@pytest.mark.parametrize("size", [1, 5, 100])
def test_the_blocks_of_a_stream_are_one_fit(size, tmp_path):
    asked = json.dumps({"x": [1.0, 2.0, 3.0]}).encode()  # is answered, and not learned
    lines = [asked, asked]
    for x, y in zip(ROWS.tolist(), LABELS.tolist(), strict=True):
        lines += [json.dumps({"x": x, "y": y}).encode(), asked]
    session = Session(MIRA(gamma=1.0), Schema(3), LineCounts())
    for k in range(0, len(lines), size):
        assert not session.process(lines[k : k + size], Workers(1)).failure
        if k == 5:
            write_checkpoint(str(tmp_path / "c"), session.model, StreamPosition())
            model, _ = read_checkpoint(str(tmp_path / "c"))
            session = Session(model, session.schema, session.counts)
    whole = MIRA(gamma=1.0).fit(sp.csr_array(ROWS), LABELS)
    assert session.model._record == whole._record
    found = session.model.certificate(ROWS, LABELS, leave_one_out=False)
    assert found["VC bound"].assumptions[0].holds is True
