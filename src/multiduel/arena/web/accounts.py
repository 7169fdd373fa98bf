"""Sign-in with accounts of an OpenID Connect provider: the authorization code flow, with state, nonce and PKCE.

The operator names the provider when the server starts; nothing that is stored or sent names one. What a browser must bring back
(state, nonce, PKCE's verifier, and where it wanted to go) is in a cookie of its own for ten minutes: without it, an answer of the
provider is good for nothing. So no worker keeps anything, and a code that somebody else started cannot be planted.
"""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import logging
import re
import secrets
import ssl
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import urlsplit

from multiduel.arena.domain.errors import Forbidden, Unavailable
from multiduel.arena.domain.notices import DOMAIN, MAIL
from multiduel.inputs import BadInput, finite, install, shortened

if TYPE_CHECKING:
    from authlib.integrations.httpx_client import AsyncOAuth2Client

LOG = logging.getLogger("multiduel.arena")
SECRET = "MULTIDUEL_OIDC_SECRET"  # the environment's variable with the client's secret, if it has one
NEEDS = f"Sign-in with accounts needs more packages: {install('oidc')}."
KEPT = 600  # seconds for a visitor to sign in
PATIENCE = 10.0  # seconds for the provider to answer a question, all of it
FRESH, SEEK_KEYS = 3_600.0, 60.0  # seconds: until metadata and keys are read again, between two looks for a new signing key
LEEWAY = 60  # seconds that the provider's clock may differ
# Signatures that nobody else can make: with a shared key, whoever knows what is public could.
SIGNED_BY = ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA", "Ed25519")
MOST_HOURS = 2_160
MOST_SUBJECT = 255  # characters, by the standard
NOT_ANSWERED = "The company's sign-in does not answer at the moment. Try again, or use a key."
REFUSED = "This sign-in cannot be trusted. Please start again."
PURPOSE = re.compile(r"own|own:[A-Za-z0-9_-]{1,64}|join:[A-Za-z0-9_.-]{1,300}")


@dataclass(frozen=True)
class Provider:
    """What the operator typed: the provider, and whose accounts may do what.

    >>> Provider("https://login.example", "arena", admins=("Ada@example.com",)).admins
    ('ada@example.com',)
    """

    issuer: str
    client: str
    admins: tuple[str, ...] = ()  # mail addresses: they sign in as the server
    domains: tuple[str, ...] = ()  # @example.com: only accounts with such an address, if any is named
    hours: float = 12.0  # after which one must sign in again
    trust_mail: bool = False  # the provider's addresses are verified, though it does not say so

    def __post_init__(self) -> None:
        try:
            parts = urlsplit(self.issuer)
        except ValueError:
            parts = urlsplit("")
        local = parts.hostname in ("127.0.0.1", "localhost", "::1")
        secure = parts.scheme == "https" or (local and parts.scheme == "http")
        if not parts.hostname or parts.query or parts.fragment or not secure:
            raise BadInput(f"'--oidc-issuer' must be an https URL without a query. Got {shortened(self.issuer)}.")
        if not self.client or not self.client.isprintable():
            raise BadInput("'--oidc-client' must be the id under which the provider knows this server. Got none.")
        for admin in self.admins:
            if MAIL.fullmatch(admin) is None:
                raise BadInput(f"'--oidc-admin' must be a mail address. Got {shortened(admin)}.")
        for domain in self.domains:
            if DOMAIN.fullmatch(domain) is None:
                raise BadInput(f"'--oidc-domain' must be a domain such as @example.com. Got {shortened(domain)}.")
        if not 0.0 < finite("oidc-hours", self.hours, of="arena serve") <= MOST_HOURS:
            raise BadInput(f"'--oidc-hours' must be above 0 and at most {MOST_HOURS}. Got {self.hours}.")
        object.__setattr__(self, "admins", tuple(one.lower() for one in self.admins))
        object.__setattr__(self, "domains", tuple(one.lower() for one in self.domains))


@dataclass(frozen=True)
class Account:
    """Somebody whom the provider vouches for. ``id`` is the same for the same person, whatever else changes."""

    issuer: str
    subject: str
    name: str
    mail: str  # lower case, and verified; empty otherwise

    @property
    def id(self) -> str:
        return hashlib.sha256(f"{self.issuer}\0{self.subject}".encode()).hexdigest()

    def needs_mail(self) -> str:
        """The verified address, or refuse: anybody could claim one that is not verified."""
        if not self.mail:
            raise Forbidden(
                "Your account has no verified e-mail address, which is needed here. Ask the administrator of your accounts."
            )
        return self.mail


