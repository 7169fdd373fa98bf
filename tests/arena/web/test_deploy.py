"""The files for operators, started as they are written: the unit of systemd, and compose's parts with https in front of them.

There is no Docker here: compose's command, database and proxy are started one by one, from its own lines. The image is tried by
``deploy/try_container.sh``."""

from __future__ import annotations

import configparser
import os
import re
import shutil
import signal
import ssl
import stat
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from multiduel.arena.files.verify import verify
from multiduel.arena.journal import connect
from tests.arena.a_postgres import a_postgres, why_not
from tests.arena.web.test_proxies import DEPLOY, NGINX, a_port, until_ready

CADDY, SYSTEMD, OPENSSL = (shutil.which(program) for program in ("caddy", "systemd-analyze", "openssl"))
NAME = "arena.example"
OPTIONS = [
    {"name": name, "content": text} for name, text in (("mild", "Good morning."), ("sharp", "Morning!"), ("bitter", "What?"))
]


def stopped(process: subprocess.Popen[str]) -> int:
    process.send_signal(signal.SIGTERM)
    return process.wait(60)


def the_unit() -> configparser.ConfigParser:
    unit = configparser.ConfigParser(interpolation=None, strict=False, delimiters=("=",))
    unit.optionxform = str  # type: ignore[assignment,method-assign]
    unit.read_string((DEPLOY / "multiduel-arena.service").read_text())
    return unit


@pytest.mark.skipif(SYSTEMD is None, reason="systemd-analyze is not installed (Debian: apt-get install systemd)")
def test_systemd_takes_the_unit(tmp_path: Path) -> None:
    """Every line of it, with a program that exists; and it says that the unit is not exposed."""
    written = (DEPLOY / "multiduel-arena.service").read_text()
    unit = tmp_path / "multiduel-arena.service"
    unit.write_text(written.replace("/opt/multiduel/bin/multiduel", sys.executable))
    checked = subprocess.run([SYSTEMD, "verify", str(unit)], capture_output=True, text=True, check=False)
    assert checked.returncode == 0 and not checked.stderr, checked.stderr
    unit.write_text(unit.read_text().replace("DynamicUser=yes", "DynamicUser=perhaps"))
    assert subprocess.run([SYSTEMD, "verify", str(unit)], capture_output=True, check=False).returncode != 0


