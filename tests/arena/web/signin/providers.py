"""Providers of accounts: a real one from npm, and one that says whatever a test wants it to say."""

from __future__ import annotations

import base64
import json
import os
import shutil
import ssl
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

from joserfc import jwt
from joserfc.jwk import OctKey, RSAKey
from joserfc.jws import JWSRegistry

ROOT = Path(__file__).parents[4]
FOLDER = Path(os.environ.get("MULTIDUEL_OIDC_PROVIDER", ROOT / ".venv" / "oidc-provider"))
SECRET = "the-arena-has-a-secret-of-its-own"


def why_no_real_one() -> str:
    """Why there is no real provider here; empty if there is one."""
    if shutil.which("node") is None:
        return "the real provider of accounts needs node"
    if not (FOLDER / "node_modules" / "oidc-provider").is_dir():
        return "the real provider of accounts needs: npm install --prefix .venv/oidc-provider oidc-provider"
    return ""


@contextmanager
def a_real_provider(*redirects: str) -> Iterator[str]:
    """The URL of a provider from npm, on this machine."""
    command = ["node", str(Path(__file__).with_name("provider.mjs")), str(FOLDER), *redirects]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    try:
        port = ""
        while not port.strip().isdigit():  # it may warn first
            port = process.stdout.readline()
            assert port, "the provider did not start"
        yield f"http://127.0.0.1:{int(port)}"
    finally:
        process.stdin.close()
        process.wait(20)
        process.stdout.close()


@cache
def rsa_key(kid: str, which: str = "") -> RSAKey:
    """Making one takes a while: the same one in all tests."""
    return RSAKey.generate_key(2048, parameters={"kid": kid, "use": "sig", "alg": "RS256"})


class Hostile:
    """A provider whose next ID token, and everything else, is what a test makes it."""

    def __init__(self, tls: ssl.SSLContext | None = None) -> None:
        self.begin_anew()
        provider = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                if provider.down:
                    return self.send_error(500)
                path = self.path.partition("?")[0]
                pages = {"/.well-known/openid-configuration": provider.described, "/jwks": provider.keys, "/me": provider.me}
                self.answer(pages[path]())

            def do_POST(self) -> None:
                form = dict(parse_qsl(self.rfile.read(int(self.headers["content-length"])).decode()))
                provider.asked.append(form)
                token = provider.sign(provider.claims())
                self.answer({"access_token": "x", "token_type": "Bearer", "expires_in": 60, "id_token": token})

            def answer(self, said: Any) -> None:
                odd = self.path in provider.bodies
                body = provider.bodies.get(self.path, json.dumps(said).encode())
                self.send_response(200)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(body)))
                for name, value in provider.headers.items() if odd else ():
                    self.send_header(name, value)
                self.end_headers()
                try:
                    while body:
                        part = provider.at_once if odd else len(body)
                        self.wfile.write(body[:part])
                        body = body[part:]
                        time.sleep(provider.pause if odd else 0.0)
                except OSError:
                    pass  # whoever asked has heard enough

            def log_message(self, *_: Any) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"{'https' if tls else 'http'}://127.0.0.1:{self._server.server_port}"
        if tls:
            self._server.socket = tls.wrap_socket(self._server.socket, server_side=True)
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def begin_anew(self) -> None:
        """As it should be."""
        self.key, self.other = rsa_key("k1"), rsa_key("k1", "another")
        self.metadata: dict[str, Any] = {}  # in place of what it says
        self.change: dict[str, Any] = {}  # of the claims
        self.userinfo: dict[str, Any] = {}
        self.sign = self.signed
        self.asked: list[dict[str, str]] = []  # forms sent to the token endpoint
        self.nonce, self.down = "", False
        self.bodies: dict[str, bytes] = {}  # in place of an answer, by path
        self.headers: dict[str, str] = {}  # of these answers, besides
        self.at_once, self.pause = 100_000, 0.0  # bytes of them sent together, and seconds after each part

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()

    def described(self) -> dict[str, Any]:
        ends = {"authorization_endpoint": "/auth", "token_endpoint": "/token", "jwks_uri": "/jwks", "userinfo_endpoint": "/me"}
        known = {"issuer": self.url, "id_token_signing_alg_values_supported": ["RS256", "HS256", "none"]}
        return known | {name: self.url + path for name, path in ends.items()} | self.metadata

    def keys(self) -> dict[str, Any]:
        return {"keys": [self.key.as_dict(private=False)]}

    def me(self) -> dict[str, Any]:
        return {"sub": "ada"} | self.userinfo

    def claims(self) -> dict[str, Any]:
        now = int(time.time())
        said = {"iss": self.url, "aud": "arena", "sub": "ada", "iat": now, "exp": now + 300, "nonce": self.nonce}
        said |= {"email": "ada@example.com", "email_verified": True, "name": "Ada"} | self.change
        return {name: value for name, value in said.items() if value is not None}

    def signed(self, claims: dict[str, Any]) -> str:
        return jwt.encode({"alg": "RS256", "kid": "k1"}, claims, self.key)

    def signed_by_another(self, claims: dict[str, Any]) -> str:
        return jwt.encode({"alg": "RS256", "kid": "k1"}, claims, self.other)

    def signed_with_what_is_public(self, claims: dict[str, Any]) -> str:
        """HS256, with the public key as the shared secret."""
        shared = OctKey.import_key(self.key.as_pem(private=False).replace(b"-----", b"=====")[:64])
        return jwt.encode({"alg": "HS256", "kid": "k1"}, claims, shared, registry=JWSRegistry(algorithms=["HS256"]))

    def unsigned(self, claims: dict[str, Any]) -> str:
        def part(said: Any) -> str:
            return base64.urlsafe_b64encode(json.dumps(said).encode()).rstrip(b"=").decode()

        return f"{part({'alg': 'none'})}.{part(claims)}."
