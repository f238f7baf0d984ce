"""What a fit is worth: margins, mistake bounds, leave-one-out bounds, capacity bounds."""

from largemargin.certificates.certificate import Assumption, Certificate, Statement

__all__ = ["Assumption", "Certificate", "Statement"]
