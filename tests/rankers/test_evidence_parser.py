"""The compiled reader of evidence agrees with the JSON decoder, or leaves the text to it."""

import json

import numpy as np
import pytest

from multiduel.rankers import evidence_parser
from multiduel.rankers.evidence_parser import read_evidence


def test_numbers_are_those_of_the_decoder():
    rng = np.random.default_rng(0)
    for width in (2, 3, 9):
        for digits in (0, 1, 3, 9, 14, 17):
            pages = [(rng.normal(size=(int(rng.integers(5)), width)) * 10.0).round(digits).tolist() for _ in range(50)]
            texts = [json.dumps(page, separators=(",", ":")).encode() for page in pages]
            values, heights = read_evidence(texts, width)
            assert heights.tolist() == list(map(len, pages))
            assert values.tolist() == [row for page in pages for row in page]


NO_EVIDENCE = """[ [[ []] [[]] [[1,2] [[1,2],] [[1,2]]] [[1]] [[1,2,3]] [[1,]] [[,1]] [1,2] [[01,2]] [[1.,2]] [[.5,2]] [[-,2]]
[[1,2e400]] [[1,1e12]] [[1,1000000000000]] [[1,nan]] [[null,1]] [["1",2]] [[1,2]][[1,2]]"""


@pytest.mark.parametrize("text", ["", "[[1 2]]", *NO_EVIDENCE.split()])
def test_text_that_is_no_evidence_is_refused(text):
    assert read_evidence([b"[[3.0,4.0]]", text.encode(), b"[]"], 2) is None


@pytest.mark.parametrize("text", ["[[1, 2]]", "[[1e0,2]]", "[[1.0000000000000000,2]]", "[[0.1e1,2.0]]", " [[1,2]]"])
def test_other_spellings_are_read_by_the_decoder(text, monkeypatch):
    values, heights = read_evidence([text.encode(), b"[[-0.0,5]]"], 2)
    assert values.tolist() == [[1.0, 2.0], [0.0, 5.0]] and heights.tolist() == [1, 1]
    monkeypatch.setattr(evidence_parser, "_read_by_decoder", lambda texts, width: "decoder")
    assert read_evidence([text.encode()], 2) == "decoder"


def test_pages_without_documents_have_no_rows():
    values, heights = read_evidence([b"[]", b"[[1,2]]", b"[]"], 2)
    assert values.tolist() == [[1.0, 2.0]] and heights.tolist() == [0, 1, 0]
    values, heights = read_evidence([], 2)
    assert values.shape == (0, 2) and heights.shape == (0,)
