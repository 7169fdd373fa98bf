"""The kinds of judges: a Python function, a program, a model behind the OpenAI protocol.

A judge's address (``file.py:function``, ``module:function``, ``command:...``, ``openai:MODEL``) runs code or sends contents
elsewhere. It is taken only where a person typed it: a command line, or a Python call. Nothing here reads one from an arena, a
request or a file.
"""

from __future__ import annotations

import asyncio
import hashlib
import inspect
import os
import select
import shlex
import subprocess
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any, Protocol
from urllib.parse import urlsplit

from multiduel.arena.domain.events import canonical
from multiduel.arena.judges.prompts import check_template, messages, schema_of
from multiduel.arena.judges.questions import Question, Reply, Unreadable, ballot_of, read_text
from multiduel.inputs import BadInput, install, shortened

MOST_LINE = 10_000_000  # bytes of a program's answer
CHUNK = 65_536
MOST_COMMAND_NAME = 60  # characters of a command that name its judge


class JudgeFailed(Exception):
    """A judge could not be asked: the run ends, and can be continued."""


class Judge(Protocol):
    """What the loop needs of a judge."""

    name: str  # for people: the rater's label
    identity: str  # judges that could answer differently differ in it; never a secret

    def request(self, question: Question, attempt: int) -> dict[str, Any]:
        """All that the answer depends on, as plain JSON."""

    def call(self, question: Question, request: Mapping[str, Any]) -> Reply:
        """Make the call."""

    def read(self, text: str, question: Question) -> dict[str, Any]:
        """Read the answer, or raise Unreadable."""

    def close(self) -> None:
        """End what the judge started."""


# ---- functions


class FunctionJudge:
    """A Python function, sync or async, of a ``Question``. Its answer is a position, a ranking, "tie", None, or a ballot.

    Parameters
    ----------
    function
        Called with a Question. What it returns and cannot be read is an error, not a skip.
    name
        The judge's name; the function's if not given.
    """

    def __init__(self, function: Callable[[Question], Any], name: str = "") -> None:
        if not callable(function):
            raise BadInput(f"A judge must be a function, or something else that can be called. Got {shortened(function)}.")
        self._function = function
        self.name = name or getattr(function, "__name__", "") or type(function).__name__
        self.identity = f"function {self.name} {_source_hash(function)}"
        self._loop: asyncio.AbstractEventLoop | None = None
        self._guard = threading.Lock()

    def request(self, question: Question, attempt: int) -> dict[str, Any]:
        return question.to_json() | ({"attempt": attempt} if attempt else {})

    def call(self, question: Question, request: Mapping[str, Any]) -> Reply:
        said = self._function(question)
        if inspect.isawaitable(said):
            said = asyncio.run_coroutine_threadsafe(_awaited(said), self._running()).result()
        try:
            return Reply(canonical(ballot_of(said, question.task, len(question.contents))))
        except Unreadable as error:
            raise JudgeFailed(f"The function '{self.name}' gave an answer that is none. {error}") from None

    def read(self, text: str, question: Question) -> dict[str, Any]:
        return read_text(text, question.task, len(question.contents))

    def _running(self) -> asyncio.AbstractEventLoop:
        """One event loop for all calls, so that a client that belongs to a loop can be shared."""
        with self._guard:
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                threading.Thread(target=self._loop.run_forever, name="judge", daemon=True).start()
            return self._loop

    def close(self) -> None:
        if self._loop is not None:
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._loop = None


async def _awaited(said: Any) -> Any:
    return await said


def _source_hash(function: Any) -> str:
    """A function that was edited is another judge; what it calls is not looked at."""
    try:
        source = inspect.getsource(function if inspect.isroutine(function) else type(function))
    except (OSError, TypeError):
        return ""
    return hashlib.sha256(source.encode("utf-8")).hexdigest()[:16]


# ---- programs


