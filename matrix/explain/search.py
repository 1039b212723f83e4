"""Finds reproducers, lists of causes and checklists for a symptom, if any entry is close.

SQLite's full-text search ranks the entries with BM25 over stemmed words. The title and the search
phrases have the largest weights. BM25 also ranks entries that have little to do with the query, so
entries that are not close are omitted. An entry is close if one of its phrases (title, search
phrase, name) contains enough of the query's words, and all of its phrases together contain enough
of the query's weight. Words that occur in fewer entries have a larger weight. Both limits were
determined by measurements (docs/demand.md).
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
from ..diagnose import checklists
from ..diagnose.checklists import Checklist

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

# The number of query words that one phrase must contain (all words, if the query is shorter), and
# the share of the weight that all phrases together must contain.
WORDS, SHARE = 2, 0.2
# The share of their words that a query and a phrase of a checklist must have in common for the
# checklist to come before all reproducers.
SAME = 0.75
# The same limits for a query that is probably not about a symptom: the text of an error (which
# explain handles), a "how" or "what" question, or a query about another library, an installation or
# a driver.
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
    """A reproducer, a list of causes, or a checklist."""

    title: str
    reproducers: list[Reproducer]
    causes: tuple[Cause, ...]  # empty for a reproducer
    checklist: Checklist | None = None

    @property
    def ids(self) -> list[str]:
        return [reproducer.id for reproducer in self.reproducers]

    @property
    def address(self) -> str:
        """What the user types to read more: an id, or the command for a checklist."""
        if self.checklist:
            return f"torch-repros diagnose {self.checklist.name}"
        return self.ids[0]


class Index:
    """The reproducers and lists of causes, indexed for many queries."""

    def __init__(self, reproducers: list[Reproducer]) -> None:
        self._found: list[Found] = []  # the entry for each row of `pages`
        self._lengths = [0]  # phrase -> its number of words; the rows of `phrases` start at 1
        self._database = sqlite3.connect(":memory:")
        self._database.executescript(TABLES)
        for row, (entry, phrases, page) in enumerate(_entries(reproducers), 1):
            self._found.append(entry)
            self._database.execute("INSERT INTO pages VALUES (?, ?, ?, ?, ?)", page)
            rows = [(phrase, row) for phrase in phrases]
            self._lengths += [len(_words(phrase)) for phrase in phrases]
            self._database.executemany("INSERT INTO phrases VALUES (?, ?)", rows)

    def search(self, query: str) -> list[Found]:
        """The entries that are close to the query, best first."""
        words = _words(_usual(query))
        if not words:
            return []
        weight = 0.0
        shared: dict[int, float] = {}  # row -> the weight of the query's words in its phrases
        count: dict[int, dict[int, int]] = {}  # row -> phrase -> number of these words in it
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
        ranked = [row for (row,) in self._database.execute(BEST, (any_of,)) if row in close]
        ranked.sort(key=lambda row: not self._is_vague(row, len(words), count[row]))
        return [self._found[row - 1] for row in ranked]

    def _is_vague(self, row: int, words: int, count: dict[int, int]) -> bool:
        """True for a checklist, if one of its phrases and the query have almost the same words."""
        return self._found[row - 1].checklist is not None and any(
            shared >= SAME * max(words, self._lengths[phrase]) for phrase, shared in count.items()
        )


def phrases_of(id: str, folder: Path = PHRASES) -> list[str]:
    """Users' phrases that the failure's title and docstring lack (phrases/FAMILY/NAME.txt)."""
    path = folder / f"{id}.txt"
    return path.read_text(encoding="utf-8").splitlines() if path.is_file() else []


def problems(ids: set[str], folder: Path = PHRASES) -> list[str]:
    """One line per problem in the files with search phrases."""
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


def _words(text: str) -> list[str]:
    """The words that say something, each once."""
    words = dict.fromkeys(re.findall(r"[^\W_]+", text))
    return [word for word in words if word not in STOP_WORDS]


@cache
def _synonyms() -> tuple[re.Pattern[str], dict[str, str]]:
    """A pattern that matches all synonyms, and the first phrase on each synonym's line."""
    lines = SYNONYMS.read_text(encoding="utf-8").splitlines()
    pairs = [line.split(" = ") for line in reversed(lines) if not line.startswith("#")]
    usual = {other: first for first, others in pairs for other in others.split(", ")}
    longest_first = sorted(usual, key=len, reverse=True)
    return re.compile(rf"\b(?:{'|'.join(map(re.escape, longest_first))})\b"), usual


@cache
def _usual(text: str) -> str:
    """The text in lowercase, with each synonym replaced by the first phrase on its line."""
    others, usual = _synonyms()
    return others.sub(lambda other: usual[other.group()], text.lower())


def _entries(reproducers: list[Reproducer]) -> list[tuple[Found, list[str], tuple[str, ...]]]:
    """All entries, each with its phrases and with the COLUMNS of its page."""
    by_id = {reproducer.id: reproducer for reproducer in reproducers}
    entries = []
    for reproducer in reproducers:
        name = re.sub("[_/]", " ", reproducer.id)
        text = " ".join([reproducer.symptom, *reproducer.texts])
        phrases = phrases_of(reproducer.id)
        page = (reproducer.title, phrases, name, reproducer.doc, text)
        entries.append(
            (Found(reproducer.title, [reproducer], ()), [reproducer.title, *phrases, name], page)
        )
    for group in causes.load():
        if words := group.keywords:
            text = " ".join(f"{cause.cause} {cause.check}" for cause in group.causes)
            entry = Found(group.title, group.reproducers(by_id), group.causes)
            entries.append((entry, [entry.title, *words], (entry.title, list(words), "", text, "")))
    for checklist in checklists.load():
        words = checklist.phrases
        entry = Found(checklist.title, [], (), checklist)
        entries.append((entry, [entry.title, *words], (entry.title, list(words), "", "", "")))
    return [
        (
            entry,
            [_usual(phrase) for phrase in phrases],
            tuple(_usual(part if isinstance(part, str) else " ".join(part)) for part in page),
        )
        for entry, phrases, page in entries
    ]
