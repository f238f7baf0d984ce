"""What is wrong with a request, as a status and a sentence."""

from __future__ import annotations


class Problem(Exception):
    """A request that is not answered.

    Parameters
    ----------
    status : int
        The status of HTTP.
    sentence : str
        What is wrong, what was seen, and what to do.
    headers : dict or None
        Headers of the answer, such as Retry-After.
    """

    def __init__(self, status: int, sentence: str, headers: dict[str, str] | None = None) -> None:
        super().__init__(sentence)
        self.status, self.sentence, self.headers = status, sentence, headers
