"""A check of every statement that a certificate makes of a fit, by brute force: training again,
sums in extended precision, another solver.
"""

import re
import warnings
from math import e, log, log2

import numpy as np
from scipy.optimize import nnls
from sklearn.base import clone

import largemargin as lm
from largemargin.certificates.capacity import vc_dimension
from largemargin.kernels.choosing import make_kernel
from tests.certificates.cases import CLOSE, DELTA, FEW_ROWS, LONG, RHO, Case


def check_all(case):
    """Every statement of a certificate against its check, and what was checked."""
    found = case.certify()
    names = []
    for statement in found:
        name = re.sub(r" at [-\d.]+$", " at rho", statement.name)
        if statement.value is None:
            assert statement.sentence.startswith("Not applicable: "), statement
            assert statement.sentence.endswith("."), statement
            continue
        assert np.isfinite(statement.value), statement
        CHECKS[name](case, statement)
        assert_written_outward(statement)
        names.append(name)
    assert str(found)
    return names


def assert_written_outward(statement):
    from largemargin.certificates.certificate import stated

    written = float(stated(statement.value, statement.side))
    if statement.side == "above":
        assert written >= statement.value
    elif statement.side == "below":
        assert written <= statement.value


def near(value, truth, scale=1.0, tolerance=1e-9):
    assert abs(value - truth) <= tolerance * (abs(truth) + scale), (value, truth)


def is_boosted(case):
    return isinstance(case.model, lm.AdaBoost | lm.RBFNetwork)


def check_error(case, s):
    assert s.value == np.mean(case.model.predict(case.X) != case.y)


def check_smallest(case, s):
    if is_boosted(case):
        scores = case.model.decision_function(case.X)
        if scores.ndim == 1:
            truth = np.where(case.labels == 1, scores, -scores).min()
        else:
            own = scores[np.arange(len(case)), case.labels].copy()
            scores[np.arange(len(case)), case.labels] = -np.inf
            truth = (own - scores.max(axis=1)).min()
        near(s.value, truth)
    elif not case.fitted.one_vector:
        near(s.value, min(m.min() for m in case.margins), scale_of(case))


def scale_of(case):
    """What the scores are sums of."""
    if case.of_features:
        return float(np.abs(case.scores).max())
    return float((np.abs(case.coefs) @ np.abs(case.gram)).max(initial=0.0))


def geometric(case):
    return [m / n for m, n in zip(case.margins, case.norms, strict=True)]


def geometric_error(case):
    """What cancels in w is missing in its length."""
    if case.of_features:
        return 1e-9
    sizes = np.abs(case.coefs).sum(axis=1) * case.radius / case.norms
    return 1e-9 + 1e-14 * float(sizes.max()) ** 2


def check_geometric(case, s):
    near(s.value, min(g.min() for g in geometric(case)), case.radius, geometric_error(case))


def check_median(case, s):
    near(s.value, min(np.median(g) for g in geometric(case)), case.radius, geometric_error(case))


def check_margin_error(case, s):
    if is_boosted(case):
        margins, level = [case.model.margins(case.X, case.y)], RHO
    else:
        margins, level = geometric(case), RHO * case.radius
    slack = (1e-7 if is_boosted(case) else 1e-7 + geometric_error(case)) * case_scale(case)
    least = max(np.mean(g < level - slack) for g in margins)
    most = max(np.mean(g < level + slack) for g in margins)
    assert least <= s.value <= most


def case_scale(case):
    return 1.0 if is_boosted(case) else float(case.radius)


def check_gap(case, s):
    assert s.value >= 0
    model = case.model
    if isinstance(model, lm.SVC) and model.multiclass != "crammer-singer" and np.isfinite(model.C):
        gaps, errors = true_gaps(case)
        least, most = max(0.0, float((gaps - errors).max())), max(0.0, float(gaps.max()))
        # told with what rounding may add
        assert least <= s.value <= most + 1e-3, (s.value, least, most)


def factors(case):
    weight = getattr(case.model, "class_weight", None) or {}
    return np.array([weight.get(label, 1.0) for label in case.y.tolist()])


def true_gaps(case):
    """The relative gaps in extended precision, and what the rounding of w.w may put them off by."""
    model, s, gaps, errors = case.model, factors(case), [], []
    gram = np.abs(case.gram)
    for y, c, f, norm in zip(case.signs, case.coefs, case.scores, case.norms, strict=True):
        part = y != 0
        alpha, xi = (y * c)[part], np.maximum(0, 1 - (y * f)[part])
        w = s[part]
        loss = {"linear": w @ xi, "squared": w @ xi**2, "squared-sum": (w @ xi) ** 2}[model.slack]
        dual = alpha.sum() - norm**2 / 2
        if model.slack == "squared":
            dual -= (alpha**2 / (4 * model.C * w)).sum()
        elif model.slack == "squared-sum":
            dual -= (alpha / w).max() ** 2 / (4 * model.C)
        primal = norm**2 / 2 + model.C * loss
        unit = max(primal, LONG(1e-300))
        gaps.append((primal - dual) / unit)
        errors.append(np.finfo(LONG).eps * len(y) * (np.abs(c) @ gram @ np.abs(c)) / unit)
    return np.array(gaps), np.array(errors)


