"""Options and their contents: what a file may say, and what is refused, by its line."""

from __future__ import annotations

import json
import os

import pytest
from hypothesis import given
from hypothesis import strategies as st

from multiduel.arena.domain.options import (
    MOST_MEDIA,
    MOST_OPTIONS,
    MOST_TEXT,
    Content,
    Option,
    check_options,
    make_content,
    read_lines,
    read_options,
)
from multiduel.inputs import BadInput

PNG = b"\x89PNG\r\n\x1a\n" + bytes(8)


def refusal(function, *args, **kwargs) -> str:
    with pytest.raises(BadInput) as caught:
        function(*args, **kwargs)
    return str(caught.value)


def test_csv_and_jsonl_say_the_same(tmp_path):
    rows = [
        ("mild", "Good *morning*", "markdown"),
        ("sharp", 'He said "no",\ntwice', "text"),
        ("link", "https://a.example/x?y=1", "url"),
    ]
    table = tmp_path / "options.csv"
    table.write_text(
        '\ufeffName,Content,Kind\nmild,Good *morning*,markdown\nsharp,"He said ""no"",\ntwice",\nlink,https://a.example/x?y=1,url\n'
    )
    lines = tmp_path / "options.jsonl"
    lines.write_text("\n\n".join(json.dumps(dict(zip(("name", "content", "kind"), row, strict=True))) for row in rows))
    assert read_options(table) == read_options(lines)
    options, contexts = read_options(table)
    assert contexts == () and [option.name for option in options] == ["mild", "sharp", "link"]
    assert options[1].contents[0] == Content("text", b'He said "no",\ntwice', "text/plain; charset=utf-8")
    assert options[0].contents[0].type == "text/markdown; charset=utf-8"


def test_one_content_per_context():
    written = "name,context,content\na,Why?,Because.\nb,How?,So.\na,How?,Thus.\nb,Why?,Hm.\n"
    options, contexts = read_lines(written, format="csv")
    assert contexts == ("Why?", "How?")
    assert [[content.data for content in option.contents] for option in options] == [[b"Because.", b"Thus."], [b"Hm.", b"So."]]
    assert "must have a content per context. Check the context 'How?'" in refusal(
        read_lines, "name,context,content\na,Why?,x\na,How?,y\nb,Why?,z\n", format="csv"
    )
    mixed = "name,context,content\na,Why?,x\na,,y\nb,Why?,z\n"
    assert "Check the context none" in refusal(read_lines, mixed, format="csv")


def test_images_and_sounds_lie_beneath_the_folder(tmp_path):
    (tmp_path / "media").mkdir()
    (tmp_path / "media" / "a.png").write_bytes(PNG)
    (tmp_path / "b.wav").write_bytes(b"RIFF0000WAVEfmt ")
    (tmp_path / "c.dat").write_bytes(b"<?xml version='1.0'?>\n<svg xmlns='x'/>")
    file = tmp_path / "o.csv"
    file.write_text("name,kind,content\na,image,media/a.png\nb,audio,b.wav\nc,image,c.dat\n")
    options, _ = read_options(file)
    assert [option.contents[0].type for option in options] == ["image/png", "audio/wav", "image/svg+xml"]
    assert options[0].contents[0].data == PNG


@pytest.mark.parametrize(
    "path", ["../secret.png", "/etc/hostname", "media/../../secret.png", "..\\secret.png", "link.png", "up/secret.png", ""]
)
def test_no_path_leads_out_of_the_folder(tmp_path, path):
    home = tmp_path / "home"
    home.mkdir()
    (tmp_path / "secret.png").write_bytes(PNG)
    os.symlink(tmp_path / "secret.png", home / "link.png")
    os.symlink(tmp_path, home / "up")
    file = home / "o.jsonl"
    file.write_text("\n".join(json.dumps({"name": name, "kind": "image", "content": path}) for name in "ab"))
    said = refusal(read_options, file)
    assert said.startswith("Line 1: the content must be a path beneath the file's folder.")


def test_a_folder_a_pipe_or_a_missing_file_is_no_content(tmp_path):
    (tmp_path / "folder").mkdir()
    os.mkfifo(tmp_path / "pipe")
    for path, said in (
        ("folder", "must be the path of a file"),
        ("pipe", "must be the path of a file"),
        ("none", "cannot be read: No such file"),
    ):
        (tmp_path / "o.csv").write_text(f"name,kind,content\na,text,x\nb,image,{path}\n")
        assert refusal(read_options, tmp_path / "o.csv").startswith("Line 3:")
        assert said in refusal(read_options, tmp_path / "o.csv")


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("", "Line 1: the first line must name the columns"),
        ("name,name\na,b\n", "each once"),
        ("name,content\na,x\n", "2 to 200 options. Got 1."),
        ("name,content\na,x\nb,x,y\n", "Line 3: there are more cells"),
        ("name,content\na,x\na,y\n", "Line 3: option 'a' has a content already."),
        ("name,content\na,x\n,y\n", "Line 3: 'name' must be 1 to 200"),
        ("name,content\na,x\nb,\n", "Line 3: the content must not be empty"),
        ("name,content\na,x\nb\n", "Line 3: the content must not be empty"),
        ("name,contents\na,x\n", "Line 2 has no 'contents'. Did you mean 'content'?"),
        ("name,content,kind\na,x,txt\n", "Line 2: kind' must be one of text, markdown"),
        ("name,content,kind\na,javascript:alert(1),url\n", "Line 2: the content must be an http or https URL"),
        ('name,content\na,"x\n', "this is no CSV"),
    ],
)
def test_what_is_wrong_is_said_by_its_line(written, said):
    assert said in refusal(read_lines, written, format="csv")


