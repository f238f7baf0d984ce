"""Small random fits of every family, and what brute force finds of them: sums in extended
precision, and machines that are trained again.
"""

import warnings
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from sklearn.base import clone

import largemargin as lm
from largemargin.certificates.families import examine

LONG = np.longdouble
CLOSE = 1e-6  # a margin below this may be rounding, or what a solver leaves
KERNELS = (
    {"kernel": "linear"},
    {"kernel": "poly", "degree": 2, "gamma": 1.0, "coef0": 1.0},
    {"kernel": "poly", "degree": 3, "gamma": 0.5, "coef0": 0.0},
    {"kernel": "rbf", "gamma": 0.5},
)
DELTA, RHO = 0.05, 0.1
FEW_ROWS = 20  # rows up to which machines are trained again without each of them


@dataclass
class Case:
    """A fit, what it was trained on, and what brute force finds."""

    model: object
    X: np.ndarray
    y: np.ndarray
    kernel: object = None
    found: object = field(default=None, init=False)

    def certify(self):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            self.found = self.model.certificate(
                self.X, self.y, delta=DELTA, rhos=(RHO,), leave_one_out=len(self) < FEW_ROWS
            )
        return self.found

    def __len__(self):
        return len(self.y)

    @cached_property
    def classes(self):
        return self.model.classes_

    @cached_property
    def labels(self):
        return np.searchsorted(self.classes, self.y)

    @cached_property
    def alone(self):
        return np.bincount(self.labels)[self.labels] == 1

    @cached_property
    def fitted(self):
        return examine(self.model, self.X, self.y)

    @property
    def signs(self):
        return self.fitted.signs

    @cached_property
    def gram(self):
        """Kernel values in extended precision."""
        X = self.X.astype(LONG)
        products = X @ X.T
        name = self.kernel.get("kernel", "linear")
        if name == "poly":
            products = (
                LONG(self.kernel["gamma"]) * products + LONG(self.kernel["coef0"])
            ) ** self.kernel["degree"]
        elif name == "rbf":
            distances = ((X[:, None] - X[None]) ** 2).sum(axis=2)
            products = np.exp(-LONG(self.kernel["gamma"]) * distances)
        constant = type(self.model) is lm.VotedPerceptron and self.model.fit_intercept
        return products + 1 if constant else products

    @cached_property
    def coefs(self):
        """The coefficients of all examples, one row per problem."""
        full = np.zeros((len(self.fitted.coefs), len(self)), LONG)
        full[:, self.fitted.basis.examples] = self.fitted.coefs
        return full

    @cached_property
    def scores(self):
        if self.of_features:
            outputs = self.model.coef_.astype(LONG) @ self.X.astype(LONG).T
        else:
            outputs = self.coefs @ self.gram
        return outputs + self.fitted.thresholds.astype(LONG)[:, None]

    @property
    def of_features(self):
        return isinstance(self.model, lm.MaxMarginHyperplane)

    @cached_property
    def norms(self):
        if self.of_features:
            return np.sqrt((self.model.coef_.astype(LONG) ** 2).sum(axis=1))
        return np.sqrt(np.maximum(0, np.einsum("pi,ij,pj->p", self.coefs, self.gram, self.coefs)))

    @cached_property
    def radius(self):
        return np.sqrt(np.diagonal(self.gram).max())

    @cached_property
    def margins(self):
        """y f(x) of each problem."""
        if self.fitted.joint:
            own = self.scores[self.labels, np.arange(len(self))]
            others = self.scores.copy()
            others[self.labels, np.arange(len(self))] = -np.inf
            return [own - others.max(axis=0)]
        return [y[y != 0] * f[y != 0] for y, f in zip(self.signs, self.scores, strict=True)]

    def refit(self, i, **changes):
        rest = np.arange(len(self)) != i
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return clone(self.model).set_params(**changes).fit(self.X[rest], self.y[rest])

    def answer_without(self, i, other):
        """Whether example i is wrong without itself: (at least, at most)."""
        scores = np.asarray(other.decision_function(self.X[i : i + 1]))
        wrong = bool(other.predict(self.X[i : i + 1])[0] != self.y[i])
        if getattr(other, "_by_pairs", False):  # a pair that is not decided gives a vote to either
            near = bool((np.abs(other.problem_scores(self.X[i : i + 1])) < CLOSE).any())
        elif scores.ndim == 1:
            near = abs(scores[0]) < CLOSE
        else:
            top = np.sort(scores[0])
            near = top[-1] - top[-2] < CLOSE
        return (wrong and not near), (wrong or near)

    @cached_property
    def left_out(self):
        """How many are wrong without themselves, at least and at most; None if there is a machine
        that cannot be trained.
        """
        try:
            found = [
                (True, True) if self.alone[i] else self.answer_without(i, self.refit(i))
                for i in range(len(self))
            ]
        except ValueError:
            return None
        return np.array(found)