def check_optimal(case, s):
    """Against the nearest points of the hulls, by non-negative least squares."""
    model = case.model
    threshold = model.fit_intercept and not isinstance(model, lm.KernelAdatron)
    truths = []
    for y in case.signs:
        values, vectors = np.linalg.eigh(case.gram.astype(float))
        rows = vectors * np.sqrt(np.maximum(values, 0.0))
        if threshold:
            rows = (rows[y > 0][:, None] - rows[y < 0][None]).reshape(-1, rows.shape[1])
        else:
            rows = (y[:, None] * rows)[y != 0]
        scale = np.abs(rows).max()
        target = np.append(np.zeros(rows.shape[1]), 1.0)
        u, _ = nnls(np.vstack([rows.T / scale, np.ones(len(rows))]), target)
        r = np.append(rows.T / scale @ u, u.sum() - 1)
        if abs(r[-1]) < 1e-12:
            return  # too small a margin for least squares
        w = r[:-1] / r[-1] / scale  # w.row >= 1 with the least norm
        truths.append(float(w @ w) * (2 if threshold else 0.5))
    truth = max(truths)
    assert s.value <= truth * (1 + 1e-9), (s.value, truth)
    if known_to_hold(s):
        assert s.value >= truth * (1 - 1e-2), (s.value, truth)
    assert ("through the origin" in s.sentence) == (not threshold)


def known_to_hold(statement):
    return all(a.holds for a in statement.assumptions)


def linear_slack(case):
    """The machines with linear slack that have the solution of a nu machine, as changes of it."""
    alphas = case.signs * case.coefs
    return [float(a.max()) for a in alphas]


def errors_of_same_price(case):
    """Leave-one-out errors, at least, of the machine that the bounds are about."""
    model = case.model
    if not isinstance(model, lm.NuSVC) or model.nu == 0:
        return None if case.left_out is None else case.left_out[:, 0]
    if len(case.classes) > 2:
        return None
    machine = lm.SVC(
        C=max(linear_slack(case)), fit_intercept=model.fit_intercept, tol=1e-8, **case.kernel
    )
    twin = Case(machine, case.X, case.y, case.kernel)
    twin.__dict__["classes"] = case.classes
    return None if twin.left_out is None else twin.left_out[:, 0]


def check_left_out(case, s):
    errors = errors_of_same_price(case) if len(case) < FEW_ROWS else None
    if errors is None or not all(a.holds or "unique when" in a.text for a in s.assumptions):
        return
    if not known_to_hold(s):  # the threshold has to be unique without each example
        errors = errors & unique_without(case)
    assert errors.mean() <= s.value, (errors, s)
    assert case.alone.mean() <= s.value


def unique_without(case):
    """Whether the machine without each example has a coefficient strictly within its bounds."""
    model, found = case.model, []
    for i in range(len(case)):
        if case.alone[i]:
            found.append(True)
            continue
        if isinstance(model, lm.NuSVC):
            other = lm.SVC(
                C=max(linear_slack(case)), fit_intercept=model.fit_intercept, tol=1e-8,
                multiclass=model.multiclass, **case.kernel,
            ).fit(np.delete(case.X, i, 0), np.delete(case.y, i))  # fmt: skip
        else:
            other = case.refit(i)
        alphas, box = np.abs(other.dual_coef_), float(other.C)
        free = (alphas > 1e-7 * box) & (alphas < box * (1 - 1e-7))
        found.append(bool(free.any(axis=1).all()))
    return np.array(found)


def check_needed(case, s):
    """Without an example that is not needed, the rest of the solution is one."""
    from largemargin.certificates.linear_programs import needed_examples

    model, m = case.model, len(case)
    needed = needed_examples(case.fitted) | case.alone
    assert s.value == needed.mean()
    for i in np.flatnonzero(~needed)[:FEW_ROWS]:
        changes, factor = {}, 1.0
        if isinstance(model, lm.NuLPSVC):
            changes, factor = {"nu": model.nu * m / (m - 1)}, m / (m - 1)
            if changes["nu"] > 1:
                continue
        try:
            other = case.refit(i, **changes)
        except ValueError:
            continue
        near(other.objective_.sum(), factor * model.objective_.sum(), case_scale(case), 1e-6)
        assert case.model.predict(case.X[i : i + 1])[0] == case.y[i]


