"""The online learners as their papers write them: one example after the other, everything summed
anew.

The stream is its kernel matrix K. What is stored is a list of examples, each with its coefficient
in every vector; scores and norms are sums over it, made when they are needed.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from largemargin.online import MIRA, ROMMA, AggressivePerceptron

MOST, ENOUGH = 16, 1e-4  # of the hand-over to the average


@dataclass
class Stored:
    position: int
    label: int
    coefs: np.ndarray
    sums: np.ndarray  # of the coefficients over the stream


def project_onto_simplex(v):
    """The nearest point with entries >= 0 that sum to 1, by sorting."""
    u = np.sort(v)[::-1]
    theta = (np.cumsum(u) - 1) / np.arange(1, len(v) + 1)
    k = np.flatnonzero(u > theta)[-1]
    return np.maximum(v - theta[k], 0)


class Twin:
    def __init__(self, model, K, n_classes):
        self.K = np.asarray(K, float)
        self.kind = type(model)
        self.model = model
        self.policy = model.policy
        if self.policy == "auto":
            self.policy = "distill" if model.budget is None else "projectron"
        self.n_classes = n_classes
        self.n_rows = 1 if n_classes == 2 else n_classes
        self.stored = []
        self.updates = np.ones(self.n_rows, int)
        self.counts = dict.fromkeys(
            ("n_insertions_", "n_removals_", "online_errors_", "margin_errors_"), 0
        )
        self.seen = 0
        self.harm = self.steps = self.longest = 0.0
        self.random = None

    # scores

    def score(self, t, without=None):
        s = np.zeros(self.n_rows)
        for e in self.stored:
            if e is not without:
                s = s + e.coefs * self.K[e.position, t]
        return s

    def squared_norms(self):
        return sum((e.coefs * self.score(e.position) for e in self.stored), np.zeros(self.n_rows))

    def signs(self, y):
        return np.where(np.arange(self.n_rows) == (y if self.n_rows > 1 else y - 1), 1, -1)

    @property
    def joint(self):
        return self.n_rows > 1 and self.kind in (AggressivePerceptron, MIRA)

    def lead(self, s, y):
        if self.n_rows == 1:
            return s[0] * self.signs(y)[0]
        return s[y] - np.delete(s, y).max()

    def surplus(self, s, y, t):
        """By how much scores clear the margin; an example at a surplus of 0 is learned."""
        if self.joint:
            return self.lead(s, y) - self.model.margin
        clear = self.signs(y) * s
        if self.kind is AggressivePerceptron:
            return (clear - self.model.margin).min()
        if self.kind is MIRA:
            return (2 * clear - self.model.margin).min() / 2
        if self.kind is ROMMA:
            return (clear - (1 if self.model.aggressive else 0)).min()
        length = np.sqrt(self.K[t, t])
        clear = clear / length if length > 0 else 0 * clear
        return (clear - self.alma_threshold()).min()

    def alma_threshold(self):
        alpha, B = self.model.alpha, self.model.B
        return (1 - alpha) * (np.sqrt(8) / alpha if B is None else B) / np.sqrt(self.updates)

    def errs(self, s, y, t):
        surplus = self.surplus(s, y, t)
        return surplus < 0 if self.kind is ROMMA and self.model.aggressive else surplus <= 0

    def redundant(self, e):
        surplus = self.surplus(self.score(e.position, without=e), e.label, e.position)
        at_zero = getattr(self.model, "margin", 1) == 0 or not getattr(self.model, "aggressive", 1)
        return surplus > 0 if at_zero else surplus >= 0

    # steps

    def choose_step(self, s, y, t):
        """The coefficients of x and the factors of the vectors."""
        A = self.K[t, t]
        factors = np.ones(self.n_rows)
        if self.kind is AggressivePerceptron:
            if self.n_rows == 1:
                return self.signs(y) * 1.0, factors
            tau = np.zeros(self.n_rows)
            tau[y] = 1
            tau[np.argmax(np.where(np.arange(self.n_rows) == y, -np.inf, s))] = -1
            return tau, factors
        if self.kind is MIRA:
            rows = np.array([-s[0], s[0]]) if self.n_rows == 1 else s
            own = np.arange(len(rows)) == y
            if A <= 0 or rows[y] - rows[~own].max() >= self.model.margin:
                return np.zeros(self.n_rows), factors
            B = rows + self.model.margin * ~own
            tau = own - project_onto_simplex(B / A + own)
            return (tau[1:] if self.n_rows == 1 else tau), factors
        tau = np.zeros(self.n_rows)
        norms = self.squared_norms()
        for r, sign in enumerate(self.signs(y)):
            step = self.romma if self.kind is ROMMA else self.alma
            tau[r], factors[r] = step(r, sign, s[r], norms[r], A)
        return tau, factors

    def romma(self, r, y, s, n, A):
        if A <= 0 or (y * s >= 1 if self.model.aggressive else y * s > 0):
            return 0, 1
        q = A * n - s * s
        if not any(e.coefs[r] for e in self.stored) or q <= 1e-8 * A * n:
            return y / A, 0
        if self.model.aggressive and y * s >= A * n:
            return y / A, 0
        return n * (y - s) / q, (A * n - y * s) / q

    def alma(self, r, y, s, n, A):
        if A <= 0 or y * s / np.sqrt(A) > self.alma_threshold()[r]:
            return 0, 1
        eta = (np.sqrt(2) if self.model.C is None else self.model.C) / np.sqrt(self.updates[r])
        length = np.sqrt(n + 2 * eta * y * s / np.sqrt(A) + eta**2)
        return eta * y / np.sqrt(A) / max(1, length), 1 / max(1, length)

    # the loop

    def learn(self, t, y):
        self.process(t, y)
        self.seen += 1
        for e in self.stored:
            e.sums = e.sums + e.coefs

    def process(self, t, y):
        budget = self.model.budget
        s = self.score(t)
        self.counts["online_errors_"] += bool(self.lead(s, y) <= 0)
        if not self.errs(s, y, t):
            return
        self.counts["margin_errors_"] += 1
        if self.policy in ("margin", "random") and len(self.stored) == budget:
            self.remove(self.best() if self.policy == "margin" else self.drawn())
            s = self.score(t)
        tau, factors = self.choose_step(s, y, t)
        if not tau.any():
            return
        for e in self.stored:
            e.coefs = e.coefs * factors
        self.updates = self.updates + (tau != 0)
        if self.policy == "projectron" and self.projected(t, tau):
            return
        self.stored.append(Stored(t, y, np.asarray(tau, float), np.zeros(self.n_rows)))
        self.counts["n_insertions_"] += 1
        if self.policy == "distill":
            while any(self.redundant(e) for e in self.stored):
                self.remove(self.best())
        if self.policy == "forgetron":
            self.longest = max(self.longest, self.K[t, t])
            self.steps += np.sqrt(tau @ tau * self.K[t, t] / self.longest)
            if len(self.stored) > budget:
                self.forget()

    def remove(self, e):
        if self.model.average:
            self.hand_over(e)
        self.stored.remove(e)
        self.counts["n_removals_"] += 1

    def best(self):
        """The one that is classified best without itself; the oldest of equals."""
        return max(
            sorted(self.stored, key=lambda e: e.position),
            key=lambda e: self.surplus(self.score(e.position, without=e), e.label, e.position),
        )

    def drawn(self):
        return self.random(self.stored)

    def forget(self):
        e = min(self.stored, key=lambda e: e.position)
        sigma = np.sqrt(e.coefs @ e.coefs * self.K[e.position, e.position] / self.longest)
        agreement = e.coefs @ self.score(e.position) / self.longest
        phis = np.linspace(0, 1, 100_001)
        harms = (phis * sigma) ** 2 + 2 * phis * sigma - 2 * phis**2 * agreement
        allowed = 15 / 32 * self.steps - self.harm
        phi = phis[np.flatnonzero(harms <= allowed + 1e-12)[-1]]
        if phi < 1:  # between two points of the grid
            a, b = sigma**2 - 2 * agreement, 2 * sigma
            roots = np.roots([a, b, -allowed]) if a else np.array([allowed / b])
            phi = min(roots.real, key=lambda root: abs(root - phi))
        self.harm += (phi * sigma) ** 2 + 2 * phi * sigma - 2 * phi**2 * agreement
        for other in self.stored:
            other.coefs = other.coefs * phi
        self.remove(e)

    def projected(self, t, tau):
        """Make the step with the projection of x, if the cache is full or x in its span."""
        at = [e.position for e in self.stored]
        d = np.linalg.solve(self.K[np.ix_(at, at)], self.K[at, t]) if at else np.zeros(0)
        residual = self.K[t, t] - self.K[at, t] @ d
        if len(at) < self.model.budget and residual > 1e-4 * self.K[t, t]:
            return False
        for e, weight in zip(self.stored, d, strict=True):
            e.coefs = e.coefs + tau * weight
        return True

    def hand_over(self, e):
        others = [o for o in self.stored if o is not e]
        at = [o.position for o in others]
        left = self.K[e.position, at].copy()
        for _ in range(MOST):
            if not len(at):
                return
            gains = left**2 / self.K[at, at]
            j = int(np.argmax(gains))
            if gains[j] <= ENOUGH * self.K[e.position, e.position]:
                return
            weight = left[j] / self.K[at[j], at[j]]
            left = left - weight * self.K[at[j], at]
            others[j].sums = others[j].sums + weight * e.sums

    # what the estimators show

    @property
    def support(self):
        return sorted(e.position for e in self.stored)

    def dual_coef(self, average=False):
        ordered = sorted(self.stored, key=lambda e: e.position)
        each = [e.sums / max(self.seen, 1) if average else e.coefs for e in ordered]
        return np.array(each).reshape(len(each), self.n_rows).T
