"""Files that somebody sends as options: what is taken, what is refused and in which words, and what a stranger could try."""

from __future__ import annotations

import io
import random
import struct
import tracemalloc
import zipfile
import zlib
from contextlib import suppress
from typing import Any

import pytest

from multiduel.arena.files import uploads
from multiduel.arena.files.uploads import Upload, read_uploads
from multiduel.inputs import BadInput

PNG = b"\x89PNG\r\n\x1a\n" + b"\0" * 50
JPEG = b"\xff\xd8\xff" + b"\0" * 50
SVG = b'<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"><script>alert(2)</script></svg>'
WAV = b"RIFF\0\0\0\0WAVE" + b"\0" * 50
M4A = b"\0\0\0\x20ftypM4A " + b"\0" * 50
HELLO = Upload("hello.txt", b"Hello!")


def zipped(files: dict[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", method) as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return made.getvalue()


def kinds(*files: Upload, **words: Any) -> dict[str, list[tuple[str, str]]]:
    options, _ = read_uploads(files, **words)
    return {option.name: [(content.kind, content.type) for content in option.contents] for option in options}


def test_files_are_options_of_the_kind_that_their_bytes_say() -> None:
    found = kinds(
        Upload("red.png", PNG),
        Upload("not a picture.txt", JPEG),
        Upload("drawing.html", SVG),
        Upload("song.png", WAV),
        Upload("voice", M4A),
        Upload("notes.md", b"**bold**"),
        Upload("page.png", b"<html><script>alert(1)</script></html>"),
        Upload("BM.txt", b"BM is no picture here."),
    )
    assert {name: types[0] for name, types in found.items()} == {
        "red": ("image", "image/png"),
        "not a picture": ("image", "image/jpeg"),
        "drawing": ("image", "image/svg+xml"),
        "song": ("audio", "audio/wav"),
        "voice": ("audio", "audio/mp4"),
        "notes": ("markdown", "text/markdown; charset=utf-8"),
        "page": ("text", "text/plain; charset=utf-8"),
        "BM": ("text", "text/plain; charset=utf-8"),
    }


@pytest.mark.parametrize(
    ("name", "data", "words"),
    [
        ("plan.png", b"%PDF-1.7\n\xff\xfe", "‘plan.png’ is a PDF document. Send pictures"),
        ("IMG_1.jpg", b"\0\0\0\x20ftypheic\0\0\0\0\xff", "is a HEIC picture"),
        ("clip.mp3", b"\0\0\0\x14ftypqt  \xff\xff", "is a QuickTime film"),
        ("x.gif", b"MZ\x90\0\x03\0\0\0\xff\xff", "is a Windows program"),
        ("x.png", b"\x1f\x8b\x08\0\xff", "is a gzip archive"),
        ("x.png", b"\x93\x94\x95 whatever", "is no file that can be shown"),
        ("x.txt", b"a\0b", "is no file that can be shown"),
        ("empty.txt", b"", "is an empty file"),
        ("long.txt", b"x" * 200_001, "must have 1 to 200,000 bytes. Got 200,001"),
        ("long.txt", "é".encode() * 150_000, "must have 1 to 200,000 bytes. Got 300,000"),
        ("big.png", PNG + b"\0" * 10_000_000, "must have 1 to 10,000,000 bytes"),
        ("report.docx", zipped({"[Content_Types].xml": b"<x/>", "word/document.xml": b"<x/>"}), "is an Office document"),
        ("../up.png", PNG, "A file must have a plain name"),
        ("/etc/passwd", PNG, "A file must have a plain name"),
        ("a\\b.png", PNG, "A file must have a plain name"),
        ("C:x.png", PNG, "A file must have a plain name"),
        ("a\u202egnp.exe", PNG, "A file must have a plain name"),
    ],
)
def test_other_files_are_refused_in_words(name: str, data: bytes, words: str) -> None:
    with pytest.raises(BadInput) as refused:
        read_uploads([HELLO, Upload(name, data)])
    assert words in str(refused.value) and len(str(refused.value)) < 400


def test_names_of_options_differ() -> None:
    assert list(kinds(Upload("logo.png", PNG), Upload("logo.jpg", JPEG))) == ["logo.png", "logo.jpg"]
    assert list(kinds(Upload("a/logo.png", PNG), Upload("b/logo.png", JPEG))) == ["a/logo.png", "b/logo.png"]
    with pytest.raises(BadInput, match=r"The names of files must differ. Got ‘logo.png’ twice."):
        read_uploads([Upload("logo.png", PNG), Upload("logo.png", JPEG)])
    with pytest.raises(BadInput, match=r"An arena has 2 to 200 options. Got 1."):
        read_uploads([HELLO])


def test_a_table_names_the_files_beside_it() -> None:
    table = Upload("set/options.csv", b"\xef\xbb\xbfname,content,kind\nred,pictures/1.png,\nblue,2.png,image\nwords,Hello,text\n")
    files = [Upload("set/pictures/1.png", PNG), Upload("elsewhere/2.png", JPEG)]
    expected = {"red": "image", "blue": "image", "words": "text"}
    assert {name: types[0][0] for name, types in kinds(table, *files).items()} == expected
    whole = zipped(
        {file.name: file.data for file in (table, *files)} | {"__MACOSX/._x": b"\0", ".DS_Store": b"\0", "./set/": b""}
    )
    assert {name: types[0][0] for name, types in kinds(Upload("all.zip", whole)).items()} == expected
    contexts = b"name,content,kind,context\na,1.png,image,q1\na,2.png,image,q2\nb,2.png,image,q1\nb,1.png,image,q2\n"
    options, questions = read_uploads([Upload("t.csv", contexts), Upload("1.png", PNG), Upload("2.png", JPEG)])
    assert questions == ("q1", "q2") and [len(option.contents) for option in options] == [2, 2]


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("blue,3.png,image", "Line 3: there is no file '3.png' among those that were sent."),
        ("blue,../2.png,image", "must be a path beneath the file's folder"),
        ("blue,/etc/passwd,image", "must be a path beneath the file's folder"),
        ("blue,2.png,audio", "must be MP3, WAV, Ogg, FLAC or M4A, as its kind is audio"),
        ("blue,words,text", "No line of ‘t.csv’ names ‘2.png’."),
    ],
)
def test_a_table_that_names_other_files_is_refused(line: str, words: str) -> None:
    table = Upload("t.csv", f"name,content,kind\nred,1.png,image\n{line}\n".encode())
    with pytest.raises(BadInput) as refused:
        read_uploads([table, Upload("1.png", PNG), Upload("2.png", JPEG)])
    assert words in str(refused.value)


