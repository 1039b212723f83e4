"""Converts the site's text, code and links to HTML."""

from __future__ import annotations

import re
from functools import cache

from markupsafe import Markup, escape
from pygments import token
from pygments.lexers import PythonLexer

# Maps each kind of token to its class in style.css.
_COLOURS = {
    token.Comment: "c",
    token.String: "s",
    token.Keyword: "k",
    token.Operator.Word: "k",
    token.Number: "n",
    token.Name.Function: "f",
    token.Name.Class: "f",
    token.Name.Builtin: "b",
}
_ISSUE = re.compile(r"https://github\.com/([\w.-]+)/([\w.-]+)/(?:issues|pull|discussions)/(\d+)")
# Citations and calls in docstrings: owner/repository#1, pytorch#1, step()
_CITED = re.compile(r"((?:[\w.-]+/)?[\w.-]+)#(\d+)\b|`([^`]+)`|((?<![\w.])\.?[A-Za-z_][\w.]*\(\))")


def code(text: str) -> Markup:
    """Renders the text as HTML, with code elements for backticks."""
    return Markup(re.sub(r"`([^`]+)`", r"<code>\1</code>", str(escape(text))))


def prose(text: str) -> Markup:
    """Renders a docstring as HTML. Calls become code, and citations become links."""

    def marked(match: re.Match[str]) -> str:
        place, number, quoted, called = match.groups()
        if not number:
            return f"<code>{quoted or called}</code>"
        place = "pytorch/pytorch" if place == "pytorch" else place
        if "/" not in place:
            return match[0]
        return f'<a href="https://github.com/{place}/issues/{number}">{match[0]}</a>'

    return Markup(_CITED.sub(marked, str(escape(text))))


def python(source: str) -> Markup:
    """Renders Python code as HTML, with a class for each kind of token."""
    parts: list[str] = []
    for kind, text in _lexer().get_tokens(source):
        name = next((name for group, name in _COLOURS.items() if kind in group), "")
        escaped = escape(text)
        parts.append(
            f'<span class="{name}">{escaped}</span>' if name and text.strip() else str(escaped)
        )
    return Markup("".join(parts).removesuffix("\n"))


@cache
def _lexer() -> PythonLexer:
    return PythonLexer(stripnl=False)


def thread(link: str) -> str:
    """A short name for a link, such as "pytorch#112583"."""
    if match := _ISSUE.match(link):
        owner, repository, number = match.groups()
        place = owner if owner == repository else f"{owner}/{repository}"
        return f"{place}#{number}"
    return re.sub(r"^https?://(?:www\.)?|/$", "", link)