def test_what_the_unit_starts_serves_and_stops(tmp_path: Path) -> None:
    """Its command and variables, with folders of this test, after the command that docs/operate.md makes the first key with."""
    service = the_unit()["Service"]
    state = service["StateDirectory"]
    variables = dict(pair.split("=", 1) for pair in service["Environment"].split())
    db = variables["MULTIDUEL_ARENA_DB"].replace(f"/var/lib/{state}", str(tmp_path))
    assert db == f"{tmp_path}/arena.db" and variables["NUMBA_CACHE_DIR"] == f"/var/cache/{service['CacheDirectory']}"
    command = service["ExecStart"].replace("${ARENA_NAME}", NAME).split()
    assert command.pop(0) == "/opt/multiduel/bin/multiduel" and "--public" in command and "127.0.0.1" in command
    ours, port = [sys.executable, "-m", "multiduel"], a_port()
    words = {"env": os.environ | {"MULTIDUEL_ARENA_DB": db}, "cwd": tmp_path, "text": True, "umask": int(service["UMask"], 8)}
    first = subprocess.run([*ours, "arena", "keys", "new", "--create-db", "--db", db], check=True, capture_output=True, **words)
    key = re.search(r"mdserver\.\S+", first.stdout)[0]
    assert stat.S_IMODE(Path(db).stat().st_mode) == 0o600
    process = subprocess.Popen([*ours, *command, "--port", str(port)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, **words)
    try:
        until_ready(f"http://127.0.0.1:{port}")
        url = f"http://127.0.0.1:{port}"
        assert httpx.get(f"{url}/health/live").status_code == 200
        assert httpx.get(f"{url}/health/live", headers={"Host": "evil.example"}).status_code == 421
        made = httpx.post(f"{url}/arenas", headers={"Authorization": f"Bearer {key}", "Host": NAME}, json=an_arena())
        assert made.status_code == 201, made.text
    finally:
        code = stopped(process)
        process.communicate()
    assert code in (0, -signal.SIGTERM), "and systemd sees no failure"


def an_arena() -> dict[str, object]:
    return {"name": "greetings", "options": OPTIONS, "contexts": [], "raters": "open", "settings": {"seed": 1, "slate_size": 3}}


@pytest.fixture(scope="module")
def server() -> Iterator[tuple[int, str, str, int]]:
    """What compose runs as ``arena``, on PostgreSQL: its port, the server's key, the database, its process."""
    if why_not():
        pytest.skip(why_not())
    yaml = pytest.importorskip("yaml", reason="compose.yaml is read with PyYAML")
    compose = yaml.safe_load((DEPLOY / "compose.yaml").read_text())["services"]["arena"]
    command = [re.sub(r"\$\{ARENA_NAME[^}]*\}", NAME, word) for word in compose["command"]]
    assert command[-2:] == ["--workers", "2"]
    ours, port = [sys.executable, "-m", "multiduel", "arena"], a_port()  # the image's entry point
    with a_postgres() as postgres:
        words = {"env": os.environ | {"MULTIDUEL_ARENA_DB": postgres.url}, "text": True}
        first = subprocess.run([*ours, "key"], check=True, capture_output=True, **words)
        key = re.search(r"mdserver\.\S+", first.stdout)[0]
        command += ["--host", "127.0.0.1", "--port", str(port)]
        process = subprocess.Popen([*ours, *command], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, **words)
        try:
            until_ready(f"http://127.0.0.1:{port}")
            yield port, key, postgres.url, process.pid
        finally:
            stopped(process)


def workers_of(pid: int) -> list[int]:
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return [int(child) for child in children if b"spawn_main" in Path(f"/proc/{child}/cmdline").read_bytes()]


def test_a_worker_that_is_slow_for_a_while_is_not_replaced(server: tuple[int, str, str, int]) -> None:
    """On a busy machine a worker may not answer its supervisor for seconds, above all while it starts."""
    before = workers_of(server[3])
    assert len(before) == 2
    os.kill(before[0], signal.SIGSTOP)
    time.sleep(8.0)
    os.kill(before[0], signal.SIGCONT)
    time.sleep(1.0)
    assert workers_of(server[3]) == before


@pytest.fixture(params=["caddy", "nginx"])
def https(request: pytest.FixtureRequest, server: tuple[int, str, str, int], tmp_path: Path) -> Iterator[httpx.Client]:
    """A browser that reaches the server under its name, by https, through a proxy with our file."""
    port = a_port()
    start = caddy if request.param == "caddy" else nginx
    process, root = start(tmp_path, port, server[0])
    try:
        for _ in range(300):
            if root.exists() and "END CERTIFICATE" in root.read_text():
                break
            time.sleep(0.1)
        trust = ssl.create_default_context(cafile=str(root))
        words = {"verify": trust, "headers": {"Host": f"{NAME}:{port}"}, "event_hooks": {"request": [_named]}, "timeout": 60}
        with httpx.Client(base_url=f"https://127.0.0.1:{port}", **words) as one:
            for _ in range(300):
                try:
                    if one.get("/health/ready").status_code == 200:
                        break
                except httpx.TransportError:
                    time.sleep(0.1)
            yield one
    finally:
        process.terminate()
        process.wait(20)


def _named(asked: httpx.Request) -> None:
    asked.extensions["sni_hostname"] = NAME  # as if the name led here


def caddy(folder: Path, port: int, upstream: int) -> tuple[subprocess.Popen[bytes], Path]:
    """Our Caddyfile, with certificates of its own making and ports that anyone may use."""
    if CADDY is None:
        pytest.skip("caddy is not installed (Debian: apt-get install caddy)")
    (folder / "Caddyfile").write_text(
        f"{{\n\tadmin off\n\tlocal_certs\n\tskip_install_trust\n\thttps_port {port}\n\thttp_port {a_port()}\n"
        f"\tdefault_bind 127.0.0.1\n}}\nimport {DEPLOY}/Caddyfile\n"
    )
    env = os.environ | {"ARENA_NAME": NAME, "ARENA_UPSTREAM": f"127.0.0.1:{upstream}"}
    env |= {"XDG_DATA_HOME": str(folder), "XDG_CONFIG_HOME": str(folder), "HOME": str(folder)}
    command = [CADDY, "run", "--adapter", "caddyfile", "--config", str(folder / "Caddyfile")]
    process = subprocess.Popen(command, env=env, stderr=subprocess.DEVNULL)
    return process, folder / "caddy" / "pki" / "authorities" / "local" / "root.crt"


def nginx(folder: Path, port: int, upstream: int) -> tuple[subprocess.Popen[bytes], Path]:
    """Our file for nginx, with a certificate and ports of this test."""
    if NGINX is None or OPENSSL is None:
        pytest.skip("nginx or openssl is not installed (Debian: apt-get install nginx-light openssl)")
    whole, key = folder / "fullchain.pem", folder / "privkey.pem"
    command = [OPENSSL, "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", f"/CN={NAME}"]
    command += ["-addext", f"subjectAltName=DNS:{NAME}", "-keyout", str(key), "-out", str(whole)]
    subprocess.run(command, check=True, capture_output=True)
    site = (DEPLOY / "nginx.conf").read_text()
    for ours, here in (
        ("listen 443 ssl", f"listen 127.0.0.1:{port} ssl"),
        (f"/etc/letsencrypt/live/{NAME}", str(folder)),
        ("127.0.0.1:8000", f"127.0.0.1:{upstream}"),
    ):
        assert ours in site
        site = site.replace(ours, here)
    temporary = " ".join(f"{name}_temp_path {folder}/{name};" for name in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
    (folder / "nginx.conf").write_text(
        f"daemon off; pid {folder}/pid; error_log {folder}/error.log; events {{}}\n"
        f"http {{ access_log off; {temporary}\n{site}\n}}\n"
    )
    process = subprocess.Popen([NGINX, "-c", f"{folder}/nginx.conf", "-e", f"{folder}/error.log", "-p", str(folder)])
    return process, whole


def question(https: httpx.Client, path: str, browser: dict[str, str]) -> str:
    """The page with a question, once the worker that answers has loaded its kernels."""
    for _ in range(300):
        page = https.get(path, headers=browser).text
        if 'name="ticket"' in page:
            return page
        time.sleep(0.2)
    raise AssertionError(page)


def test_people_vote_by_https_and_the_board_is_live(server: tuple[int, str, str, int], https: httpx.Client) -> None:
    port, origin = https.base_url.port, f"https://{NAME}:{https.base_url.port}"
    owned = {"Authorization": f"Bearer {server[1]}"}
    made = https.post("/arenas", headers=owned, json=an_arena()).json()
    arena, as_owner = made["arena"], {"Authorization": f"Bearer {made['owner_key']}"}
    assert https.post(f"/arenas/{arena}/open", headers=as_owner).status_code == 200

    joined = https.post("/k", data={"key": made["link_key"], "request": "a" * 32}, headers={"Origin": origin})
    assert joined.status_code == 303, joined.text
    cookie = joined.headers["set-cookie"]
    assert "Secure" in cookie and "HttpOnly" in cookie, "https was passed on"
    assert https.post("/k", data={"key": made["link_key"]}, headers={"Origin": "https://evil.example"}).status_code == 403
    browser = {"Cookie": cookie.split(";")[0], "Origin": origin}
    for vote in range(1, 6):
        page = question(https, f"/vote/{arena}", browser)
        ticket, token = (re.search(rf'name="{name}" value="([^"]+)"', page)[1] for name in ("ticket", "token"))
        fields = {"token": token, "ticket": ticket, "action": "vote", "place-0": "1", "place-1": "2", "place-2": "3"}
        assert https.post(f"/vote/{arena}", data=fields, headers=browser).status_code == 303, (port, vote)

    entered = https.post("/k", data={"key": made["owner_key"]}, headers={"Origin": origin})
    owner = {"Cookie": entered.headers["set-cookie"].split(";")[0]}
    with https.stream("GET", f"/own/{arena}/board/changes", headers=owner) as live:
        for line in live.iter_lines():
            if line.startswith("data:"):
                break  # at once: nothing is held back until the stream ends
    for _ in range(300):  # a worker that has just started says so, and shows no votes yet
        if "5 votes" in https.get(f"/own/{arena}", headers=owner).text:
            break
        time.sleep(0.2)
    else:
        raise AssertionError("the votes are not there")
    journal = connect(server[2])
    try:
        assert verify(journal, arena).good
    finally:
        journal.close()
