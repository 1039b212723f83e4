"""Ranks reproducers, lists of causes and checklists by their closeness to a user's words.

SQLite's full-text search ranks the entries with BM25 over stemmed words. The title and the search
phrases have the largest weights. BM25 also ranks entries that have little to do with the query, so
each result says how well it fits: how much of the query one of its phrases (title, search phrase,
name) has, and how much of the phrase is in the query. Words that occur in fewer entries have a
larger weight. The limits were determined by measurements (docs/demand.md).
"""

from __future__ import annotations

import math
import re
import sqlite3
from dataclasses import dataclass, replace
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
RANKED = """
SELECT rowid, bm25(pages, 6, 8, 2, 1, 2) AS score FROM pages WHERE pages MATCH ?
ORDER BY score LIMIT 100
"""
HAVE = "SELECT count(*) FROM pages WHERE pages MATCH ?"
IN_PHRASES = "SELECT page, rowid FROM phrases WHERE phrases MATCH ?"

# How well a result must fit (from 0 to 1), and what is said of it.
SURE = "this is it"
FITS = {0.65: SURE, 0.55: "perhaps"}
# The same for a query that is probably not about a symptom: a "how" or "what" question, or a query
# about another library, an installation or a driver.
FITS_ELSEWHERE = {0.8: "perhaps"}
GUESS = ""  # what is said of any other result
# The fit of a checklist that comes before all reproducers.
VAGUE = 0.75
FIT_WEIGHT = 2  # multiplies the fit of a result in its rank
NO_SYMPTOM = re.compile(
    r"^\W*(?i:how (?:can|do|many|much|should|to)|what(?:'s| are| does| is)|which|where (?:can|do)"
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
    fit: str = GUESS  # what a search says of it
    is_inside: bool = False  # a checklist, and the query has all words of one of its phrases

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
        """The entries that share words with the query, best first, each with its fit."""
        words = _words(_usual(query))
        if not words:
            return []
        fits, inside = self._fits(words)
        any_of = " OR ".join(f'"{word}"' for word in words)
        scores = self._database.execute(RANKED, (any_of,)).fetchall()  # the best score is lowest
        ranked = sorted(scores, key=lambda pair: pair[1] * (1 + FIT_WEIGHT * fits.get(pair[0], 0)))
        rows = [row for row, _ in ranked]
        rows.sort(key=lambda row: not (self._found[row - 1].checklist and fits[row] >= VAGUE))
        limits = FITS
        if NO_SYMPTOM.search(query) or not ELSEWHERE.isdisjoint(words):
            limits = FITS_ELSEWHERE
        return [
            replace(
                self._found[row - 1], fit=_fit(fits.get(row, 0), limits), is_inside=row in inside
            )
            for row in rows
        ]

    def _fits(self, words: list[str]) -> tuple[dict[int, float], set[int]]:
        """row -> how well its best phrase and the query fit, from 0 to 1.

        This is the harmonic mean of two shares: of the weight of the query's words, and of the
        number of the phrase's words. Also returns the rows of the checklists with a phrase of
        several words that are all in the query.
        """
        total = 0.0
        stems: set[tuple[tuple[int, int], ...]] = set()
        shared: dict[tuple[int, int], tuple[float, int]] = {}  # (row, phrase) -> weight, number
        for word in words:
            having = self._database.execute(HAVE, (f'"{word}"',)).fetchone()[0]
            weight = math.log((len(self._found) + 1) / (having + 1))
            total += weight
            places = tuple(self._database.execute(IN_PHRASES, (f'"{word}"',)))
            if places in stems:
                continue
            stems |= {places} - {()}
            for place in places:
                before, number = shared.get(place, (0.0, 0))
                shared[place] = (before + weight, number + 1)
        fits: dict[int, float] = {}
        inside = set()
        for (row, phrase), (weight, number) in shared.items():
            of_query = weight / total if total else 0.0
            of_phrase = min(1.0, number / self._lengths[phrase])
            fit = 2 * of_query * of_phrase / ((of_query + of_phrase) or 1)
            fits[row] = max(fits.get(row, 0.0), fit)
            if number > 1 and number >= self._lengths[phrase] and self._found[row - 1].checklist:
                inside.add(row)
        return fits, inside


def shown(found: list[Found], limit: int, guesses: int) -> tuple[list[Found], list[Found]]:
    """The results that fit, and the guesses beside them: none, if a result is sure to fit.

    A checklist comes first among the guesses if a phrase of it is inside the query.
    """
    fitting = [each for each in found if each.fit][:limit]
    if any(each.fit == SURE for each in fitting):
        return fitting, []
    others = sorted((each for each in found if not each.fit), key=lambda each: not each.is_inside)
    return fitting, others[: max(0, guesses - len(fitting))]


def _fit(fit: float, limits: dict[float, str]) -> str:
    return next((word for limit, word in limits.items() if fit >= limit), GUESS)


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