def test_lines_that_are_no_objects():
    assert "Line 2: this is no JSON" in refusal(read_lines, '{"name":"a","content":"x"}\n{', format="jsonl")
    assert "Line 1 must be a JSON object" in refusal(read_lines, "[1]", format="jsonl")
    assert "must be text in quotes. Got 5" in refusal(read_lines, '{"name":5,"content":"x"}', format="jsonl")
    assert "no JSON" in refusal(read_lines, "[" * 100_000, format="jsonl")


def test_long_texts_and_strange_line_ends():
    long = "x" * (MOST_TEXT - 10)
    options, _ = read_lines(f"name,content\na,{long}\nb,y\n", format="csv")
    assert options[0].contents[0].size == len(long)
    odd = "one\u2028two\x85three\x0bfour"
    written = "\r\n".join(json.dumps({"name": name, "content": odd}, ensure_ascii=False) for name in "ab")
    options, _ = read_lines(written, format="jsonl")
    assert options[1].contents[0].data.decode() == odd


def test_limits():
    assert f"1 to {MOST_TEXT:,} bytes" in refusal(make_content, "text", "x" * (MOST_TEXT + 1))
    assert f"1 to {MOST_MEDIA:,} bytes" in refusal(make_content, "image", PNG + bytes(MOST_MEDIA))
    assert "must be PNG, JPEG" in refusal(make_content, "image", b"<html><script>")
    assert "must be MP3" in refusal(make_content, "audio", PNG)
    assert "half a character" in refusal(make_content, "text", "\ud800")
    one = make_content("text", "x")
    many = [Option(f"o{k}", (one,)) for k in range(MOST_OPTIONS + 1)]
    assert "2 to 200 options. Got 201" in refusal(check_options, many)
    check_options(many[:MOST_OPTIONS])
    assert "one content. Got 2" in refusal(check_options, [Option("a", (one, one)), Option("b", (one,))])
    assert "twice" in refusal(check_options, [Option("a", (one,)), Option("a", (one,))])
    lines = "name,content\n" + "".join(f"o{k},x\n" for k in range(MOST_OPTIONS + 1))
    assert "Line 202: an arena has at most 200" in refusal(read_lines, lines, format="csv")


@given(st.text(max_size=200), st.sampled_from(["csv", "jsonl"]))
def test_no_text_is_worse_than_refused(written, format):
    try:
        options, contexts = read_lines(written, format=format)
    except BadInput as error:
        assert str(error).endswith(".")
    else:
        check_options(options, contexts)


@given(st.sampled_from(["text", "markdown", "url", "image", "audio"]), st.text(max_size=50) | st.binary(max_size=50))
def test_a_content_is_what_it_is_said_to_be_or_refused(kind, value):
    try:
        content = make_content(kind, value)
    except BadInput:
        return
    assert content.kind == kind and content.size == len(content.data) > 0
    assert content.describe() == {"kind": kind, "sha256": content.sha256, "size": content.size, "type": content.type}


def test_features_are_numbers_of_all_options():
    found, _ = read_lines("name,content,features\nmild,A,0.5 -1\nsharp,B,2;3e2\n", format="csv")
    assert [option.features for option in found] == [(0.5, -1.0), (2.0, 300.0)]
    rows = [{"name": "mild", "content": "A", "features": [0.5, -1]}, {"name": "sharp", "content": "B", "features": [2, 300]}]
    assert read_lines("\n".join(map(json.dumps, rows)), format="jsonl")[0] == found
    several = "name,content,context,features\na,1,x,1\na,2,y,\nb,3,x,2\nb,4,y,2\n"
    assert [option.features for option in read_lines(several, format="csv")[0]] == [(1.0,), (2.0,)]
    two = several.replace("a,2,y,\n", "a,2,y,7\n")
    assert refusal(read_lines, two, format="csv") == "Line 3: option 'a' has other features already."
    some = "name,content,features\nmild,A,1\nsharp,B,\n"
    assert refusal(read_lines, some, format="csv") == "Option 'sharp' must have 1 feature, as the others. Got 0."


@pytest.mark.parametrize(
    ("said", "sentence"),
    [
        ("1 two", "Line 2: 'features' must be at most 100 numbers from -1,000,000 to 1,000,000. Got '1 two'."),
        ("nan", "Line 2: 'features' must be at most 100 numbers"),
        ("1e7", "Line 2: 'features' must be at most 100 numbers"),
        ("1 " * 101, "Line 2: 'features' must be at most 100 numbers"),
        ([True], "Line 2: 'features' must be at most 100 numbers"),
        ([None], "Line 2: 'features' must be at most 100 numbers"),
        ({"a": 1}, "Line 2: 'features' must be numbers."),
        (5, "Line 2: 'features' must be numbers. Got 5."),
    ],
)
def test_features_that_cannot_be_are_refused_by_their_line(said, sentence):
    rows = [{"name": "mild", "content": "A"}, {"name": "sharp", "content": "B", "features": said}]
    assert refusal(read_lines, "\n".join(map(json.dumps, rows)), format="jsonl").startswith(sentence)