class CommandJudge:
    """A program that reads a line of JSON for each question and writes a line of JSON as its answer. No shell is involved.

    Parameters
    ----------
    command
        The program and its arguments, as one would type them.
    name
        The judge's name; the command if not given.
    timeout
        Seconds to wait for an answer. Then the program is ended, and asked once more.
    """

    def __init__(self, command: str, name: str = "", *, timeout: float = 120.0) -> None:
        try:
            self._words = shlex.split(command)
        except ValueError as error:
            raise BadInput(f"A program must be a command as one types it. Got {shortened(command)}: {error}.") from None
        if not self._words:
            raise BadInput("A program must be a command as one types it. Got none.")
        self.name = name or " ".join((os.path.basename(self._words[0]), *self._words[1:]))[:MOST_COMMAND_NAME]
        self.identity = f"command {canonical({'words': self._words})}"
        self.timeout = timeout
        self._mine = threading.local()
        self._all: list[subprocess.Popen[bytes]] = []
        self._guard = threading.Lock()

    def request(self, question: Question, attempt: int) -> dict[str, Any]:
        return question.to_json() | ({"attempt": attempt} if attempt else {})

    def call(self, question: Question, request: Mapping[str, Any]) -> Reply:
        for last in (False, True):
            process = self._process()
            try:
                return Reply(self._line(process, canonical(request)))
            except (OSError, TimeoutError) as error:
                self._end(process)
                if last:
                    raise JudgeFailed(f"The program '{self.name}' did not answer: {error}.") from None
        raise AssertionError

    def read(self, text: str, question: Question) -> dict[str, Any]:
        return read_text(text, question.task, len(question.contents))

    def _process(self) -> subprocess.Popen[bytes]:
        """Each thread has a program of its own."""
        process: subprocess.Popen[bytes] | None = getattr(self._mine, "process", None)
        if process is None or process.poll() is not None:
            try:
                process = subprocess.Popen(self._words, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
            except OSError as error:
                raise JudgeFailed(f"The program '{self._words[0]}' cannot be started: {error.strerror}.") from None
            self._mine.process = process
            with self._guard:
                self._all.append(process)
        return process

    def _line(self, process: subprocess.Popen[bytes], request: str) -> str:
        assert process.stdin is not None and process.stdout is not None
        process.stdin.write(request.encode("utf-8") + b"\n")
        process.stdin.flush()
        until, read, out = time.monotonic() + self.timeout, b"", process.stdout.fileno()
        while b"\n" not in read:
            left = until - time.monotonic()
            if left <= 0 or not select.select([out], [], [], left)[0]:
                raise TimeoutError(f"nothing came within {self.timeout:g} seconds")
            part = os.read(out, CHUNK)
            if not part or len(read) > MOST_LINE:
                raise OSError("it ended" if not part else f"a line has at most {MOST_LINE:,} bytes")
            read += part
        return read.partition(b"\n")[0].decode("utf-8", "replace")

    def _end(self, process: subprocess.Popen[bytes]) -> None:
        process.kill()
        process.wait()
        for pipe in (process.stdin, process.stdout):
            if pipe is not None:
                with suppress(OSError):  # what was not sent any more
                    pipe.close()
        with self._guard:
            if process in self._all:
                self._all.remove(process)

    def close(self) -> None:
        for process in list(self._all):
            self._end(process)


# ---- models


class OpenAIJudge:
    """A chat model behind the OpenAI protocol, by the official client: retries with Retry-After, time-outs.

    Parameters
    ----------
    model
        As the server names it.
    base_url
        Of the server; OPENAI_BASE_URL, or OpenAI's own, if not given.
    key_variable
        The environment variable that holds the key. The key itself goes to the server and nowhere else.
    template
        A prompt other than ours: ``prompts.FIELDS`` lists what it may contain.
    temperature, max_tokens, timeout, retries
        Of each call; time-outs in seconds.
    schema
        Whether to send a JSON schema that the server holds the answer to. Some servers know none.
    name
        The judge's name; the model's if not given.
    """

    def __init__(
        self,
        model: str,
        *,
        base_url: str | None = None,
        key_variable: str = "OPENAI_API_KEY",
        template: str | None = None,
        temperature: float | None = 0.0,
        max_tokens: int = 500,
        timeout: float = 60.0,
        retries: int = 4,
        schema: bool = True,
        name: str = "",
    ) -> None:
        try:
            import openai
        except ImportError:
            raise BadInput(f"Models behind the OpenAI protocol need the official client: {install('judges')}.") from None
        url = base_url or os.environ.get("OPENAI_BASE_URL") or "https://api.openai.com/v1"
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname or parts.username is not None:
            raise BadInput("A server is named by a URL such as http://127.0.0.1:8080/v1, without a name or password in it.")
        if not model:
            raise BadInput("Name the model: openai:MODEL.")
        self._key = os.environ.get(key_variable, "")
        if not self._key and parts.hostname not in ("127.0.0.1", "localhost", "::1"):
            raise BadInput(f"The key must be in the environment variable {key_variable}, which is empty.")
        self._openai: Any = openai
        self._client = openai.OpenAI(base_url=url, api_key=self._key or "none", timeout=timeout, max_retries=retries)
        self._template = None if template is None else check_template(template)
        self._schema = schema
        self._words: dict[str, Any] = {"model": model, "max_tokens": max_tokens}
        if temperature is not None:
            self._words["temperature"] = temperature
        self.name = name or model
        self.identity = f"openai {url}"

    def request(self, question: Question, attempt: int) -> dict[str, Any]:
        asked = self._words | {"messages": messages(question, self._template, attempt)}
        if self._schema:
            form = {"name": "judgement", "strict": True, "schema": schema_of(question)}
            asked["response_format"] = {"type": "json_schema", "json_schema": form}
        return asked

    def call(self, question: Question, request: Mapping[str, Any]) -> Reply:
        try:
            answer: Any = self._client.chat.completions.create(**request)
            text = answer.choices[0].message.content or ""
            usage = answer.usage
            tokens = (usage.prompt_tokens or 0, usage.completion_tokens or 0) if usage is not None else (0, 0)
            return Reply(self._hidden(text), *map(int, tokens))
        except self._openai.OpenAIError as error:
            raise JudgeFailed(self._hidden(f"'{self.name}' could not be asked: {type(error).__name__}: {error}")) from None
        except (AttributeError, IndexError, TypeError, ValueError) as error:  # an answer that is none of this protocol
            return Reply(self._hidden(f"no chat completion ({type(error).__name__})"))

    def _hidden(self, text: str) -> str:
        """A server may repeat the key it was sent."""
        return text.replace(self._key, "(key)") if self._key else text

    def read(self, text: str, question: Question) -> dict[str, Any]:
        return read_text(text, question.task, len(question.contents))

    def close(self) -> None:
        self._client.close()


# ---- addresses


def typed_judge(address: str, *, name: str = "", timeout: float | None = None, **model: Any) -> Judge:
    """The judge that a person typed.

    Parameters
    ----------
    address
        ``openai:MODEL``, ``command:PROGRAM ARGUMENTS``, ``path/to/file.py:function`` or ``module:function``.
    name
        The judge's name.
    timeout
        Seconds for one answer of a program or a model.
    **model
        For models: base_url, key_variable, template, temperature, max_tokens, schema.

    Returns
    -------
    Judge
        The judge.
    """
    kind, colon, rest = address.partition(":")
    waits: dict[str, Any] = {} if timeout is None else {"timeout": timeout}
    if colon and kind == "openai":
        return OpenAIJudge(rest, name=name, **waits, **model)
    if colon and kind == "command":
        return CommandJudge(rest, name, **waits)
    from multiduel.engine.registry.plugins import load_function

    return FunctionJudge(load_function(address), name)


def judge_of(given: Any) -> Judge:
    """A judge from what a Python caller gave: one of ours, a function, or an address."""
    if isinstance(given, str):
        return typed_judge(given)
    if all(hasattr(given, one) for one in ("name", "identity", "request", "call", "read")):
        judge: Judge = given
        return judge
    return FunctionJudge(given)
