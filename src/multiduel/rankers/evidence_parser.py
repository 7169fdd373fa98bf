"""The evidence of many pages from JSON text to an array, compiled: a page has fifty numbers, and a log a million pages.

It takes what ``Log`` writes, such as ``[[27.0,30.0,1.0],[26.0,10.0,17.0]]``: no spaces, no exponents, at most 15 digits a
number. Such a number is a whole number divided by a power of ten, both exact, so that the division rounds as it should. Any
other text is left to the JSON decoder.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import msgspec
import numpy as np

from multiduel.arrays import Floats, Ints
from multiduel.kernels.compiler.dispatch import entry
from multiduel.rankers.impression import MOST_EVIDENCE

MOST_DIGITS = 15
OPEN, CLOSE, COMMA, MINUS, POINT, ZERO, NINE = (ord(letter) for letter in "[],-.09")


class Parsed(NamedTuple):
    """What is found, as compiled code fills it."""

    values: Floats  # f8[at least as many as there are]
    heights: Ints  # i8[pages]  rows of each page


_decode = msgspec.json.Decoder(list[list[float]]).decode


def read_evidence(texts: list[bytes], width: int) -> tuple[Floats, Ints] | None:
    """Read the evidence of pages: all rows, and how many each page has. None if a row has not ``width`` numbers."""
    text = b"".join(texts)
    parsed = Parsed(np.empty(text.count(b",") + len(texts)), np.zeros(len(texts), np.int64))
    args = (parsed, np.frombuffer(text, np.uint8), width)
    run = entry(parse_rows, parsed, "evidence of a log")
    run.prepare(*args)
    count = run.call(*args)
    if count < 0:
        return _read_by_decoder(texts, width)
    return parsed.values[:count].reshape(-1, width), parsed.heights


def _read_by_decoder(texts: list[bytes], width: int) -> tuple[Floats, Ints] | None:
    try:
        pages = [_decode(text) for text in texts]
    except msgspec.MsgspecError:
        return None
    if any(len(row) != width for page in pages for row in page):
        return None
    values = np.array([value for page in pages for row in page for value in row], np.float64).reshape(-1, width)
    good = not values.size or bool((np.abs(values) < MOST_EVIDENCE).all())
    return (values, np.array([len(page) for page in pages], np.int64)) if good else None


def parse_rows(parsed: Parsed, text: Any, width: int) -> int:
    """Fill ``parsed``; returns how many numbers there are, or -1 if the text is not as ``Log`` writes it."""
    values, heights = parsed.values, parsed.heights
    at, end, count, page = 0, text.shape[0], 0, 0
    while at < end:
        if page == heights.shape[0] or text[at] != OPEN:
            return -1
        at += 1
        if at < end and text[at] == CLOSE:  # a page without documents
            at += 1
            page += 1
            continue
        while True:
            if at >= end or text[at] != OPEN:
                return -1
            at += 1
            for k in range(width):
                sign = 1.0
                if at < end and text[at] == MINUS:
                    sign = -1.0
                    at += 1
                whole, digits, scale, begin = np.int64(0), 0, 1.0, at
                while at < end and ZERO <= text[at] <= NINE and digits <= MOST_DIGITS:
                    whole = 10 * whole + (np.int64(text[at]) - ZERO)
                    digits += 1
                    at += 1
                if digits == 0 or (digits > 1 and text[begin] == ZERO):
                    return -1
                if at < end and text[at] == POINT:
                    at += 1
                    begin = at
                    while at < end and ZERO <= text[at] <= NINE and digits <= MOST_DIGITS:
                        whole = 10 * whole + (np.int64(text[at]) - ZERO)
                        digits += 1
                        scale *= 10.0
                        at += 1
                    if at == begin:
                        return -1
                value = whole / scale
                if digits > MOST_DIGITS or value >= MOST_EVIDENCE or at >= end or count >= values.shape[0]:
                    return -1
                if text[at] != (COMMA if k + 1 < width else CLOSE):
                    return -1
                at += 1
                values[count] = sign * value
                count += 1
            heights[page] += 1
            if at >= end or (text[at] != COMMA and text[at] != CLOSE):
                return -1
            at += 1
            if text[at - 1] == CLOSE:
                break
        page += 1
    return count if page == heights.shape[0] else -1