@dataclass(frozen=True)
class Attempt:
    """A sign-in that a browser began: what its cookie holds."""

    state: str
    nonce: str
    verifier: str
    purpose: str  # own, own:ARENA, or join:KEY

    @classmethod
    def begin(cls, purpose: str) -> Attempt:
        return cls(secrets.token_urlsafe(24), secrets.token_urlsafe(24), secrets.token_urlsafe(48), purpose)

    @classmethod
    def read(cls, written: str | None) -> Attempt | None:
        """
        >>> one = Attempt.begin("own:a1")
        >>> Attempt.read(one.text) == one, Attempt.read("a.b.c.https://evil.example"), Attempt.read(None)
        (True, None, None)
        """
        parts = (written or "").split(".", 3)
        if len(parts) != 4 or not all(parts) or PURPOSE.fullmatch(parts[3]) is None:
            return None
        return cls(*parts)

    @property
    def text(self) -> str:
        return ".".join((self.state, self.nonce, self.verifier, self.purpose))


class Accounts:
    """Asks one provider who somebody is. Used by one event loop."""

    def __init__(self, provider: Provider, secret: str = "") -> None:
        try:
            import authlib.integrations.httpx_client  # noqa: F401
        except ImportError:
            raise BadInput(NEEDS) from None
        self.provider, self._secret = provider, secret
        self._tls = (
            ssl.create_default_context()
        )  # made once: it takes 40 ms, and strangers may begin sign-ins. It trusts what the
        # system does, or SSL_CERT_FILE: a company's own authority as well.
        self._metadata: Mapping[str, Any] = {}
        self._keys: Any = None
        self._read_at, self._keys_at = -FRESH, -SEEK_KEYS

    async def address(self, attempt: Attempt, back: str) -> str:
        """The provider's page on which a visitor signs in, and which sends them to ``back``."""
        metadata = await self._known()
        async with self._client(metadata, back) as client:
            url, _ = client.create_authorization_url(
                metadata["authorization_endpoint"], state=attempt.state, nonce=attempt.nonce, code_verifier=attempt.verifier
            )
        return str(url)

    async def account(self, attempt: Attempt | None, answer: Mapping[str, str], back: str) -> Account:
        """Who came back from the provider. Whatever does not belong together is refused, in the same words."""
        if attempt is None or not hmac.compare_digest(attempt.state.encode(), answer.get("state", "").encode("utf-8", "replace")):
            raise Forbidden("This sign-in was not started in this browser, or too long ago. Please start again.")
        metadata = await self._known()
        named = answer.get("iss")
        if (named or metadata.get("authorization_response_iss_parameter_supported")) and named != self.provider.issuer:
            raise Forbidden(REFUSED)  # another provider's answer (RFC 9207)
        if "error" in answer or not answer.get("code"):
            raise Forbidden("You were not signed in. Please start again, or use a key.")
        claims = await self._claims(metadata, attempt, answer["code"], back)
        return self._checked(claims)

    def _checked(self, claims: Mapping[str, Any]) -> Account:
        subject, mail = claims.get("sub"), claims.get("email")
        if not isinstance(subject, str) or not 0 < len(subject) <= MOST_SUBJECT or not subject.isprintable():
            raise Forbidden(REFUSED)
        verified = claims.get("email_verified", self.provider.trust_mail) is True
        verified = verified and isinstance(mail, str) and MAIL.fullmatch(mail) is not None
        named = next((claims[one] for one in ("name", "preferred_username") if isinstance(claims.get(one), str)), "")
        name = "".join(letter for letter in named if letter.isprintable()).strip()[:100]
        account = Account(self.provider.issuer, subject, name, str(mail).lower() if verified else "")
        if self.provider.domains and f"@{account.needs_mail().partition('@')[2]}" not in self.provider.domains:
            raise Forbidden("Accounts of your domain may not sign in here.")
        return account

    async def _claims(self, metadata: Mapping[str, Any], attempt: Attempt, code: str, back: str) -> dict[str, Any]:
        """What the ID token says, and for what it leaves out, the provider's userinfo."""
        from authlib.integrations.base_client import OAuthError
        from joserfc.errors import JoseError

        try:
            async with asyncio.timeout(2 * PATIENCE), self._client(metadata, back) as client:
                token = await client.fetch_token(metadata["token_endpoint"], code=code, code_verifier=attempt.verifier)
                claims = await self._verified(metadata, token, attempt.nonce)
                if not {"email", "email_verified", "name"} <= claims.keys() and metadata.get("userinfo_endpoint"):
                    answer = await client.get(metadata["userinfo_endpoint"])
                    more = answer.json() if answer.status_code == 200 else {}
                    if not isinstance(more, dict) or more.get("sub") != claims["sub"]:
                        raise Forbidden(REFUSED)
                    if "email" in claims and more.get("email") != claims["email"]:
                        more.pop("email_verified", None)  # it was said of another address
                    elif "email" not in claims:
                        claims.pop("email_verified", None)
                    claims = more | claims
                return claims
        except (OAuthError, JoseError, KeyError, TypeError, ValueError, RecursionError) as error:
            LOG.warning("A sign-in was refused (%s).", type(error).__name__)
            raise Forbidden(REFUSED) from None
        except _no_answer() as error:
            LOG.warning("The provider of accounts did not answer (%s).", type(error).__name__)
            raise Unavailable(NOT_ANSWERED) from None

    async def _verified(self, metadata: Mapping[str, Any], token: Mapping[str, Any], nonce: str) -> dict[str, Any]:
        """The claims of an ID token whose signature, issuer, audience, times and nonce are right."""
        from authlib.oidc.core import CodeIDToken
        from joserfc import jwt
        from joserfc.errors import BadSignatureError, InvalidKeyIdError
        from joserfc.jws import JWSRegistry

        offered = metadata.get("id_token_signing_alg_values_supported") or ["RS256"]
        allowed = [one for one in offered if one in SIGNED_BY] or ["RS256"]  # an empty list would allow shared keys
        registry = JWSRegistry(algorithms=allowed, strict_check_header=False)
        written = str(token["id_token"])
        try:
            found = jwt.decode(written, key=await self._signing_keys(metadata), registry=registry)
        except (InvalidKeyIdError, BadSignatureError):  # the provider may have a new one
            found = jwt.decode(written, key=await self._signing_keys(metadata, seek=True), registry=registry)
        options = {
            "iss": {"essential": True, "value": self.provider.issuer},
            "aud": {"essential": True, "value": self.provider.client},
            "nonce": {"essential": True, "value": nonce},
        }
        params = {"nonce": nonce, "client_id": self.provider.client, "access_token": token.get("access_token")}
        claims = CodeIDToken(found.claims, found.header, options, params)
        claims.validate(leeway=LEEWAY)
        return dict(claims)

    async def _signing_keys(self, metadata: Mapping[str, Any], *, seek: bool = False) -> Any:
        from joserfc.jwk import KeySet

        if self._keys is None or (seek and time.monotonic() - self._keys_at >= SEEK_KEYS):
            self._keys_at = time.monotonic()
            self._keys = KeySet.import_key_set(cast(Any, await self._get(metadata["jwks_uri"])))
        return self._keys

    async def _known(self) -> Mapping[str, Any]:
        """The provider's metadata, which must say that it is the issuer that the operator named."""
        if not self._metadata or time.monotonic() - self._read_at >= FRESH:
            found = await self._get(self.provider.issuer.rstrip("/") + "/.well-known/openid-configuration")
            wanted = ("authorization_endpoint", "token_endpoint", "jwks_uri")
            secure = urlsplit(self.provider.issuer).scheme
            ends = [found.get(name) for name in (*wanted, "userinfo_endpoint")]
            if (
                found.get("issuer") != self.provider.issuer
                or not all(isinstance(end, str) for end in ends[:3])
                or any(end is not None and urlsplit(str(end)).scheme not in ("https", secure) for end in ends)
            ):
                LOG.warning("The provider of accounts describes another issuer, or pages without https.")
                raise Unavailable(NOT_ANSWERED)
            self._metadata, self._read_at = found, time.monotonic()
            self._keys = None  # one that the provider gave up must not be good for ever
        return self._metadata

    async def _get(self, url: str) -> dict[str, Any]:
        try:
            async with asyncio.timeout(PATIENCE), self._client({}, "") as client:
                answer = await client.request("GET", url, withhold_token=True)
                answer.raise_for_status()
                found = answer.json()
        except _no_answer(ValueError, RecursionError) as error:
            LOG.warning("The provider of accounts did not answer (%s).", type(error).__name__)
            raise Unavailable(NOT_ANSWERED) from None
        if not isinstance(found, dict):
            raise Unavailable(NOT_ANSWERED)
        return found

    def _client(self, metadata: Mapping[str, Any], back: str) -> AsyncOAuth2Client:
        from authlib.integrations.httpx_client import AsyncOAuth2Client

        from multiduel.arena.web.provider_answers import BoundedTransport

        offered = metadata.get("token_endpoint_auth_methods_supported") or ["client_secret_basic"]
        how = "none" if not self._secret else "client_secret_basic" if "client_secret_basic" in offered else "client_secret_post"
        return AsyncOAuth2Client(
            self.provider.client,
            self._secret or None,
            token_endpoint_auth_method=how,
            scope="openid email profile",
            redirect_uri=back,
            code_challenge_method="S256",
            leeway=0,  # a token is used at once, however short its life
            timeout=PATIENCE,
            follow_redirects=False,
            transport=BoundedTransport(self._tls),
            trust_env=False,
        )


def _no_answer(*more: type[Exception]) -> tuple[type[Exception], ...]:
    from httpx2 import HTTPError

    return (HTTPError, OSError, *more)
