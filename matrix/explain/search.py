"""Ranks reproducers, lists of causes and checklists by their closeness to a user's words.

SQLite's full-text search scores the entries with BM25 over stemmed words. The title and the search
phrases have the largest weights. An entry is also compared by its closest phrase (title, search
phrase, name): by the share of the query that the phrase has, and by the share of the phrase that is
in the query. Words that occur in fewer entries have a larger weight. An F-measure of the two shares
ranks the entries, together with BM25. Another F-measure tells how well an entry fits, because BM25
also scores entries that have little to do with the query. All numbers were determined by
measurements (docs/demand.md).

A checklist is about a vague symptom and names no cause, so it never counts as fitting. Only the
closest checklists are results: one, or two that are nearly as close.
"""

from __future__ import annotations

import math
import re
import sqlite3
from collections import defaultdict
from dataclasses import dataclass, replace
from functools import cache
from itertools import pairwise
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

# How well a result must fit (from 0 to 1), and what is said about it.
SURE = "this is it"
FITS = {0.75: SURE, 0.7: "perhaps"}
# The same for a query that is probably not about a symptom: a "how" or "what" question, or a query
# about another library, an installation or a driver.
FITS_ELSEWHERE = {0.8: "perhaps"}
GUESS = ""  # what is said about any other result
# A query is vague if a checklist fits as well as this.
VAGUE = 0.6
# For other queries, a checklist is the first guess if it is nearly as close as the closest entry.
NEARLY = 0.8
# A second checklist is a guess if it is nearly as close as the first.
SECOND = 0.75
# For its rank, a phrase that is wholly in a longer query counts more than one with the whole query.
RANK_BETA = 0.5
RANK_WEIGHT = 8  # multiplies the closeness of a result in its rank
# The part of the closeness that depends on the order of the words, which tells "the validation loss
# is above the training loss" from the reverse.
ORDER = 0.05
BEGINNING = 5  # letters of a word that a phrase may inflect in another way
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
    fit: str = GUESS  # what a search says of it; nothing of a checklist
    closeness: float = 0.0  # from 0 to 1
    is_vague: bool = False  # a checklist, and the query is vague

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
        self._phrases: list[list[str]] = [[]]  # their words; the rows of `phrases` start at 1
        self._weights: dict[str, float] = {}  # of the words that were looked up
        self._database = sqlite3.connect(":memory:")
        self._database.executescript(TABLES)
        for row, (entry, phrases, page) in enumerate(_entries(reproducers), 1):
            self._found.append(entry)
            self._database.execute("INSERT INTO pages VALUES (?, ?, ?, ?, ?)", page)
            rows = [(phrase, row) for phrase in phrases]
            self._phrases += [_words(phrase) for phrase in phrases]
            self._database.executemany("INSERT INTO phrases VALUES (?, ?)", rows)

    def search(self, query: str) -> list[Found]:
        """The entries that share words with the query, best first, each with its fit.

        The closest checklist comes first, perhaps followed by a second. The others are left out.
        """
        words = _words(_usual(query))
        if not words:
            return []
        close = self._closeness(words)
        any_of = " OR ".join(f'"{word}"' for word in words)
        scores = self._database.execute(RANKED, (any_of,)).fetchall()  # the best score is lowest
        ranked = sorted(
            scores, key=lambda pair: pair[1] * (1 + RANK_WEIGHT * close[pair[0]].in_rank)
        )
        limits, vague = FITS, VAGUE
        if NO_SYMPTOM.search(query) or not ELSEWHERE.isdisjoint(words):
            limits, vague = FITS_ELSEWHERE, min(FITS_ELSEWHERE)
        lists, others = [], []
        for row, _ in ranked:
            found, its = self._found[row - 1], close[row]
            if found.checklist:
                is_vague = its.fit >= vague
                lists.append(replace(found, closeness=its.in_rank, is_vague=is_vague))
            else:
                fit = _fit(its.fit, limits)
                others.append(replace(found, closeness=its.in_rank, fit=fit))
        lists.sort(key=lambda found: -found.closeness)
        near = [each for each in lists if each.closeness >= SECOND * lists[0].closeness]
        return near[:2] + others

    def _closeness(self, words: list[str]) -> defaultdict[int, Closeness]:
        """row -> how close its phrases are to the query."""
        total = 0.0
        stems: set[tuple[tuple[int, int], ...]] = set()
        shared: dict[tuple[int, int], list[float]] = {}  # (row, phrase) -> weights
        known = []  # the words that some phrase has
        for word in words:
            weight = self._weight(word)
            total += weight
            places = tuple(self._database.execute(IN_PHRASES, (f'"{word}"',)))
            if places in stems:
                continue
            stems |= {places} - {()}
            known += [word] if places else []
            for place in places:
                shared.setdefault(place, []).append(weight)
        close: defaultdict[int, Closeness] = defaultdict(Closeness)
        for (row, phrase), weights in shared.items():
            of_query = sum(weights) / (total or 1)
            of_phrase = sum(weights) / (sum(map(self._weight, self._phrases[phrase])) or 1)
            close[row].add(of_query, of_phrase, _in_order(known, self._phrases[phrase]))
        return close

    def _weight(self, word: str) -> float:
        """The weight of a word, which is larger if fewer entries have the word."""
        if word not in self._weights:
            having = self._database.execute(HAVE, (f'"{word}"',)).fetchone()[0]
            self._weights[word] = math.log((len(self._found) + 1) / (having + 1))
        return self._weights[word]