def random_case(rng, rows=(3, 9)):
    """A fit, or None where the parameters drawn do not go with the data."""
    n = int(rng.integers(*rows))
    K = int(rng.choice([2, 2, 2, 3, 4]))
    d = int(rng.integers(1, 4))
    if n < K:
        return None
    X = rng.integers(-2, 4, size=(n, d)) / 2 if rng.random() < 0.6 else rng.normal(size=(n, d))
    X = X * 10.0 ** rng.integers(-1, 2) if rng.random() < 0.3 else X.astype(float)
    y = np.append(np.arange(K), rng.integers(0, K, n - K))
    if rng.random() < 0.3:
        y[K:] = 1  # the other classes have one example
    order = rng.permutation(n)
    y = y[order]
    if rng.random() < 0.15:
        X[0] = X[-1]
    kernel = KERNELS[rng.integers(len(KERNELS))]
    model = random_model(rng, kernel, K)
    if "kernel" not in model.get_params():
        kernel = KERNELS[0]
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model.fit(X, y)
    except ValueError:
        return None
    return Case(model, X, y, kernel)


def random_model(rng, kernel, K):
    """A machine of any family, with random parameters, for K classes."""

    def one_of(*values):
        return values[rng.integers(len(values))]

    intercept, reduction = bool(rng.random() < 0.5), one_of("ovr", "ovo")
    weights = one_of(None, None, None, {0: 2.0, 1: 0.5})
    C = one_of(0.1, 1.0, 10.0, 100.0)
    svm = dict(**kernel, fit_intercept=intercept, multiclass=reduction, tol=1e-8)
    online = dict(**kernel, budget=None)
    which = one_of(
        "svc", "svc", "svc", "hard", "squared", "crammer", "nu", "adatron", "lp", "nu-lp", "loo",
        "adaptive", "plane", "voted", "voted", "voted", "aggressive", "aggressive", "mira",
        "romma", "alma", "boost", "network",
    )  # fmt: skip
    if which == "svc":
        slack = one_of("linear", "linear", "squared-sum")
        return lm.SVC(C=C, slack=slack, class_weight=weights, **svm)
    if which == "squared":
        return lm.SVC(C=C, slack="squared", class_weight=weights, **svm)
    if which == "hard":
        return lm.SVC(C=np.inf, **svm)
    if which == "crammer":
        return lm.SVC(C=C, **{**svm, "multiclass": "crammer-singer"})
    if which == "nu":
        return lm.NuSVC(nu=one_of(0.0, 0.2, 0.5, 0.8), **svm)
    if which == "adatron":
        svm["tol"] = 1e-5
        return lm.KernelAdatron(C=one_of(1.0, np.inf), max_iter=300, **svm)
    if which == "lp":
        return lm.LPSVC(C=C, class_weight=weights, **kernel)
    if which == "nu-lp":
        return lm.NuLPSVC(nu=one_of(0.0, 0.2, 0.5, 0.8), **kernel)
    if which == "loo":
        return lm.LeaveOneOutSVC(**kernel)
    if which == "adaptive":
        return lm.AdaptiveMarginSVC(lam=one_of(0.0, 0.5, 1.0, 3.0), **kernel)
    if which == "plane":
        norm = one_of(1, 2, np.inf)
        return lm.MaxMarginHyperplane(
            norm=norm, C=one_of(1.0, 10.0, np.inf), fit_intercept=intercept
        )
    if which == "voted":
        method = one_of("vote", "last", "last", "average", "random")
        epochs = one_of(1, 1, 3, 30)
        return lm.VotedPerceptron(
            method=method, epochs=epochs, fit_intercept=intercept, shuffle=bool(rng.random() < 0.3),
            random_state=0, **kernel,
        )  # fmt: skip
    if which == "aggressive":
        return lm.AggressivePerceptron(
            margin=one_of(0.01, 0.5), policy=one_of("auto", "keep"), **online
        )
    if which == "mira":
        return lm.MIRA(**online)
    if which == "romma":
        return lm.ROMMA(aggressive=intercept, **online)
    if which == "alma":
        return lm.ALMA(**online)
    if which == "boost":
        return lm.AdaBoost(n_rounds=one_of(1, 3, 10))
    return lm.RBFNetwork(n_centers=2, random_state=0)


@dataclass
class UnlabelledCase(Case):
    """A fit of rows without labels, which are one class."""

    def certify(self):
        self.found = self.model.certificate(self.X)
        return self.found

    @cached_property
    def scores(self):
        """Less the threshold, in extended precision."""
        coefs = np.zeros(len(self), LONG)
        coefs[self.model.support_] = self.model.dual_coef_[0]
        return self.gram @ coefs - LONG(self.model.offset_)


def random_unlabelled_case(rng, rows=(3, 9)):
    n, kernel = int(rng.integers(*rows)), KERNELS[rng.integers(len(KERNELS))]
    X = rng.integers(-2, 4, size=(n, 2)) / 2 if rng.random() < 0.6 else rng.normal(size=(n, 2))
    model = lm.OneClassSVM(nu=rng.choice([0.1, 0.25, 0.5, 0.9, 1.0]), **kernel)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the origin among the rows
        model.fit(X)
    return UnlabelledCase(model, X, np.zeros(n), kernel)