def check_radius(case, s):
    truth = (case.radius**2 * (case.norms**2).sum() + case.alone.sum()) / len(case)
    assert s.value >= truth
    if known_to_hold(s):
        near(s.value, truth, tolerance=1e-6)
    check_left_out(case, s)


def check_true_error(case, s):
    assert case.left_out is not None
    low, high = case.left_out.mean(axis=0)
    assert low <= s.value <= high, (case.left_out, s)


def check_expected(case, s):
    alphas = case.signs * case.coefs
    assert s.value == ((alphas > 0).any(axis=0) | case.alone).mean()


def threshold_of(case):
    model = case.model
    if isinstance(model, lm.NuLPSVC) or case.fitted.thresholds.any():
        return True
    together = getattr(model, "multiclass", "") == "crammer-singer"
    if isinstance(model, lm.VotedPerceptron) or together:
        return False
    return bool(getattr(model, "fit_intercept", False))


def unit_margins(case):
    R, lengths = case.radius, case.norms
    if threshold_of(case):
        lengths, R = np.hypot(lengths, case.fitted.thresholds / R), R * np.sqrt(LONG(2))
    return [m / (n * R) for m, n in zip(case.margins, lengths, strict=True)]


def at_least_and_near(value, truth, tolerance=1e-6):
    assert value >= truth, (value, truth)
    near(value, truth, tolerance=tolerance)


def check_vc(case, s):
    inside = isinstance(case.model, lm.VotedPerceptron) and case.model.fit_intercept
    kernel = make_kernel(**case.kernel)
    h = vc_dimension(kernel, case.X.shape[1], threshold_of(case) or inside)
    P = len(case.margins)
    open_to_chance = h + np.log(LONG(P / DELTA))
    truths = [np.mean(m <= 0) + np.sqrt(open_to_chance / len(m)) for m in case.margins]
    if all((np.abs(m) > CLOSE).all() for m in case.margins):
        at_least_and_near(s.value, sum(truths), 1e-9)


def check_margin_bound(case, s):
    if is_boosted(case):
        assert s.value > 0
        return
    P, total = len(case.margins), 0
    for m in unit_margins(case):
        rhos = np.append(m[(m > 0) & (m < 1)], 1.0)
        n = len(m)
        capacity = ((np.log(n / rhos) / rhos) ** 2 + np.log(LONG(P / DELTA))) / n
        errors = [(m < rho * (1 - LONG(1e-15))).mean() for rho in rhos]
        total += (np.array(errors) + np.sqrt(capacity)).min()
    assert s.value >= total * (1 - LONG(1e-14))
    if all((m > 1e-3).all() for m in unit_margins(case)):
        near(s.value, total, tolerance=1e-3)


def check_hard(case, s):
    P, total = len(case.margins), 0
    for m in unit_margins(case):
        n, rho = len(m), m.min()
        assert rho > 0
        total += ((np.log(n / rho) / rho) ** 2 + np.log(LONG(P / DELTA))) / n
    assert s.value >= total


def covering(rho, n):
    """log2 N(rho/2, F, 2n) of functions from -1 to 1, by theorems 1.4 and 1.7."""
    fat = int(64 / rho**2)
    return 3 * fat * log2(4 * e * 2 * 2 * n / (rho / 2)) ** 2 if fat <= 2 * n else np.inf


def check_explicit(case, s):
    P, total = len(case.margins), 0.0
    for m in unit_margins(case):
        n = len(m)
        bounds = [
            (m < 2.0**-k - 1e-12).mean() + np.sqrt(8 / n * exponent)
            for k in range(12)
            for exponent in [log(2 * P * (k + 1) * (k + 2) / DELTA) + log(2) * covering(2.0**-k, n)]
        ]
        total += min(bounds)
    assert s.value >= total * (1 - 1e-12)


def check_explicit_hard(case, s):
    P, total = len(case.margins), 0.0
    for m in unit_margins(case):
        n = len(m)
        k = int(np.ceil(-np.log2(float(m.min())) - 1e-12))
        total += 2 / n * (1 + covering(2.0**-k, n) + log2(P * (k + 1) * (k + 2) / DELTA))
    assert s.value >= total * (1 - 1e-12)


def check_sum_norm(case, s):
    assert s.value > 0
    largest = np.abs(case.X).max()
    lengths = np.abs(case.model.coef_).sum(axis=1) * largest + np.abs(case.fitted.thresholds)
    errors = [np.mean(m / n < 1) for m, n in zip(case.margins, lengths, strict=True)]
    assert s.value >= min(errors)


