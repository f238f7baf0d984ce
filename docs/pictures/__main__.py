"""`python docs/pictures [NAME ...]` draws the pictures of the documentation into docs/images."""

import sys

import families
import home
import pages
import theory
from canvas import draw

PICTURES = {
    "home": (home.home, 7.2, 2.9),
    "theory-margin": (theory.margin, 7.2, 2.9),
    "theory-kernel": (theory.kernel, 7.2, 2.5),
    "theory-dual": (theory.dual, 7.2, 3.2),
    "theory-mistakes": (theory.mistake_bound, 7.2, 2.8),
    "theory-leave-one-out": (theory.leave_one_out, 7.2, 2.5),
    "family-perceptron": (families.perceptron, 7.2, 2.9),
    "family-svm": (families.svm, 7.2, 2.9),
    "family-online": (families.online, 7.2, 2.6),
    "family-linear-programming": (families.linear_programming, 7.2, 2.9),
    "family-hyperplanes": (families.hyperplanes, 7.2, 2.6),
    "family-boosting": (families.boosting, 7.2, 2.9),
    "tutorial-decision": (pages.tutorial_decision, 6.0, 3.6),
    "tutorial-cross-validation": (pages.tutorial_cross_validation, 6.4, 2.8),
    "certificate": (pages.certificate, 7.2, 2.7),
    "thresholds": (pages.thresholds, 6.4, 2.8),
}


def main(names):
    for name in names or PICTURES:
        draw(name, *PICTURES[name])
    home.icon()


if __name__ == "__main__":
    main(sys.argv[1:])
