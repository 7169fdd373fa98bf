"""The settings of an arena, declared once: the API's model, the command's options, the owner's form, the check of recorded logs
and the documentation's page of settings are derived from the fields of ``Settings``."""

from __future__ import annotations

import dataclasses
import functools
import json
import math
from collections.abc import Mapping
from dataclasses import InitVar, dataclass, field
from typing import Any, Literal

from multiduel.arena.domain.options import MOST_OPTIONS
from multiduel.arena.domain.texts import is_broken
from multiduel.engine.registry.registry import find, resolve
from multiduel.inputs import MOST_SEED, BadInput, choice, finite, no_others, shortened, text, truth, whole

MOST_SEATS = 20
MOST_SECONDS = 10 * 365 * 86_400
MOST_VOTES = 10**9
MOST_PLACES = 100_000
MOST_NAME = 1_000  # letters of a policy's name
MOST_INSTRUCTIONS = 5_000  # letters
MOST_HORIZON = 10**9  # votes that a policy which must know how many is told of, if the owner states no limit


@dataclass(frozen=True)
class Setting:
    """What everybody is told about one setting: its label and help for people, its limits and its default.

    Parameters
    ----------
    kind
        "whole" and "number" have limits, "text" has most letters, "choice" has choices; "policy" is a name, "parameters" are the
        policy's.
    label, help
        Words for people who know nothing of bandits. The help is one or two sentences, or nothing.
    least, most
        The limits of a number. A whole number may reach both; any other number stays below ``most``.
    above
        A number must be above ``least``, which it may reach otherwise.
    choices
        Values, each with words for people.
    optional
        None is a value as well: no limit, or drawn by the arena.
    first
        Shown at once on the owner's form. The others wait behind "More settings".
    percent
        The owner's form has it in percent.
    """

    kind: Literal["whole", "number", "text", "choice", "truth", "policy", "parameters"]
    label: str
    help: str = ""
    least: float = 0
    most: float = math.inf
    above: bool = False
    choices: Mapping[str, str] = field(default_factory=dict)
    optional: bool = False
    first: bool = False
    percent: bool = False
    name: str = ""  # this and the default are those of the field
    default: Any = None

    @property
    def description(self) -> str:
        """Label, help and choices, for developers.

        >>> setting("board").description
        'When can raters see the results? "verdict": After the verdict. "always": Always, which can sway votes. "never": Never.'
        """
        choices = " ".join(f'"{value}": {words}.' for value, words in self.choices.items())
        return " ".join(part for part in (self.label + "." * (self.label[-1] != "?"), self.help, choices) if part)

    @property
    def limits(self) -> str:
        """The values that it may have, in words.

        >>> [setting(name).limits for name in ("slate_size", "margin", "seed", "board")]
        ['2 to 20', 'at least 0, below 0.5', '0 to 2^128 - 1', 'verdict, always, never']
        """
        if self.kind == "whole":
            return f"{self.least:,} to {_round_number(int(self.most))}"
        if self.kind == "number":
            return f"{'above' if self.above else 'at least'} {self.least:g}, below {self.most:g}"
        if self.kind == "text":
            return f"up to {self.most:,} characters"
        others = {"truth": "true, false", "policy": "a policy's name", "parameters": "NAME=VALUE"}
        return others.get(self.kind, ", ".join(self.choices))

    def check(self, value: Any) -> Any:
        """The value, if it is one that the setting may have. Policies are checked together with their parameters.

        Raises
        ------
        BadInput
            It is none.
        """
        if value is None and self.optional:
            return None
        if self.kind == "whole":
            return whole(self.name, value, int(self.least), int(self.most), of="arena")
        if self.kind == "number":
            return self._check_number(value)
        if self.kind == "text":
            return self._check_text(value)
        if self.kind == "choice":
            return choice(self.name, value, self.choices)
        return truth(self.name, value) if self.kind == "truth" else value

    def _check_text(self, value: Any) -> str:
        written = text(self.name, value)
        if len(written) > self.most or is_broken(written):
            got = "half a character, or a zero character" if is_broken(written) else f"{len(written):,}"
            raise BadInput(f"'{self.name}' of an arena must be text of at most {self.most:,} characters. Got {got}.")
        return written

    def _check_number(self, value: Any) -> float:
        number = finite(self.name, value, of="arena")
        if number >= self.most or number < self.least or (self.above and number == self.least):
            limits = f"lie between {self.least:g} and" if self.above else f"be at least {self.least:g} and below"
            raise BadInput(f"'{self.name}' of an arena must {limits} {self.most:g}. Got {value}.")
        return number

    def write(self, value: Any) -> str:
        """A value as the owner's form has it; ``read`` is the inverse.

        >>> setting("alpha").write(0.05), setting("go_on").write(False), setting("votes").write(None)
        ('5', 'false', '')
        """
        if value is None:
            return ""
        if self.kind == "parameters":
            return ", ".join(f"{name}={said if isinstance(said, str) else json.dumps(said)}" for name, said in value.items())
        if self.kind == "number":
            return f"{100.0 * value if self.percent else value:.12g}"
        return str(value).lower() if self.kind == "truth" else str(value)

    def show(self, value: Any) -> str:
        """A value as people read it.

        >>> setting("board").show("never"), setting("alpha").show(0.05), setting("votes").show(None)
        ('Never', '5 %', '–')
        """
        if self.kind == "whole" and value is not None:
            return f"{value:,}"
        if self.kind == "truth":
            return "Yes" if value else "No"
        return self.choices.get(value, "") if self.choices else f"{self.write(value) or '–'}{' %' * self.percent}"

    def read(self, written: str) -> Any:
        """A value from what was typed into the owner's form. Nothing typed means the default.

        Raises
        ------
        BadInput
            It is not a number, where one is needed.

        Examples
        --------
        >>> setting("alpha").read(" 5 "), setting("votes").read("1,000"), setting("votes").read("")
        (0.05, 1000, None)
        >>> setting("parameters").read("alpha=0.6, link=logit")
        {'alpha': 0.6, 'link': 'logit'}
        """
        written = written.strip()
        if not written and self.kind != "parameters":
            return self.default
        if self.kind == "whole":
            digits = written.replace(",", "")
            if not (digits.isascii() and digits.isdigit() and len(digits) <= len(str(MOST_SEED))):
                raise BadInput(f"‘{self.label}’ must be a whole number{', or empty' * self.optional}. Got {written[:40]}.")
            return int(digits)
        if self.kind == "number":
            try:
                return float(written) / (100.0 if self.percent else 1.0)
            except ValueError:
                raise BadInput(f"‘{self.label}’ must be a number, such as {self.write(0.05)}. Got {written[:40]}.") from None
        if self.kind == "truth":
            return choice(self.label, written, ("true", "false")) == "true"
        return _read_parameters(written) if self.kind == "parameters" else written


