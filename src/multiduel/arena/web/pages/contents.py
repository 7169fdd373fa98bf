"""How contents look on a page. They are others' words: Markdown is cleaned, all else is escaped, and pictures and sounds come
from the contents' own path, where nothing in them may run."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache, lru_cache

import nh3
from markdown_it import MarkdownIt
from markupsafe import Markup

from multiduel.arena.domain.commands import Ticket
from multiduel.arena.domain.options import Content
from multiduel.arena.web.context import AppContext
from multiduel.arena.web.pages.highlighting import CLASSES, highlighted

TAGS = {
    *("p", "br", "hr", "em", "strong", "del", "code", "pre", "blockquote", "ul", "ol", "li", "a"),
    *("h3", "h4", "h5", "h6", "table", "thead", "tbody", "tr", "th", "td", "sup", "sub", "span"),
}
ATTRIBUTES = {"a": {"href"}, "ol": {"start"}}
COLOURED = {"span": set(CLASSES)}
SHORT = 120  # characters
_HEADING = re.compile(r"<(/?)h([12])>")


@dataclass(frozen=True)
class Shown:
    """A content at its place."""

    kind: str
    html: Markup  # of text, Markdown and URLs
    url: str  # of pictures and sounds
    size: int = 0  # bytes
    short: bool = False  # a line of text, which is shown larger where all options are


@cache
def _markdown() -> MarkdownIt:
    def colour(code: str, language: str, _: str) -> str:
        return highlighted(code, language)

    return MarkdownIt("commonmark", {"html": False, "highlight": colour}).enable(["table", "strikethrough"])


@lru_cache(maxsize=2_000)
def safe_markdown(source: str) -> Markup:
    """
    >>> safe_markdown("**a** <script>alert(1)</script> [b](javascript:alert(1))")
    Markup('<p><strong>a</strong> &lt;script&gt;alert(1)&lt;/script&gt; [b](javascript:alert(1))</p>\\n')
    """
    html = _HEADING.sub(lambda tag: f"<{tag[1]}h{int(tag[2]) + 2}>", _markdown().render(source))  # h1 and h2 are the page's
    clean = nh3.clean(html, tags=TAGS, attributes=ATTRIBUTES, url_schemes={"http", "https", "mailto"}, allowed_classes=COLOURED)
    clean = clean.replace("<a ", '<a target="_blank" ')  # nh3 has added rel="noopener noreferrer"
    # What is wider than a phone scrolls by itself, with the keyboard too.
    clean = clean.replace("<pre>", '<pre tabindex="0" role="group" aria-label="Code">')
    clean = clean.replace("<table>", '<div class="wide" tabindex="0" role="group" aria-label="Table"><table>')
    return Markup(clean.replace("</table>", "</table></div>"))


def shown(content: Content, url: str) -> Shown:
    if content.kind in ("image", "audio"):
        return Shown(content.kind, Markup(""), url, content.size)
    words = content.data.decode("utf-8", "replace")
    short = len(words) <= SHORT and "\n" not in words.strip()
    if content.kind == "markdown":
        return Shown("markdown", safe_markdown(words), "", content.size, short)
    if content.kind == "url":
        link = Markup('<a href="{0}" target="_blank" rel="noopener noreferrer">{0}</a>')
        return Shown("url", link.format(words), "", content.size)
    return Shown("text", Markup.escape(words), "", content.size, short)


def read_contents(app_context: AppContext, ticket: Ticket) -> list[Shown]:
    """What its rater sees, position by position."""
    places = range(len(ticket.options))
    return [shown(app_context.service.content(ticket.id, p), f"/tickets/{ticket.id}/contents/{p}") for p in places]


async def contents_of(app_context: AppContext, ticket: Ticket) -> list[Shown]:
    return await app_context.quick(ticket.arena, read_contents, app_context, ticket)
