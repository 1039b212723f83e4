"""Reproducers and lists of causes by the symptom in a user's words; nothing where none is close.

SQLite's full-text search ranks: BM25 over stemmed words, title and search phrases first. It ranks
strangers as well, so what is not close is left out. Close is an entry of which one phrase (its
title, a search phrase, its name) has enough of the query's words, and all together enough of their
weight; a word weighs the more the fewer entries have it. Both were measured: docs/demand.md.
"""

from __future__ import annotations

import math
import re
import sqlite3
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from .. import causes
from ..catalog import Reproducer
from ..causes import Cause

STOP_WORDS = frozenset(
    "a about after all also although am an and any are as at be because been but by"
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
PHRASES = Path(__file__).with_name("phrases")
COLUMNS = "title, words, id, doc, text"
TABLES = f"""
CREATE VIRTUAL TABLE pages USING fts5({COLUMNS}, tokenize = 'porter unicode61');
CREATE VIRTUAL TABLE phrases USING fts5(phrase, page UNINDEXED, tokenize = 'porter unicode61');
"""
BEST = "SELECT rowid FROM pages WHERE pages MATCH ? ORDER BY bm25(pages, 6, 8, 2, 1, 2)"
HAVE = "SELECT count(*) FROM pages WHERE pages MATCH ?"
IN_PHRASES = "SELECT page, rowid FROM phrases WHERE phrases MATCH ?"

# Of the query's words (all where it has fewer), in one phrase; and of their weight.
WORDS, SHARE = 2, 0.2
# The same for what is rather not about a symptom: an error's text, which is for explain, a question
# of how or what, and whatever names another library, an installation, a driver.
MORE_WORDS, MORE_SHARE = 3, 0.6
NO_SYMPTOM = re.compile(
    r"\b[A-Z]\w*(?:Error|Exception)\b|[Ee]rror:|ERROR"
    r"|^\W*(?i:how (?:can|do|many|much|should|to)|what(?:'s| are| does| is)|which|where (?:can|do)"
    r"|is there|(?:can|should) i|best way|explain)\b"
)
ELSEWHERE = frozenset(
    "anaconda cmake colab conda cv2 deploy docker download driver drivers export"
    " flask flax gcc git github install installation installed installing java"
    " javascript jax jupyter kaggle keras lightgbm matplotlib mxnet nltk numpy nvcc"
    " onnx opencv pandas pip recommend scikit scipy sklearn spacy spark sql"
    " tensorboard tensorflow tensorrt tf tutorial ubuntu uninstall upgrade wheel"
    " xgboost".split()
)


@dataclass
class Found:
    """One reproducer, or a list of causes."""

    title: str
    reproducers: list[Reproducer]
    causes: tuple[Cause, ...]  # none for a reproducer

    @property
    def ids(self) -> list[str]:
        return [one.id for one in self.reproducers]


class Index:
    """The reproducers and lists of causes, made ready for many queries."""

    def __init__(self, reproducers: list[Reproducer]) -> None:
        self._found: list[Found] = []  # of each row of pages
        self._database = sqlite3.connect(":memory:")
        self._database.executescript(TABLES)
        for row, (found, phrases, page) in enumerate(_entries(reproducers), 1):
            self._found.append(found)
            self._database.execute("INSERT INTO pages VALUES (?, ?, ?, ?, ?)", page)
            rows = [(phrase, row) for phrase in phrases]
            self._database.executemany("INSERT INTO phrases VALUES (?, ?)", rows)

    def search(self, query: str) -> list[Found]:
        """What is close to the query, best first."""
        words = list(dict.fromkeys(re.findall(r"[^\W_]+", _usual(query))))
        words = [word for word in words if word not in STOP_WORDS]
        if not words:
            return []
        weight = 0.0
        shared: dict[int, float] = {}  # row -> the weight of the query's words in its phrases
        count: dict[int, dict[int, int]] = {}  # row -> phrase -> how many of them it has
        for word in words:
            having = self._database.execute(HAVE, (f'"{word}"',)).fetchone()[0]
            of_word = math.log((len(self._found) + 1) / (having + 1))
            weight += of_word
            where = self._database.execute(IN_PHRASES, (f'"{word}"',)).fetchall()
            for row in {row for row, _ in where}:
                shared[row] = shared.get(row, 0.0) + of_word
            for row, phrase in where:
                of_row = count.setdefault(row, {})
                of_row[phrase] = of_row.get(phrase, 0) + 1
        least, share = min(WORDS, len(words)), SHARE
        if NO_SYMPTOM.search(query) or not ELSEWHERE.isdisjoint(words):
            least, share = MORE_WORDS, MORE_SHARE
        close = {
            row
            for row, of_words in shared.items()
            if max(count[row].values()) >= least and of_words >= share * weight
        }
        any_of = " OR ".join(f'"{word}"' for word in words)
        ranked = self._database.execute(BEST, (any_of,))
        return [self._found[row - 1] for (row,) in ranked if row in close]


def phrases_of(id: str, folder: Path = PHRASES) -> list[str]:
    """What users say of a failure that its title and docstring do not: phrases/FAMILY/NAME.txt."""
    path = folder / f"{id}.txt"
    return path.read_text(encoding="utf-8").splitlines() if path.is_file() else []


def problems(ids: set[str], folder: Path = PHRASES) -> list[str]:
    """What is wrong with the files of search phrases, a line each."""
    wrong = []
    for path in sorted(folder.glob("**/*.txt")):
        if path.relative_to(folder).with_suffix("").as_posix() not in ids:
            wrong.append(f"{path}:1: no reproducer of this name")
        lines = path.read_text(encoding="utf-8").splitlines()
        wrong += [
            f"{path}:{number}: {'empty' if not line.strip() else f'twice: {line}'}"
            for number, line in enumerate(lines, 1)
            if not line.strip() or line in lines[: number - 1]
        ]
    return wrong


@cache
def _synonyms() -> tuple[re.Pattern[str], dict[str, str]]:
    """A pattern of all phrases but the first of each line of the file, and the first of each."""
    lines = SYNONYMS.read_text(encoding="utf-8").splitlines()
    pairs = [line.split(" = ") for line in reversed(lines) if not line.startswith("#")]
    usual = {other: first for first, others in pairs for other in others.split(", ")}
    longest_first = sorted(usual, key=len, reverse=True)
    return re.compile(rf"\b(?:{'|'.join(map(re.escape, longest_first))})\b"), usual


@cache
def _usual(text: str) -> str:
    """The text in the words that stand first in the lines of synonyms.txt."""
    others, usual = _synonyms()
    return others.sub(lambda other: usual[other.group()], text.lower())


def _entries(reproducers: list[Reproducer]) -> list[tuple[Found, list[str], tuple[str, ...]]]:
    """What can be found, with the phrases that say it and the COLUMNS of its page."""
    by_id = {one.id: one for one in reproducers}
    entries = []
    for one in reproducers:
        name = re.sub("[_/]", " ", one.id)
        text = " ".join([one.symptom, *one.texts])
        phrases = phrases_of(one.id)
        page = (one.title, phrases, name, one.doc, text)
        entries.append((Found(one.title, [one], ()), [one.title, *phrases, name], page))
    for group in causes.load():
        if words := group.keywords:
            text = " ".join(f"{cause.cause} {cause.check}" for cause in group.causes)
            found = Found(group.title, group.reproducers(by_id), group.causes)
            entries.append((found, [found.title, *words], (found.title, list(words), "", text, "")))
    return [
        (
            found,
            [_usual(phrase) for phrase in phrases],
            tuple(_usual(part if isinstance(part, str) else " ".join(part)) for part in page),
        )
        for found, phrases, page in entries
    ]
