"""What the paper concludes from its experiments, and whether table 1 and its like say so here."""

from __future__ import annotations

from largemargin.papers.cells import CHANCE, HIGHER, LIMIT, LOWER, WITHIN, Cell
from largemargin.papers.report import Report
from largemargin.papers.verdicts import (
    NOT_REPRODUCED,
    REPRODUCED,
    Claim,
    Judgement,
    error_noise,
    held,
)

AGREEING = 0.9  # share of the numbers within two standard errors that counts as reproduced
ALIKE = 0.2  # points between rules that are much alike
BEFORE_CONVERGENCE = "1"  # epochs
N_TEST = 10_000
RULES = ("Vote", "Avg", "Avg norm", "Last", "Last norm", "Rand", "Rand norm")
SUPPORT_VECTOR_ERROR = 1.1  # of Cortes and Vapnik, degree 4


def judge(report: Report) -> Judgement:
    (table,) = (table for table in report.tables if table.id == "table1")
    n = table.count(WITHIN, LOWER, HIGHER)
    within = table.count(WITHIN)
    reproduced = within >= AGREEING * n
    claims = tuple(_claims(report))
    return Judgement(
        REPRODUCED if reproduced else NOT_REPRODUCED,
        f"{within} of the {n} numbers of table 1 are within two standard errors of ours, and "
        f"{held(claims)}. By chance alone about {CHANCE * n:.0f} numbers would be outside; "
        f"this verdict allows up to {100 * (1 - AGREEING):.0f} % of all. The published numbers are "
        "remembered, not read again.",
        claims,
        tuple(_misses(report)),
        "Agrees with the numbers as remembered" if reproduced else "",
    )


def _claims(report: Report) -> list[Claim]:
    def error(degree: int, rule: str, at: str) -> float:
        return _ours(report.find("table1", f"d = {degree}", rule)[at])

    linear, square = error(1, "Vote", "10"), error(2, "Vote", "10")
    best = min(error(d, "Vote", "10") for d in range(3, 7))
    vote, last = error(4, "Vote", "1"), error(4, "Last", "1")
    spread = [error(4, rule, "30") for rule in ("Vote", "Avg", "Last")]
    voted = [(error(d, "Vote", at), error(d, "Avg", at)) for d in range(1, 7) for at in ("1", "10")]
    apart = max(voted, key=lambda pair: abs(pair[0] - pair[1]))
    noise = error_noise(apart[0], N_TEST)
    worst = sum(
        error(d, "Rand", at) >= max(error(d, rule, at) for rule in RULES if rule[0] != "R")
        for d in range(1, 7) for at in ("0.1", "1", "2", "4", "10")
    )  # fmt: skip
    fewer = _fewer_support_vectors(report)
    later = error(4, "Vote", "10")
    return [
        Claim(
            "The largest improvement is that from d = 1 to d = 2.",
            f"vote at T = 10: {linear:.2f} % at d = 1, {square:.2f} % at d = 2, "
            f"at best {best:.2f} % beyond",
            linear - square > square - best,
        ),
        Claim(
            "Voting and averaging are better than the last vector, above all before convergence.",
            f"d = 4, T = {BEFORE_CONVERGENCE}: vote {vote:.2f} %, last {last:.2f} %; d = 1, "
            f"T = 10: {linear:.2f} % and {error(1, 'Last', '10'):.2f} %",
            vote < last and linear < error(1, "Last", "10"),
        ),
        Claim(
            "At convergence all rules but the random one are much alike.",
            f"d = 4, T = 30: vote, average and last within {max(spread) - min(spread):.2f} points, "
            f"where up to {ALIKE:g} counts as alike",
            max(spread) - min(spread) <= ALIKE,
        ),
        Claim(
            "Voting and averaging do not differ significantly.",
            f"largest difference at T = 1 and 10 over all degrees: {abs(apart[0] - apart[1]):.2f} "
            f"points, where the standard error of an error on {N_TEST:,} images is {noise:.2f} and "
            f"up to {LIMIT:g} of them count as no difference",
            all(abs(a - b) <= LIMIT * error_noise(a, N_TEST) for a, b in voted),
        ),
        Claim(
            "Random vectors are the worst in all cases.",
            f"the largest error of all rules in {worst} of 30 places, all d and T up to 10",
            worst == 30,
        ),
        Claim(
            "More than one epoch improves the test error.",
            f"vote at d = 4: {error(4, 'Vote', '1'):.2f} % at T = 1, {later:.2f} % at T = 10",
            later < error(4, "Vote", "1"),
        ),
        Claim(
            "It is inferior to support vector machines.",
            f"vote at d = 4, T = 30: {error(4, 'Vote', '30'):.2f} %, against "
            f"{SUPPORT_VECTOR_ERROR} % of Cortes and Vapnik on other images",
            error(4, "Vote", "30") > SUPPORT_VECTOR_ERROR,
        ),
        *fewer,
    ]


def _fewer_support_vectors(report: Report) -> list[Claim]:
    ours = report.find("table2", "T = 30", "SupVec")
    theirs = report.find("table2", "Cortes", "SVM SupVec")
    if not ours or not theirs:
        return []
    pairs = [(_ours(ours[c]), _published(theirs[c])) for c in ours]
    fewer = sum(a < b for a, b in pairs)
    return [
        Claim(
            "In the binary problems it generally has fewer support vectors than the machine of "
            "Cortes and Vapnik.",
            f"fewer in {fewer} of {len(pairs)} classes at d = 4, T = 30",
            fewer > len(pairs) / 2,
        )
    ]


def _ours(cell: Cell) -> float:
    assert cell.ours is not None
    return cell.ours


def _published(cell: Cell) -> float:
    assert cell.published is not None
    return cell.published.value


def _misses(report: Report) -> list[str]:
    """A sentence for each real miss of table 1, from the table that looks into them."""
    found = []
    norm = report.find("misses", "d = 1", "Rand / norm")
    root = report.find("misses", "d = 1", "Rand / root of k")
    table = report.find("table1", "d = 1", "Rand norm")
    if norm and root and table:
        found.append(
            f"The normalised random rule at d = 1 is {_ours(table['10']):.2f} % at T = 10 for a "
            f"published {_published(table['10']):g} %, and the rule without a norm agrees. "
            f"Dividing by the norm gives an expected error of {_pair(norm)} % at T = 3, 4 and 10; "
            f"dividing by the root of the number of mistakes gives {_pair(root)} %, which is what "
            f"was published, {', '.join(f'{_published(root[at]):g}' for at in PLACES)} %. That "
            "root bounds the norm, and takes its place if the product of vector and example is "
            "left out when the norm is updated. So the row may have been computed in that way."
        )
    last = report.find("misses", "d = 2", "Last").get("0.1")
    ten = report.find("table1", "d = 2", "Last").get("0.1")
    if last and ten and last.deviation is not None:
        found.append(
            f"The last vector at d = 2, T = 0.1 is {_ours(ten):.2f} % over ten permutations for a "
            f"published {_published(ten):g} %. Over {last.runs} permutations it is "
            f"{_ours(last):.2f} ± {last.deviation:.2f} %, z = {last.z or 0.0:+.1f}: the ten were "
            "lucky, and nothing is left to explain."
        )
    return found


PLACES = ("3", "4", "10")


def _pair(cells: dict[str, Cell]) -> str:
    return ", ".join(f"{_ours(cells[at]):.2f}" for at in PLACES)
