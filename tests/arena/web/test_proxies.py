"""The example for nginx works, on another port too: forms are taken, the caller's address and https are passed on."""

from __future__ import annotations

import re
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from multiduel.arena.journal import connect
from multiduel.arena.web.access import Access

DEPLOY = Path(__file__).resolve().parents[3] / "deploy"
NGINX = shutil.which("nginx") or shutil.which("/usr/sbin/nginx")


def a_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        return int(listening.getsockname()[1])


def until_ready(url: str) -> None:
    for _ in range(3_000):
        try:
            with urllib.request.urlopen(f"{url}/health/ready", timeout=5):
                return
        except OSError:
            time.sleep(0.1)
    raise AssertionError("not ready")


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, str]]:
    """A public server, and its key."""
    db, port = str(tmp_path_factory.mktemp("proxied") / "arena.db"), a_port()
    journal = connect(db)
    key = Access(journal.secrets).new_key("server")
    journal.close()
    command = [sys.executable, "-m", "multiduel", "arena", "serve", "--public", "--host", "127.0.0.1", "--name", "arena.example"]
    process = subprocess.Popen([*command, "--db", db, "--port", str(port)], stdout=subprocess.DEVNULL)
    try:
        until_ready(f"http://127.0.0.1:{port}")
        yield f"127.0.0.1:{port}", key
    finally:
        process.terminate()
        process.wait(60)


@pytest.fixture(scope="module", params=["$http_host", "$host"])
def nginx(
    request: pytest.FixtureRequest, server: tuple[str, str], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[int, str]]:
    """nginx with the location of our example, on a port of its own, and which Host it passes on."""
    if NGINX is None:
        pytest.skip("nginx is not installed (Debian: apt-get install nginx-light)")
    folder, port = tmp_path_factory.mktemp("nginx"), a_port()
    example = (DEPLOY / "nginx.conf").read_text()
    location = re.search(r"    location / \{.*?\n    \}\n", example, re.DOTALL)
    assert location is not None and "proxy_set_header Host $http_host" in location[0]
    passed = location[0].replace("127.0.0.1:8000", server[0]).replace("$http_host", request.param)
    passed = passed.replace("X-Forwarded-Proto $scheme", "X-Forwarded-Proto https")  # as if it had a certificate
    (folder / "nginx.conf").write_text(
        f"daemon off; pid {folder}/pid; error_log {folder}/error.log; events {{}}\n"
        f"http {{ access_log off; client_body_temp_path {folder}/body; proxy_temp_path {folder}/proxy;\n"
        f"fastcgi_temp_path {folder}/f; uwsgi_temp_path {folder}/u; scgi_temp_path {folder}/s;\n"
        f"server {{ listen 127.0.0.1:{port}; server_name arena.example;\n{passed} }} }}\n"
    )
    process = subprocess.Popen([NGINX, "-c", f"{folder}/nginx.conf", "-e", f"{folder}/error.log", "-p", str(folder)])
    try:
        until_ready(f"http://127.0.0.1:{port}")
        yield port, request.param
    finally:
        process.terminate()
        process.wait(20)


def test_the_owners_form_is_taken_with_the_headers_of_the_example(server: tuple[str, str], nginx: tuple[int, str]) -> None:
    port, host = nginx
    named = {"Host": f"arena.example:{port}", "Origin": f"https://arena.example:{port}"}
    with httpx.Client(base_url=f"http://127.0.0.1:{port}", headers=named) as browser:
        answer = browser.post("/k", data={"key": server[1]})
        if host == "$host":  # what the example warns of
            assert answer.status_code == 403 and "another site" in answer.text
            return
        assert answer.status_code == 303, answer.text
        assert "secure" in answer.headers["set-cookie"].lower(), "https was passed on"
        other = browser.post("/k", data={"key": server[1]}, headers={"Origin": "https://evil.example"})
        assert other.status_code == 403
        assert browser.get("/health/live", headers={"Host": "evil.example"}).status_code == 421


def test_the_other_files_say_what_the_server_knows() -> None:
    """Options and variables in the files for operators are those of the command."""
    from typer.testing import CliRunner

    from multiduel.cli import app

    help = CliRunner().invoke(app, ["arena", "serve", "--help"], env={"COLUMNS": "200"}).output
    for file in ("Dockerfile", "compose.yaml", "multiduel-arena.service"):
        written = (DEPLOY / file).read_text()
        served = re.findall(r"serve.*", written)
        for option in re.findall(r"--[a-z-]+", " ".join(served)):
            assert option in help, (file, option)
        assert "MULTIDUEL_ARENA_DB" in written
    assert "--public" in (DEPLOY / "multiduel-arena.service").read_text()
