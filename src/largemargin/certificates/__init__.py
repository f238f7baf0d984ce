"""What a fit is worth: margins, mistake bounds, leave-one-out bounds, capacity bounds."""

from largemargin.certificates.boosting import (
    adaboost_margin_bound,
    convex_combination_bound,
    stump_dimension,
)
from largemargin.certificates.cache import cache_bound
from largemargin.certificates.capacity import (
    adaptive_margin_bound,
    hard_margin_bound,
    margin_bound,
    vc_bound,
    vc_dimension,
)
from largemargin.certificates.certificate import Assumption, Certificate, Statement
from largemargin.certificates.covering import (
    covering_hard_margin_bound,
    covering_margin_bound,
    covering_number_bound,
    covering_number_least,
    explicit_hard_margin_bound,
    explicit_margin_bound,
    fat_dimension_bound,
    regression_bound,
    sum_norm_fat_dimension_bound,
    sum_norm_margin_bound,
)
from largemargin.certificates.families import certificate, margins
from largemargin.certificates.leave_one_out import leave_one_out_bound, support_vector_bound
from largemargin.certificates.margins import Margins, margin_error
from largemargin.certificates.mistakes import mistake_bound

__all__ = [
    "Assumption",
    "Certificate",
    "Margins",
    "Statement",
    "adaboost_margin_bound",
    "adaptive_margin_bound",
    "cache_bound",
    "certificate",
    "convex_combination_bound",
    "covering_hard_margin_bound",
    "covering_margin_bound",
    "covering_number_bound",
    "covering_number_least",
    "explicit_hard_margin_bound",
    "explicit_margin_bound",
    "fat_dimension_bound",
    "hard_margin_bound",
    "leave_one_out_bound",
    "margin_bound",
    "margin_error",
    "margins",
    "mistake_bound",
    "regression_bound",
    "stump_dimension",
    "sum_norm_fat_dimension_bound",
    "sum_norm_margin_bound",
    "support_vector_bound",
    "vc_bound",
    "vc_dimension",
]
