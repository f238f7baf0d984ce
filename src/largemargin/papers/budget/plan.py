"""What to run of the paper, and what is not as in a full run."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from largemargin.data.dataset import Dataset
from largemargin.papers.budget import published
from largemargin.papers.budget.bound import BETAS, GAMMAS, SeparableExperiment
from largemargin.papers.budget.choosing import (
    MACHINE,
    ONLINE,
    ChoiceExperiment,
    MachineExperiment,
    Setting,
)
from largemargin.papers.budget.policies import (
    FIXED,
    NOISE,
    NOISE_BUDGETS,
    NOISE_TASK,
    PLAIN,
    QUICK_NOISE_BUDGETS,
    VARIABLE,
    WITH_BUDGET,
    WITHOUT,
    StreamExperiment,
)
from largemargin.papers.budget.tasks import TASKS, Problem, some_of
from largemargin.papers.experiments import Images

PARTS = ("panels", "one-pass", "bound", "noise")
DATA_OF = {
    "panels": tuple(TASKS),
    "one-pass": tuple(published.ONE_PASS_ACCURACY),
    "bound": (),
    "noise": (NOISE_TASK,),
}
"""The data sets that each part needs."""

POLICY_PERMUTATIONS = 5
"""Of the parts that are not the paper's: one-pass, bound and noise."""

CHOOSING = {ONLINE: 16_000, MACHINE: 8_000}
"""How many training examples at most the choices are made with; a machine takes longer."""

SEPARABLE_ROWS = 20_000
QUICK_TRAIN, QUICK_TEST = 3_000, 2_000
QUICK_CHOOSING = 1_500
QUICK_SEPARABLE_ROWS = 4_000
QUICK_PERMUTATIONS = 2

Experiment = StreamExperiment | MachineExperiment | SeparableExperiment
Settings = dict[tuple[str, str], Setting]
"""What was chosen, by data set and ONLINE or MACHINE."""


@dataclass(frozen=True)
class Plan:
    """What to run: the paper's plan by default.

    Parameters
    ----------
    part : one of PARTS, or None for all of them
    permutations : of every data set; None is 5 of MNIST and 11 of the others
    small : some of the examples and of the cache sizes
    """

    part: str | None = None
    permutations: int | None = None
    small: bool = False

    @classmethod
    def quick(cls, part: str | None = None) -> Plan:
        """About a minute on two cores."""
        return cls(part, QUICK_PERMUTATIONS, small=True)

    def __post_init__(self) -> None:
        if self.part is not None and self.part not in PARTS:
            raise ValueError(f"there is no {self.part!r}; the parts are {', '.join(PARTS)}")
        if self.permutations is not None and self.permutations < 1:
            raise ValueError(f"permutations must be at least 1, got {self.permutations}")

    @property
    def parts(self) -> tuple[str, ...]:
        return PARTS if self.part is None else (self.part,)

    @property
    def data(self) -> tuple[str, ...]:
        """The data sets that are needed."""
        needed = {name for part in self.parts for name in DATA_OF[part]}
        return tuple(name for name in TASKS if name in needed)

    @property
    def noise_budgets(self) -> tuple[int, ...]:
        return QUICK_NOISE_BUDGETS if self.small else NOISE_BUDGETS

    def permutations_of(self, name: str) -> int:
        return self.permutations or published.PERMUTATIONS[name]

    @property
    def policy_permutations(self) -> int:
        return self.permutations or POLICY_PERMUTATIONS

    def sizes(self, problem: Problem) -> tuple[int, ...]:
        """The fixed caches."""
        return problem.task.quick_sizes if self.small else problem.task.sizes

    def problem(self, data: Dataset) -> Problem:
        """The task of a data set, in a small run with some of its examples."""
        if self.small:
            data = some_of(data, QUICK_TRAIN, QUICK_TEST)
        return Problem(TASKS[data.name], Images(data))

    def choices(self, problems: dict[str, Problem]) -> list[ChoiceExperiment]:
        """What must be known before the rest can run."""
        found: list[ChoiceExperiment] = []
        for problem in problems.values():
            kinds = (ONLINE, MACHINE) if "panels" in self.parts else (ONLINE,)
            found += [
                ChoiceExperiment(problem, kind, QUICK_CHOOSING if self.small else CHOOSING[kind])
                for kind in kinds
            ]
        return found

    def experiments(self, problems: dict[str, Problem], settings: Settings) -> list[Experiment]:
        """Everything else, each experiment once."""
        found: list[Experiment] = []
        if "bound" in self.parts:
            found += self._separable()
        for name, problem in problems.items():
            if "panels" in self.parts:
                found.append(MachineExperiment(problem, settings[name, MACHINE]))
                found += self._panels(problem, settings[name, ONLINE])
            if "one-pass" in self.parts and name in DATA_OF["one-pass"]:
                found += self._one_pass(problem, settings[name, ONLINE])
            if "noise" in self.parts and name == NOISE_TASK:
                found += self._noise(problem, settings[name, ONLINE])
        return list(dict.fromkeys(found))

    def _separable(self) -> Iterable[Experiment]:
        rows = QUICK_SEPARABLE_ROWS if self.small else SEPARABLE_ROWS
        return (
            SeparableExperiment(beta, gamma, seed, rows)
            for seed in range(self.policy_permutations)
            for beta in BETAS
            for gamma in GAMMAS
        )

    def _panels(self, problem: Problem, setting: Setting) -> Iterable[Experiment]:
        learners: list[tuple[str, int | None]] = [(VARIABLE, None), (PLAIN, None)]
        learners += [(FIXED, size) for size in self.sizes(problem)]
        return (
            StreamExperiment(problem, setting.view, policy, budget, permutation)
            for permutation in range(self.permutations_of(problem.task.name))
            for policy, budget in learners
        )

    def _one_pass(self, problem: Problem, setting: Setting) -> Iterable[Experiment]:
        return (
            StreamExperiment(problem, setting.view, policy, budget, permutation)
            for permutation in range(self.policy_permutations)
            for policy in WITH_BUDGET
            for budget in published.BUDGETS
        )

    def _noise(self, problem: Problem, setting: Setting) -> Iterable[Experiment]:
        learners: list[tuple[str, int | None]] = [(policy, None) for policy in WITHOUT]
        learners += [(policy, size) for policy in WITH_BUDGET for size in self.noise_budgets]
        return (
            StreamExperiment(problem, setting.view, policy, budget, permutation, noise)
            for permutation in range(self.policy_permutations)
            for noise in NOISE
            for policy, budget in learners
        )

    def reductions(self, problems: dict[str, Problem]) -> tuple[str, ...]:
        """What is not as in a full run, one sentence each."""
        found = ["a quick run"] if self.small else []
        if self.permutations is not None:
            noun = "permutation" if self.permutations == 1 else "permutations"
            found.append(f"{self.permutations} {noun} in place of 5 or 11")
        less = [problem for problem in problems.values() if not problem.comparable]
        if less:
            counts = ", ".join(
                f"{problem.images.n_train:,} and {problem.images.n_test:,} of {problem.task.title}"
                for problem in less
            )
            found.append(f"training and test examples: {counts}, without the published numbers")
        if self.small and self.data:
            found.append(f"choices made with at most {QUICK_CHOOSING:,} training examples")
        return tuple(found)

    @property
    def command(self) -> str:
        """What to type to get this plan."""
        words = ["largemargin reproduce budget"]
        words += [self.part] if self.part else []
        words += ["--quick"] if self.small else []
        if self.permutations != (QUICK_PERMUTATIONS if self.small else None):
            words.append(f"--permutations {self.permutations}")
        return " ".join(words)
