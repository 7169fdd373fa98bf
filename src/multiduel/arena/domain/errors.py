"""What the arena refuses, by reason. Input that cannot be used as given is ``multiduel.inputs.BadInput``, as everywhere."""

from __future__ import annotations


class Refused(Exception):
    """A command that was understood and is not carried out. Nothing changed."""


class Conflict(Refused):
    """The command contradicts the arena's state: a different vote on the same ticket, or a closed arena."""


class NotFound(Refused):
    """There is no such arena, ticket, option or rater."""


class Forbidden(Refused):
    """The key, or the rater, has no right to do this."""


class Unavailable(Exception):
    """The command may not have been stored. Send it again: every command may be repeated."""


class TooOften(Exception):
    """More than may be asked for at a time. ``wait`` says after how many seconds to try again."""

    def __init__(self, sentence: str, wait: float) -> None:
        super().__init__(sentence)
        self.wait = wait


class RolledBack(Unavailable):
    """The database went back in time: an event that this process acknowledged or showed is missing. Nothing is appended."""


class BrokenLog(Exception):
    """The log is not what was written: an event is missing, altered, or of a kind that this version does not know."""

    def __init__(self, number: int, what: str) -> None:
        super().__init__(f"Event {number}: {what}.")
        self.number, self.what = number, what