def check_adaptive(case, s):
    m, P = len(case), len(case.margins)
    total = 0.0
    for margins, norm in zip(case.margins, case.norms, strict=True):
        D = np.sqrt((np.maximum(0, 1 - margins) ** 2).sum())
        kappa = np.floor(65 * (norm * case.radius + 3 * D) ** 2)
        capacity = kappa * np.log2(8 * e * m / kappa) * np.log2(32 * m) if kappa else 0
        total += 2 / m * (capacity + np.log2(2 * m * (28 + np.log2(m)) * P / DELTA))
    assert s.value >= total * (1 - LONG(1e-13))


def check_mistakes(case, s):
    """Against the perceptron, one example at a time, where no score is near zero."""
    model = case.model
    if model.shuffle:
        assert s.value == model.n_mistakes_.sum()
        return
    made = 0
    for y in case.signs:
        c = np.zeros(len(case), LONG)
        for _ in range(int(model.n_epochs_)):
            for i in range(len(case)):
                score = c @ case.gram[:, i]
                size = np.abs(c) @ np.abs(case.gram[:, i])
                exact = score == 0 and (size == 0 or case.kernel["kernel"] == "linear")
                if abs(score) < 1e-9 * (1 + size) and not exact:
                    return  # rounding decides
                if y[i] * score <= 0:
                    c[i] += y[i]
                    made += 1
    assert s.value == made


def check_mistake_bound(case, s):
    made = case.model.n_mistakes_
    assert s.value >= made.sum(), (s.value, made)
    if s.by_problem:
        assert (np.array(s.by_problem) >= made).all()


def check_separable_bound(case, s):
    check_mistake_bound(case, s)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        longer = clone(case.model).set_params(epochs=40).fit(case.X, case.y)
    assert s.value >= longer.n_mistakes_.sum()


def check_conversion(case, s):
    times = {"vote": 2, "random": 1}[case.model.method]
    at_least_and_near(s.value, times * case.model.n_mistakes_.sum() / LONG(len(case) + 1), 1e-12)


def check_convergence(case, s):
    assert (case.model.predict(case.X) == case.y).all()
    assert s.value * (len(case) + 1) >= case.alone.sum() - 1e-9
    assert s.value >= 0


def check_cache_size(case, s):
    assert s.value >= case.model.n_support_


def check_cache_bound(case, s):
    assert s.value >= case.found["cache size"].value


def check_margin_error_bound(case, s):
    assert s.value >= case.found[s.name.replace(" bound", "")].value - 1e-15


def check_distance(case, s):
    p = float(case.model.norm)
    sizes = [np.linalg.norm(w, p) for w in case.model.coef_]
    truth = min(m.min() / n for m, n in zip(case.margins, sizes, strict=True))
    near(s.value, truth, float(np.abs(case.X).max()))


def check_outliers(case, s):
    assert s.value == np.mean(case.model.predict(case.X) == -1)


def check_outside(case, s):
    assert s.value == case.model.nu
    rounding = 1e-13 * np.abs(case.model.dual_coef_).sum() * case.radius**2
    assert (case.scores < -rounding).sum() <= s.value * len(case) * (1 + 1e-12)


def check_used(case, s):
    assert s.value == case.model.nu
    assert len(case.model.support_) >= s.value * len(case) * (1 - 1e-12)


CHECKS = {
    "error": check_error,
    "smallest margin": check_smallest,
    "smallest geometric margin": check_geometric,
    "median geometric margin": check_median,
    "margin error at rho": check_margin_error,
    "duality gap": check_gap,
    "optimal hyperplane": check_optimal,
    "support vectors, leave-one-out": check_left_out,
    "support vectors, expected error": check_expected,
    "Jaakkola-Haussler": check_left_out,
    "xi-alpha": check_left_out,
    "radius-margin": check_radius,
    "needed examples, leave-one-out": check_needed,
    "leave-one-out error": check_true_error,
    "VC bound": check_vc,
    "margin bound": check_margin_bound,
    "margin bound, no margin error": check_hard,
    "explicit margin bound": check_explicit,
    "explicit margin bound, no margin error": check_explicit_hard,
    "sum-norm margin bound": check_sum_norm,
    "adaptive margin bound": check_adaptive,
    "mistakes": check_mistakes,
    "mistake bound": check_mistake_bound,
    "mistake bound, separable data": check_separable_bound,
    "leave-one-out conversion": check_conversion,
    "training to convergence": check_convergence,
    "cache size": check_cache_size,
    "cache bound": check_cache_bound,
    "margin error bound at rho": check_margin_error_bound,
    "distance in the norm": check_distance,
    "outliers": check_outliers,
    "nu-property, outliers": check_outside,
    "nu-property, support vectors": check_used,
}