def _read_parameters(written: str) -> dict[str, Any]:
    """Parameters of a policy from text such as "alpha=0.6, link=logit": numbers, true and false, or else words."""
    table: dict[str, Any] = {}
    for one in written.split(","):
        name, equals, said = (part.strip() for part in one.partition("="))
        if not (name or equals or said):
            continue
        if not (name and equals and said):
            raise BadInput(f"A parameter must look like NAME=VALUE. Got {shortened(one)}.")
        if name in table:
            raise BadInput(f"The parameter '{name}' can be given once. Got {shortened(one)} as well.")
        table[name] = _scalar(said)
    return table


def _scalar(said: str) -> str | int | float | bool:
    try:
        value = json.loads(said, parse_constant=str)
    except ValueError:
        return said
    return value if isinstance(value, str | int | float | bool) else said


def _round_number(number: int) -> str:
    """A limit as people read it: large powers of two by their exponent."""
    power = (number + 1).bit_length() - 1
    return f"2^{power} - 1" if power >= 32 and number + 1 == 1 << power else f"{number:,}"


def _declare(kind: Any, default: Any, label: str, help: str = "", **words: Any) -> Any:
    """A field of ``Settings``."""
    about = {"setting": Setting(kind, label, help, **words)}
    return field(default_factory=dict, metadata=about) if kind == "parameters" else field(default=default, metadata=about)


