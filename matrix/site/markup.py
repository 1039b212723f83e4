"""Text, code and links of the site, as HTML."""

from __future__ import annotations

import re
from functools import cache

from markupsafe import Markup, escape
from pygments import token
from pygments.lexers import PythonLexer

# Kinds of tokens that are told apart -> their class in style.css
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
# What a docstring cites or calls: owner/repository#1, pytorch#1, step()
_CITED = re.compile(r"((?:[\w.-]+/)?[\w.-]+)#(\d+)\b|`([^`]+)`|((?<![\w.])\.?[A-Za-z_][\w.]*\(\))")


def code(text: str) -> Markup:
    """`code` between backticks, as HTML."""
    return Markup(re.sub(r"`([^`]+)`", r"<code>\1</code>", str(escape(text))))


def prose(text: str) -> Markup:
    """A docstring, as HTML: what it calls is code, and what it cites is a link."""

    def marked(found: re.Match[str]) -> str:
        place, number, quoted, called = found.groups()
        if not number:
            return f"<code>{quoted or called}</code>"
        place = "pytorch/pytorch" if place == "pytorch" else place
        if "/" not in place:
            return found[0]
        return f'<a href="https://github.com/{place}/issues/{number}">{found[0]}</a>'

    return Markup(_CITED.sub(marked, str(escape(text))))


def python(source: str) -> Markup:
    """Python with its tokens told apart."""
    parts: list[str] = []
    for kind, text in _lexer().get_tokens(source):
        name = next((name for one, name in _COLOURS.items() if kind in one), "")
        said = escape(text)
        parts.append(f'<span class="{name}">{said}</span>' if name and text.strip() else str(said))
    return Markup("".join(parts).removesuffix("\n"))


@cache
def _lexer() -> PythonLexer:
    return PythonLexer(stripnl=False)


def thread(link: str) -> str:
    """A link as people name it: "pytorch#112583"."""
    if found := _ISSUE.match(link):
        owner, repository, number = found.groups()
        place = owner if owner == repository else f"{owner}/{repository}"
        return f"{place}#{number}"
    return re.sub(r"^https?://(?:www\.)?|/$", "", link)