def test_two_tables_or_other_bytes_are_refused() -> None:
    with pytest.raises(BadInput, match=r"Send one table at a time"):
        read_uploads([Upload("a.csv", b"name,content\n"), Upload("b.csv", b"name,content\n")])
    with pytest.raises(BadInput, match=r"must be a table in UTF-8"):
        read_uploads([Upload("a.csv", b"name,content\n\xff\xfe,x\n")])


@pytest.mark.parametrize("name", ["../../up.png", "/abs.png", "a/../../b.png", "..\\up.png", "C:\\x.png"])
def test_paths_in_a_zip_that_lead_elsewhere_are_refused(name: str) -> None:
    with pytest.raises(BadInput, match=r"A file must have a plain name"):
        read_uploads([Upload("x.zip", zipped({"good.png": PNG, name: JPEG}))])


def test_bombs_are_not_unpacked(monkeypatch: pytest.MonkeyPatch) -> None:
    one = zipped({"bomb.txt": b"0" * 100_000_000})
    many = zipped({f"{k}.txt": b"0" * 9_000_000 for k in range(4)})
    tracemalloc.start()
    with pytest.raises(BadInput, match=r"‘bomb.txt’ in the zip must have at most 10,000,000 bytes"):
        read_uploads([Upload("x.zip", one)])
    assert tracemalloc.get_traced_memory()[1] < 60_000_000
    tracemalloc.stop()
    monkeypatch.setattr(uploads, "MOST_UNPACKED", 20_000_000)
    with pytest.raises(BadInput, match=r"All files together must have at most 20,000,000 bytes, unpacked"):
        read_uploads([Upload("x.zip", many)])
    with pytest.raises(BadInput, match=r"All files together"):
        read_uploads([Upload(f"{k}.png", PNG + b"\0" * 9_000_000) for k in range(3)])
    with pytest.raises(BadInput, match=r"At most 2,000 files"):
        read_uploads([Upload("x.zip", zipped({f"{k}.txt": b"x" for k in range(2_001)}))])
    with pytest.raises(BadInput, match=r"no file that can be shown"):
        read_uploads([HELLO, Upload("x.zip", zipped({"inner.zip": many[:1_000]}))])


def test_what_a_zip_says_of_its_sizes_is_not_believed() -> None:
    whole = bytearray(zipped({"a.txt": b"0" * 20_000_000}))
    small = struct.pack("<I", 10)
    whole[22:26] = small  # the local header's size, and below the directory's
    at = whole.rindex(b"PK\x01\x02")
    whole[at + 24 : at + 28] = small
    with pytest.raises(BadInput):
        read_uploads([HELLO, Upload("x.zip", bytes(whole))])


@pytest.mark.parametrize("cut", [4, 30, 60, -10])
def test_a_zip_that_is_not_whole_is_refused(cut: int) -> None:
    whole = zipped({"a.txt": b"Hello, " * 50, "b.txt": b"Good morning. " * 50})
    with pytest.raises(BadInput, match=r"is a zip that cannot be unpacked"):
        read_uploads([Upload("x.zip", whole[:cut])])


def test_damaged_encrypted_and_rarely_packed_zips_are_refused() -> None:
    whole = bytearray(zipped({"a.txt": b"Hello, " * 50, "b.txt": b"Good morning. " * 50}))
    for at in range(35, len(whole), 7):
        damaged = bytes(whole[:at]) + bytes([whole[at] ^ 0x55]) + bytes(whole[at + 1 :])
        with suppress(BadInput):  # and nothing else
            read_uploads([Upload("x.zip", damaged)])
    secret = bytearray(whole)
    for start, offset in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        secret[secret.index(start) + offset] |= 1
    with pytest.raises(BadInput, match=r"without a password"):
        read_uploads([Upload("x.zip", bytes(secret))])
    with pytest.raises(BadInput, match=r"Use plain zip compression"):
        read_uploads([Upload("x.zip", zipped({"a.txt": b"x", "b.txt": b"y"}, zipfile.ZIP_LZMA))])


def test_bytes_at_random_are_refused_or_taken_and_nothing_else() -> None:
    luck = random.Random(3)
    starts = [b"PK\x03\x04", b"\x89PNG", b"GIF8", b"<svg", b"<?xml", b"RIFF", b"OggS", b"%PDF"]
    for _ in range(300):
        data = luck.choice(starts) + luck.randbytes(luck.randrange(200))
        data = zlib.compress(data) if luck.random() < 0.1 else data
        with suppress(BadInput):
            read_uploads([HELLO, Upload("x", data)])