@dataclass
class Closeness:
    """How close the closest phrases of an entry are to a query, from 0 to 1."""

    fit: float = 0.0
    in_rank: float = 0.0

    def add(self, of_query: float, of_phrase: float, in_order: float) -> None:
        """Adds a phrase by the shares of the query and of the phrase that are in both.

        in_order is the share of these words that are in the same order.
        """
        self.fit = max(self.fit, _f_measure(of_phrase, of_query, 1))
        in_rank = _f_measure(of_phrase, of_query, RANK_BETA)
        self.in_rank = max(self.in_rank, in_rank * (1 - ORDER + ORDER * in_order))


def _in_order(words: list[str], others: list[str]) -> float:
    """The share of neighbors among the common words that are in the same order in both lists."""
    places = {word[:BEGINNING]: place for place, word in enumerate(others)}
    common = [places[word[:BEGINNING]] for word in words if word[:BEGINNING] in places]
    pairs = list(pairwise(common))
    return sum(first < second for first, second in pairs) / len(pairs) if pairs else 1.0


def _f_measure(precision: float, recall: float, beta: float) -> float:
    return (1 + beta**2) * precision * recall / ((beta**2 * precision + recall) or 1)


def shown(found: list[Found], limit: int, guesses: int) -> tuple[list[Found], list[Found]]:
    """The results that fit, and the guesses beside them: none, if a result is sure to fit.

    For a vague query, the checklist comes before the results that fit. A second checklist comes
    after the first guess, unless the next one is closer.
    """
    lists = [each for each in found if each.checklist]
    lists, second = lists[:1], lists[1:]
    others = [each for each in found if not each.checklist]
    vague = [each for each in lists if each.is_vague]
    results = [*vague, *(each for each in others if each.fit)][:limit]
    if any(each.fit == SURE for each in results):
        return results, []
    least = NEARLY * max((each.closeness for each in others), default=0)
    near = [each for each in lists if not each.is_vague and each.closeness >= least]
    guessed = [each for each in others if not each.fit]
    if vague or near:
        displaced = max((each.closeness for each in guessed[1:2]), default=0)
        guessed[1:1] = [each for each in second if each.closeness >= displaced]
    rest = [*near, *guessed]
    return results, rest[: max(0, guesses - len(results))]


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
    """The meaningful words, each once."""
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
