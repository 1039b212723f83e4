"""Reproducers and lists of causes by the symptom in a user's words; nothing where none is close.

SQLite's full-text search ranks: BM25 over stemmed words, keywords and title first. It ranks
strangers as well, so what is not close is left out. Close is an entry whose title, keywords and id
hold enough of the query's words, and enough of their weight, which is greater the fewer entries
have the word. Both were measured: docs/demand.md.
"""

from __future__ import annotations

import math
import re
import sqlite3
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from .. import causes
from ..catalog import Reproducer

STOP_WORDS = frozenset(
    "a about after all also although am an and any are as at be because been but by"  # noqa: SIM905
    " can cannot could did do does doing don done else even ever every for from get"
    " gets getting give gives go goes got had has have having he help here how i if in"
    " instead into is isn it its just let like make makes many may me more most much"
    " my need never no not now of off on once one only or other our out own please"
    " pytorch really right same seem seems she should so some still than that the"
    " their them then there these they thing this those though through to too torch"
    " try trying under up use used uses using very want wants was we well went were"
    " what when where whether which while who why will with without won work works"
    " would yet you your".split()
)
SYNONYMS = Path(__file__).with_name("synonyms.txt")
COLUMNS = "title, words, id, doc, text"
PAGES = f"CREATE VIRTUAL TABLE pages USING fts5({COLUMNS}, tokenize = 'porter unicode61')"
BEST = "SELECT rowid FROM pages WHERE pages MATCH ? ORDER BY bm25(pages, 6, 8, 2, 1, 2)"
HAVE = "SELECT rowid FROM pages WHERE pages MATCH ?"

WORDS, SHARE = 2, 0.25  # of the query's words (all where it has fewer), and of their weight
# The same for what is rather not about a symptom: an error's text, which is for explain, a question
# of how or what, and whatever names another library, an installation, a driver.
MORE_WORDS, MORE_SHARE = 3, 0.6
NO_SYMPTOM = re.compile(
    r"\b\w*(?:Error|Exception)\b|error:"
    r"|^\W*(?:how (?:can|do|many|much|should|to)|what(?:'s| are| does| is)|which|where (?:can|do)"
    r"|is there|(?:can|should) i|best way|explain)\b",
    re.IGNORECASE,
)
ELSEWHERE = frozenset(
    "anaconda cmake colab conda cv2 deploy docker download driver drivers export"  # noqa: SIM905
    " flask flax gcc git github install installation installed installing java"
    " javascript jax jupyter kaggle keras lightgbm matplotlib mxnet nltk notebook"
    " numpy nvcc nvidia onnx opencv pandas pip recommend scikit scipy sklearn spacy"
    " spark sql tensorboard tensorflow tensorrt tf tutorial ubuntu uninstall upgrade"
    " wheel windows xgboost".split()
)


@dataclass
class Found:
    """One reproducer, or a list of causes."""

    title: str
    reproducers: list[Reproducer]
    causes: list[dict[str, str]]  # cause, check, see; empty for a reproducer

    @property
    def ids(self) -> list[str]:
        return [one.id for one in self.reproducers]


def search(query: str, reproducers: list[Reproducer]) -> list[Found]:
    """What is close to the query, best first."""
    words = list(dict.fromkeys(re.findall(r"[^\W_]+", _usual(query))))
    words = [word for word in words if word not in STOP_WORDS]
    if not words:
        return []
    pages = _pages(reproducers)
    database = sqlite3.connect(":memory:")
    database.execute(PAGES)
    database.executemany("INSERT INTO pages VALUES (?, ?, ?, ?, ?)", [page for _, page in pages])

    def having(match: str) -> set[int]:
        return {row for (row,) in database.execute(HAVE, (match,))}

    weight = 0.0
    matched: dict[int, tuple[int, float]] = {}  # page -> words, and their weight
    for word in words:
        of_word = math.log((len(pages) + 1) / (len(having(f'"{word}"')) + 1))
        weight += of_word
        for row in having(f'{{title words id}} : "{word}"'):
            count, so_far = matched.get(row, (0, 0.0))
            matched[row] = count + 1, so_far + of_word
    least, share = min(WORDS, len(words)), SHARE
    if NO_SYMPTOM.search(query) or not ELSEWHERE.isdisjoint(words):
        least, share = MORE_WORDS, MORE_SHARE
    close = {
        row
        for row, (count, of_words) in matched.items()
        if count >= least and of_words >= share * weight
    }
    any_of = " OR ".join(f'"{word}"' for word in words)
    return [pages[row - 1][0] for (row,) in database.execute(BEST, (any_of,)) if row in close]


@cache
def _synonyms() -> list[tuple[re.Pattern[str], str]]:
    """For each line of the file a pattern of all but its first phrase, and the first."""
    lines = [line.split(" = ") for line in SYNONYMS.read_text(encoding="utf-8").splitlines()]
    return [
        (re.compile(rf"\b(?:{'|'.join(map(re.escape, others.split(', ')))})\b"), usual)
        for usual, others in (line for line in lines if len(line) == 2)
    ]


def _usual(text: str) -> str:
    """The text in the words that stand first in the lines of synonyms.txt."""
    text = text.lower()
    for others, usual in _synonyms():
        text = others.sub(usual, text)
    return text


def _pages(reproducers: list[Reproducer]) -> list[tuple[Found, tuple[str, ...]]]:
    """What can be found, with the COLUMNS of each."""
    by_id = {one.id: one for one in reproducers}
    pages = [(Found(one.title, [one], []), _page(one)) for one in reproducers]
    for group in causes.load():
        if group.get("keywords"):
            seen = [by_id[cause["see"]] for cause in group["causes"] if cause.get("see") in by_id]
            pages.append((Found(group["title"], seen, group["causes"]), _group_page(group)))
    return [(found, tuple(map(_usual, page))) for found, page in pages]


def _page(one: Reproducer) -> tuple[str, ...]:
    text = " ".join([one.symptom, *one.messages])
    return one.title, " ".join(one.keywords), re.sub("[_/]", " ", one.id), one.doc, text


def _group_page(group: dict[str, Any]) -> tuple[str, ...]:
    text = " ".join(f"{cause['cause']} {cause['check']}" for cause in group["causes"])
    return group["title"], " ".join(group["keywords"]), "", text, ""