@dataclass(frozen=True)
class Settings:
    """The settings of an arena. They are fixed when it is created, except for the policy and the margin.

    Each field is declared with its label, help, limits and default; adding a setting is adding a field.

    >>> Settings(slate_size=4, question="best").unit
    'answer'
    """

    slate_size: int = _declare("whole", 2, "Options shown at once", least=2, most=MOST_SEATS, first=True)
    question: str = _declare(
        "choice",
        "rank",
        "Question",
        "The winner can depend on the question, so it cannot be changed later.",
        choices={"rank": "Put them in order, best first", "best": "Choose the best", "worst": "Choose the worst"},
        first=True,
    )
    instructions: str = _declare(
        "text",
        "",
        "Instructions for raters",
        "Shown before the first question, and on sheets: what to look for, and why it matters. Markdown.",
        most=MOST_INSTRUCTIONS,
        first=True,
    )
    goal: int | None = _declare(
        "whole",
        None,
        "Votes asked of each rater",
        "Raters see how far they are. They may stop earlier, or go on.",
        least=1,
        most=MOST_VOTES,
        optional=True,
        first=True,
    )
    policy: str = _declare("policy", "challengers", "Method that chooses what to show")
    parameters: Mapping[str, Any] = _declare(
        "parameters", None, "Parameters of the method", "By name, such as alpha=0.6. Most methods need none."
    )
    alpha: float = _declare(
        "number",
        0.05,
        "Chance of a wrong result",
        "At most this, however often anyone looks at the results.",
        most=1,
        above=True,
        percent=True,
    )
    margin: float = _declare(
        "number",
        0.0,
        "Options closer than this need not be told apart",
        "How far from one half the chance may be that raters prefer one of two options.",
        most=0.5,
        percent=True,
    )
    unit: str = _declare(
        "choice",
        "answer",
        "Who should the result represent?",
        choices={
            "answer": "These raters: every vote counts",
            "rater": "People like these raters: only each rater’s first judgement of two options counts",
            "case": "Questions like these: only the first judgement of two options on each question counts",
        },
        first=True,
    )
    deciders: str = _declare(
        "choice",
        "people",
        "Whose votes decide?",
        "Judges are models and programs that vote beside people. What they find is shown apart.",
        choices={
            "people": "People’s",
            "judges": "Judges’",
            "all": "Everybody’s alike, so that a judge can outvote people",
        },
    )
    room: int | None = _declare(
        "whole",
        None,
        "Most options there will ever be",
        "Needed if options are to be added or retired later.",
        least=2,
        most=MOST_OPTIONS,
        optional=True,
    )
    votes: int | None = _declare(
        "whole",
        None,
        "Votes you are willing to collect",
        "If a result needs more, the board offers to treat close options as equal.",
        least=1,
        most=MOST_VOTES,
        optional=True,
    )
    expires: int = _declare(
        "whole",
        3600,
        "Seconds to answer",
        "Then the rater is shown other options. A late vote still counts.",
        least=1,
        most=MOST_SECONDS,
    )
    places: int = _declare(
        "whole",
        1,
        "Open tickets per rater",
        "More than one is for programs that vote on several at the same time.",
        least=1,
        most=MOST_PLACES,
    )
    limit: int | None = _declare(
        "whole",
        None,
        "Most votes per rater",
        "A rater can be given another limit.",
        least=1,
        most=MOST_VOTES,
        optional=True,
    )
    go_on: bool = _declare("truth", False, "Keep asking once there is a winner?")
    board: str = _declare(
        "choice",
        "verdict",
        "When can raters see the results?",
        choices={"verdict": "After the verdict", "always": "Always, which can sway votes", "never": "Never"},
    )
    seed: int | None = _declare(
        "whole",
        None,
        "Seed of the random numbers",
        "Drawn if not given. Anyone who knows it can foresee what is shown.",
        most=MOST_SEED,
        optional=True,
    )
    recorded: InitVar[bool] = False  # in a log, whose policy need not be registered here: it is checked before it chooses

    def __post_init__(self, recorded: bool) -> None:
        for one in declared():
            object.__setattr__(self, one.name, one.check(getattr(self, one.name)))
        check = recorded_policy if recorded else check_policy
        object.__setattr__(self, "parameters", check(self.policy, self.parameters))

    def to_json(self) -> dict[str, Any]:
        """Return the settings as plain JSON, as the log records them."""
        return dataclasses.asdict(self) | {"parameters": dict(self.parameters)}

    @classmethod
    def from_json(cls, table: Mapping[str, Any], *, recorded: bool = False) -> Settings:
        """Read settings from a table of names with values.

        Parameters
        ----------
        table
            As a file or a request has it.
        recorded
            Whether the table is from a log, whose limits are those of the version that wrote it.
        """
        if not isinstance(table, Mapping):
            raise BadInput(f"The settings of an arena are names with values. Got {shortened(table)}.")
        no_others(table, [one.name for one in dataclasses.fields(cls)], "An arena")
        return cls(**table, recorded=recorded)


