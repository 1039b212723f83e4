"""Reproducers by the symptom in a user's own words, for what raises no error."""

from __future__ import annotations

import re
import sqlite3

from ..catalog import Reproducer

STOP_WORDS = frozenset(
    "a after all an and are as at be but by do does for from gets has i in is it its my no not of"  # noqa: SIM905
    " on or that the then there to was when why with".split()
)
COLUMNS = "title, words, id, doc, text"
PAGES = f"CREATE VIRTUAL TABLE pages USING fts5({COLUMNS}, tokenize = 'porter unicode61')"
BEST = "SELECT rowid FROM pages WHERE pages MATCH ? ORDER BY bm25(pages, 6, 8, 2, 1, 3)"


def search(query: str, reproducers: list[Reproducer]) -> list[Reproducer]:
    """Best first: SQLite's full-text search, BM25 over stemmed words, keywords and title first."""
    words = re.findall(r"[^\W_]+", query)
    any_of = " OR ".join(f'"{word}"' for word in words if word.lower() not in STOP_WORDS)
    if not any_of:
        return []
    database = sqlite3.connect(":memory:")
    database.execute(PAGES)
    database.executemany("INSERT INTO pages VALUES (?, ?, ?, ?, ?)", map(_page, reproducers))
    return [reproducers[row - 1] for (row,) in database.execute(BEST, (any_of,))]


def _page(one: Reproducer) -> tuple[str, ...]:
    """The COLUMNS of a reproducer."""
    text = " ".join([one.symptom, *one.messages])
    return one.title, " ".join(one.keywords), re.sub("[_/]", " ", one.id), one.doc, text
