"""What a run may spend: calls, tokens or money."""

from __future__ import annotations

import math
import re
import threading
from dataclasses import dataclass

from multiduel.inputs import BadInput, shortened

_FORM = re.compile(r"\s*([0-9][0-9_,]*(?:\.[0-9]+)?)\s*([A-Za-z$€£]*)\s*")
_PRICE = re.compile(r"\s*([0-9]+(?:\.[0-9]+)?)\s*(?:/\s*([0-9]+(?:\.[0-9]+)?))?\s*")


class OutOfBudget(Exception):
    """The next call would go beyond the budget."""


@dataclass(frozen=True)
class Price:
    """Money per million tokens.

    >>> Price.read("0.15/0.60").of(2_000_000, 500_000)
    0.6
    """

    tokens_in: float
    tokens_out: float

    @classmethod
    def read(cls, written: str) -> Price:
        """Read a price such as "0.15/0.60", in and out, or one number for both."""
        form = _PRICE.fullmatch(written) if isinstance(written, str) else None
        if form is None:
            raise BadInput(f"A price is money per million tokens, in and out, such as 0.15/0.60. Got {shortened(written)}.")
        return cls(float(form[1]), float(form[2] or form[1]))

    def of(self, tokens_in: int, tokens_out: int) -> float:
        """What so many tokens cost."""
        return (self.tokens_in * tokens_in + self.tokens_out * tokens_out) / 1e6


class Budget:
    """Counts what is spent. A call begins only while something is left; of tokens and money the calls under way may overspend.

    Parameters
    ----------
    written
        "500 calls" or "500", "200000 tokens", or money such as "5 USD", which needs a price. None: no limit.
    price
        Per million tokens.

    Examples
    --------
    >>> budget = Budget("2 calls")
    >>> budget.take(); budget.take()
    >>> budget.left
    0.0
    """

    def __init__(self, written: str | int | None = None, price: Price | None = None) -> None:
        self.price, self._lock = price, threading.Lock()
        self.calls = self.tokens_in = self.tokens_out = 0
        self.limit, self.unit = math.inf, "calls"
        if written is None:
            return
        form = _FORM.fullmatch(str(written))
        if form is None:
            raise BadInput(f"A budget is a number of calls, tokens or money, such as '500 calls'. Got {shortened(written)}.")
        self.limit, unit = float(form[1].replace(",", "").replace("_", "")), form[2].lower()
        self.unit = "calls" if unit in ("", "call", "calls") else "tokens" if unit in ("token", "tokens") else "money"
        if self.unit == "money" and price is None:
            raise BadInput(f"A budget in money needs '--price', per million tokens in and out. Got {shortened(written)} alone.")

    @property
    def money(self) -> float | None:
        """What was spent, if there is a price."""
        return None if self.price is None else self.price.of(self.tokens_in, self.tokens_out)

    @property
    def spent(self) -> float:
        """What was spent, in the unit of the limit."""
        if self.unit == "calls":
            return float(self.calls)
        return float(self.tokens_in + self.tokens_out) if self.unit == "tokens" else self.money or 0.0

    @property
    def left(self) -> float:
        """What is left, in the unit of the limit."""
        return max(0.0, self.limit - self.spent)

    def take(self) -> None:
        """Begin a call, or raise OutOfBudget."""
        with self._lock:
            if self.spent >= self.limit:
                raise OutOfBudget
            self.calls += 1

    def add(self, tokens_in: int, tokens_out: int) -> None:
        """Count the tokens of a call."""
        with self._lock:
            self.tokens_in += tokens_in
            self.tokens_out += tokens_out

    def __str__(self) -> str:
        money = "" if self.money is None else f", {self.money:.4g} of money"
        tokens = self.tokens_in + self.tokens_out
        return f"{self.calls:,} new call{'s' * (self.calls != 1)}{f', {tokens:,} tokens' if tokens else ''}{money}"