# Which keys are made with an arena. No setting of the arena itself: owners make and revoke keys at any time. Of the two, the
# default is the one under which one person is one rater: who joins a shared link twice counts twice, and no verdict can tell.
RATERS = Setting(
    "choice",
    "Who can vote?",
    choices={
        "secret": "People you add, each with a link of their own",
        "open": "Anyone with one shared link, who may join more than once",
    },
    first=True,
    name="raters",
    default="secret",
)


@functools.cache
def declared() -> tuple[Setting, ...]:
    """All settings, in the order of the fields of ``Settings``."""
    fields = (one for one in dataclasses.fields(Settings) if "setting" in one.metadata)
    return tuple(dataclasses.replace(one.metadata["setting"], name=one.name, default=_default(one)) for one in fields)


def _default(of: dataclasses.Field[Any]) -> Any:
    return of.default if of.default_factory is dataclasses.MISSING else of.default_factory()


def setting(name: str) -> Setting:
    """The declaration of the setting of this name."""
    return next(one for one in declared() if one.name == name)


def check_margin(margin: float) -> float:
    return float(setting("margin").check(margin))


def recorded_policy(name: Any, parameters: Any) -> dict[str, Any]:
    """The parameters of a policy as a log names it. Whether it can be used here is not asked: a log is read anywhere."""
    if not 1 <= len(text("policy", name)) <= MOST_NAME:
        raise BadInput(f"'policy' must be a name of 1 to {MOST_NAME:,} characters. Got {shortened(name)}.")
    if not isinstance(parameters, Mapping) or not all(isinstance(key, str) for key in parameters):
        raise BadInput(f"'parameters' of {shortened(name)} must be names with values. Got {shortened(parameters)}.")
    for value in parameters.values():
        if not isinstance(value, str | int | float | bool):
            raise BadInput(f"A parameter of {shortened(name)} must be a number or a word. Got {shortened(value)}.")
    return dict(parameters)


def check_policy(name: Any, parameters: Any) -> dict[str, Any]:
    """The parameters of a policy that an arena can use, or the reason why it cannot."""
    spec = find(text("policy", name))
    words = recorded_policy(name, parameters)
    if spec.blind:
        raise BadInput(
            f"'{name}' cannot serve an arena, whose votes come late, never, or from elsewhere: {spec.blind}. "
            "'multiduel policies' lists the others."
        )
    for word in ("closing", "slate_size"):
        if word in words:
            raise BadInput(f"'{word}' is not a parameter of '{name}' in an arena, which sees to it by itself.")
    resolve(spec, n_arms=2, slate_size=2, horizon=MOST_HORIZON, words=words)
    return words


def why_unusable(settings: Settings) -> str | None:
    """Why an arena with these settings cannot choose what to show here, or None if it can."""
    try:
        check_policy(settings.policy, settings.parameters)
    except BadInput as error:
        return f"This arena cannot choose what to show here. {error} Its owner can also change to a policy that is registered."
    return None
