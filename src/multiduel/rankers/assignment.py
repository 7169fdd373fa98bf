"""Which users take part, and pages that stay the same: functions of names, the same in every process and after every restart."""

from __future__ import annotations

import hashlib
import hmac

from multiduel.inputs import BadInput, finite, shortened


def page_seed(*parts: str, salt: str = "") -> int:
    """Make the seed of a page from names, so that a reload shows the same documents.

    Parameters
    ----------
    *parts
        What makes it the same page: user, query, perhaps the day.
    salt
        Of the experiment: another salt, other pages.

    Returns
    -------
    int
        For ``multileave(..., seed=...)``; the slate must be the same too (``SharedPolicy.ask(key=...)``).

    Examples
    --------
    >>> page_seed("u17", "apple pie") == page_seed("u17", "apple pie") != page_seed("u18", "apple pie")
    True
    """
    return int.from_bytes(_digest(parts, salt)[:8], "big")


def takes_part(user: str, share: float, *, salt: str = "") -> bool:
    """Tell whether a user takes part. The answer never changes, and the users of a small share are in every larger one.

    Parameters
    ----------
    user
        A name that stays the same.
    share
        Of all users, from 0 to 1.
    salt
        Of the experiment: another salt, other users.

    Examples
    --------
    >>> sum(takes_part(f"u{k}", 0.1) for k in range(1000))
    96
    """
    if not 0.0 <= finite("share", share, of="takes_part") <= 1.0:
        raise BadInput(f"'share' of 'takes_part' must lie between 0 and 1. Got {shortened(share)}.")
    return int.from_bytes(_digest((user,), salt)[:8], "big") < share * 2.0**64


def pseudonym(user: str, *, secret: str) -> str:
    """Replace a user's name by a stable pseudonym, which reveals nothing without the secret.

    Parameters
    ----------
    user
        The name.
    secret
        A text that only you know; without it nobody can find the user's name by trying.

    Examples
    --------
    >>> pseudonym("ada@example.org", secret="s3cret") == pseudonym("ada@example.org", secret="s3cret")
    True
    """
    if not isinstance(secret, str) or not secret:
        raise BadInput(f"'secret' of 'pseudonym' must be a text. Got {shortened(secret)}.")
    if not isinstance(user, str) or not user:
        raise BadInput(f"'user' of 'pseudonym' must be a text. Got {shortened(user)}.")
    return hmac.new(secret.encode(), user.encode(), hashlib.sha256).hexdigest()[:24]


def _digest(parts: tuple[str, ...], salt: str) -> bytes:
    if not parts or not all(isinstance(part, str) for part in (*parts, salt)):
        raise BadInput(f"Names must be text. Got {shortened((*parts, salt))}.")
    text = b"".join(len(part.encode()).to_bytes(8, "big") + part.encode() for part in (salt, *parts))
    return hashlib.sha256(text).digest()
