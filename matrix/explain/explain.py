"""Finds the reproducers that match a traceback, a warning or log lines.

The patterns are the `messages` in the headers. A text is read in pieces, so that even a long log
needs little memory. Text that terminals and launchers add is removed. The patterns are matched
against the lines joined by spaces, so that messages that are wrapped over several lines are found.
Every match of a pattern contains one of its literals. One pass over the text finds all literals,
and a pattern is tried only if one of its literals has been found. No pattern has an unbounded gap,
because problems() rejects such patterns. The time therefore grows with the length of the text, but
barely with the number of patterns.

The script of the page (templates/page.js) cleans, matches and ranks in the same way. A test
compares the answers of both (tests/page/test_page.py).
"""

from __future__ import annotations

import codecs
import math
import os
import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cache, lru_cache
from itertools import accumulate, chain
from operator import itemgetter
from typing import Any, BinaryIO, NamedTuple

from .. import causes
from ..catalog import Reproducer
from ..causes import Cause, Group
from .readings import READINGS, read_out

# The page's script also uses these patterns (JS_DATA), so they work in Python and JavaScript.
ESCAPES = (
    r"\x1b(?:"
    r"\[[0-?]{0,64}[ -/]{0,8}[@-~]"  # colors and other commands that begin with CSI
    r"|\][^\x07\x1b\n]{0,4000}(?:\x07|\x1b\\)"  # titles and links (OSC)
    r"|[()][0-9A-B]|[=>@-Z\\^_]"
    r")?"
)
PREFIX = (  # the prefix that a launcher adds to each line of a process
    r"^(?:(?:"
    r"\[(?:rank|default)\d{1,6}\]:"  # torch, torchrun --tee
    r"|\[\d{1,6},\d{1,6}\]<std(?:out|err)>:"  # mpirun --tag-output
    r"|\(\w{1,80} pid=\d{1,9}[^)]{0,60}\)"  # Ray
    r"|\d{1,5}:(?= |$)"  # srun --label
    r") ?){1,3}"
)
PREFIX_STARTS = "[(0123456789"
EDGES = "|│┃║ "  # the sides of a box around a message, at the ends of a line
STARTS = EDGES + ">"  # the start of a quotation
RULE = r"^(?:[-+=\u2500-\u257f]{3,}|[`~]{3}[\w+-]{0,20})$"  # the edge of a box or a Markdown fence
CURLY = {"'": "\u2018\u2019\u201a\u201b\u2032", '"': "\u201c\u201d\u201e\u201f\u2033"}
ENTITIES = {  # HTML in text that was copied from the source of a page; the ampersand comes last
    "&nbsp;": " ",
    "&lt;": "<",
    "&gt;": ">",
    "&quot;": '"',
    "&#39;": "'",
    "&amp;": "&",
}
# The separators of str.split(), which differ from JavaScript's \s:
BLANKS = r"[\t-\r\x1c-\x20\x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]+"
TORCH_VERSION = (  # "PyTorch version: 2.4.1+cu121", "torch==2.4.1", "torch 2.4", "pytorch 2.4.1"
    # not "In PyTorch 2.6, we changed", "since torch 2.0", "torch>=2.0", "PyTorch 1.1.0 and later"
    r"(?<!In )(?<!in )(?<!of )(?<!ince )(?<!rom )(?<!ntil )(?<!efore )(?<!equires )"
    r"(?:[Pp]y[Tt]orch version(?: \(GPU\?\))?|[Pp]y[Tt]orch|torch(?:\.__version__)?)"
    r"(?!\s?[<>~!]=)[\s:='\"(>v]{1,6}(\d{1,3}\.\d{1,3}(?:\.\d{1,3})?)"
    r"(?![\d.]{0,8},? (?:(?:and|or) (?:later|newer|above|earlier|older)|we\b))"
)
LOOK_BACK = 1000  # characters before a match; "Warning" there on the same line makes it a warning
TRACEBACK = 8000  # characters before a match to search for its traceback
FRAME = (  # Python; rich, IPython and warnings; notebooks
    r'File "([^"\n]{1,500})", line (\d{1,9})'
    r"|([^\s:]{1,500}\.py):(\d{1,9})(?:,? in |: \w{0,60}Warning: )"
    r"|(Cell In ?\[\d{1,9}\]), line (\d{1,9})"
)
LIBRARY = (
    r"(?:^|[/\\])torch[/\\](?:_|amp|autograd|cuda|nn|optim|utils)"
    r"|[/\\](?:(?:site|dist)-packages|lib[/\\]python\d|python3\d{0,2}[/\\]lib)|^<"
)
DEVICE = r"\b(?:cuda|mps)\b"  # if a message names it, causes that never occur there are omitted
TORCH = (  # a text that does not name torch may be about any program
    r"torch|state_dict|dataloader|lightning|transformers|diffusers|accelerate|deepspeed|\.pth\b"
)
LIBRARIES = (  # libraries that are built on torch: a text that names one is about torch, too
    r"\btimm\b|\bmmcv|\bmmdet|\bmmseg|\bmmengine|\bmmpose|\bmmpretrain|\bmmaction|\bmmselfsup"
    r"|\bmonai\b|\bnnunet|\bfastai\b|ultralytics|detectron2|fairseq|espnet|\bpeft\b|bitsandbytes"
    r"|\bvllm\b|sglang|xformers|c10::|at::Tensor|flash[-_]attn|\bskorch\b|kohya|comfyui"
    r"|stable-diffusion|safetensors|huggingface|\bdgl\b|gaussian[-_](?:splat|raster)|simple[-_]knn"
    r"|nerfstudio|\bspconv\b|\bpcdet\b|mamba[-_]ssm|causal[-_]conv1d|selective_scan|\btrl\b"
    r"|unsloth|SFTTrainer|DPOTrainer|GRPOTrainer|PPOTrainer|nn\.Module|loss\.backward\(|optimizer\.step\("
    r"|diffusion|webui|\byolo|whisper|pyannote|sentence_transformers|ForCausalLM|gradio"
)
TRAINING = (  # words of training code: a text with one of them is about torch or a rival
    r"\bcuda\b|\bcuda_|\bgpus?\b(?!\])|\bepochs?\b|checkpoint|\bckpts?\b|\.pt\b|\bfine-?tun"
    r"|train(?:_\w{1,30})?\.py\b|(?:\b|_)eval(?:_\w{1,30})?\.py\b|finetune\w{0,30}\.py\b"
    r"|\binfer(?:ence)?(?:_\w{1,30})?\.py\b|\btrain(?:ing)? (?:on|with|my|own|the|a)\b"
    r"|\b(?:during|giving|start|started|when|while|before|own) train|\btraining\b"
    r"|\bduring (?:evaluation|validation|inference|testing)\b"
    r"|, in (?:train|forward|training_step|validate|evaluate|inference|collate\w{0,20})\b"
    r"|\bforward(?: pass|\()|\bbatch_size\b|\bself\.(?:model|net|encoder|decoder|backbone)\b"
    r"|\bmodels?[/\\]\w|[/\\]data_?sets?(?:[/\\]|\.py)|[/\\]data_?loaders?(?:[/\\]|\.py)"
    r"|[ /\\]configs[/\\]|[/\\]networks?(?:[/\\]|\.py)|[/\\]losses(?:[/\\]|\.py)|\bhparams"
    r"|\blora\b|\blora_|controlnet|tokenizers?\.|\bresnet|\bllama|\bmistral|\bqwen|\bunet|\bvae\b"
    r"|'Tensor'|\bnot Tensor\b|non-iterable Tensor|pycocotools|\bcoco\b|\bgguf\b|\bkitti\b"
    r"|\bmodel\.(?:eval|train|cuda|forward|half|generate)\(|pre-?train(?:ed|ing)"
    r"|\b(?:detect|predict)(?:_\w{1,30})?\.py\b|gt_(?:box|bbox|label|mask)(?:e?s)?\b"
    r"|\bllms?\b|nvcuda64|of type Tensor\b|CUDA_VISIBLE"
)
RIVALS = r"tensorflow|\btf\.|keras|\bjax|\bflax\b|mxnet|paddle|mindspore|theano|chainer|caffe\b"
SUBJECTS = (TORCH, LIBRARIES, TRAINING, RIVALS)  # they only tell what a text is about
LONGEST_SYMPTOM = 1000  # maximum length of a text to compare with symptoms
JS_DATA = {
    "escapes": ESCAPES,
    "edges": EDGES,
    "starts": STARTS,
    "rule": RULE,
    "curly": CURLY,
    "entities": ENTITIES,
    "traceback": TRACEBACK,
    "frame": FRAME,
    "library": LIBRARY,
    "readings": [[read.__name__, pattern] for pattern, read in READINGS],
    "device": DEVICE,
    "torch": TORCH,
    "libraries": LIBRARIES,
    "training": TRAINING,
    "rivals": RIVALS,
    "blanks": BLANKS,
    "prefix": PREFIX,
    "torch_version": TORCH_VERSION,
    "look_back": LOOK_BACK,
    "longest_symptom": LONGEST_SYMPTOM,
}

PIECE = 1 << 18  # bytes read at a time
# Characters to search again with the next piece: enough for a message and TRACEBACK.
OVERLAP = 1 << 14
WAYS = 5000  # maximum number of ways to fill the gaps in a pattern
END = "\0"  # ends the lines of a process, so that messages do not extend to another process
SHORTEST_LITERAL = 6  # characters; every match of a pattern must contain such a literal

_ESCAPES, _PREFIX, _RULE, _TORCH_VERSION, _FRAME = (
    re.compile(pattern, re.ASCII) for pattern in (ESCAPES, PREFIX, RULE, TORCH_VERSION, FRAME)
)
_DEVICE = re.compile(DEVICE, re.ASCII | re.IGNORECASE)
_LIBRARY = re.compile(LIBRARY, re.ASCII | re.IGNORECASE)
_STRAIGHT = str.maketrans({curly: straight for straight in CURLY for curly in CURLY[straight]})


class ExplainError(Exception):
    """The file cannot be read."""


@dataclass
class Answer:
    """The meaning of one message in the text: one reproducer, or several possible causes."""

    matched: str  # the part of the text that matched a pattern
    reproducers: list[Reproducer]
    causes: list[Cause]  # empty if there is only one
    title: str  # the title of the list of causes or of the reproducer
    line: str = ""  # "train.py:12", a line in the user's code, if the text has a traceback
    # cause -> another part of the text that supports this cause (such causes come first)
    named: dict[str, str] = field(default_factory=dict)
    name: str = ""  # the name of the page, for a message with several causes
    was_raised: bool = True  # False if no run of this project has raised the message

    @property
    def ids(self) -> list[str]:
        if self.causes:
            return [cause.see for cause in self.causes if cause.see]
        return [reproducer.id for reproducer in self.reproducers]

    @property
    def is_sure(self) -> bool:
        """True if the text shows the cause, and False if it only makes the first cause likely."""
        if not self.causes:
            return True
        first = self.causes[0]
        return not first.likely and (len(self.causes) == 1 or first.cause in self.named)


@dataclass
class Explanation:
    """The meaning of a whole text."""

    answers: list[Answer]  # best first
    torch_version: str | None  # the first version that the text names
    blank: bool  # True if there was no text
    readings: list[str] = field(default_factory=list)  # explanations of numbers in the text
    last_error: str = ""  # the last line that names an error, or else the text if it is short


# --- reading --------------------------------------------------------------------------------------


def read(what: str | None, stdin: BinaryIO) -> Iterator[str]:
    """The text to explain: standard input (for None or "-"), the file with that name, or `what`."""
    if what is None or what == "-":
        return _decoded(stdin)
    # os.path returns False for impossible file names, such as names that are too long or have a NUL
    if "\n" not in what and os.path.exists(what) and not os.path.isdir(what):
        try:
            return _closing(open(what, "rb"))
        except OSError as error:
            raise ExplainError(f"cannot read {what}: {error.strerror}") from None
    return iter([what.encode("utf-8", "replace").decode()])  # no lone surrogates


def _closing(file: BinaryIO) -> Iterator[str]:
    with file:
        yield from _decoded(file)


def _decoded(stream: BinaryIO) -> Iterator[str]:
    """The text, decoded from UTF-8 or PowerShell's UTF-16. Invalid bytes are replaced."""
    first = stream.read(PIECE)
    rest = iter(lambda: stream.read(PIECE), b"")
    return decoded(chain([first], rest), _encoding(first[:4096]))


def decoded(pieces: Iterable[bytes], encoding: str = "utf-8") -> Iterator[str]:
    decoder = codecs.getincrementaldecoder(encoding)("replace")
    for piece in pieces:
        yield decoder.decode(piece)
    yield decoder.decode(b"", final=True)


def _encoding(start: bytes) -> str:
    if start.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "utf-16"
    even, odd = start[::2].count(0), start[1::2].count(0)
    few, many = sorted((even, odd))
    if many * 4 > len(start) and few * 8 < many:  # in UTF-16, every other byte of ASCII text is 0
        return "utf-16-le" if odd > even else "utf-16-be"
    return "utf-8-sig"


# A cleaned line: its position in the cleaned text, the launcher's prefix, and its text with the
# line ending. This is a plain tuple because there are many lines.
Line = tuple[int, str, str]


def _windows(text: str | Iterable[str]) -> Iterator[tuple[list[Line], int]]:
    """Yields the cleaned lines of each piece, preceded by the last lines of the previous piece.

    Each window comes with a position. Matches that start before this position were already found in
    the previous window, which contained the complete line.
    """
    if isinstance(text, str):
        text = map(text.__getitem__, [slice(at, at + PIECE) for at in range(0, len(text), PIECE)])
    overlap: list[Line] = []
    start, since, prefix = 0, 0, None
    for part in _cut(text):
        lines, prefix = _clean(part, start, prefix)
        if lines:
            start = lines[-1][0] + len(lines[-1][2])
            window = overlap + lines
            yield window, since
            first = bisect_right(window, start - OVERLAP, key=itemgetter(0)) - 1
            overlap = window[max(0, first) :]
            since = start - OVERLAP + TRACEBACK


def _cut(pieces: Iterable[str]) -> Iterator[str]:
    """Yields the same text, split at line ends, or at spaces if a line is longer than a piece."""
    rest = ""
    for piece in pieces:
        rest += piece
        cut = rest.rfind("\n") + 1
        if not cut and len(rest) >= PIECE:
            cut = max(rest.rfind(" "), rest.rfind("\r")) + 1 or len(rest)
        if cut:
            yield rest[:cut]
            rest = rest[cut:]
    yield rest + "\n"


def _clean(part: str, start: int, prefix: str | None) -> tuple[list[Line], str | None]:
    """Returns the non-empty lines, and the prefix of a line that continues in the next part."""
    lines = []
    part = part if part.isascii() else part.translate(_STRAIGHT)
    if "&" in part:
        for entity, sign in ENTITIES.items():
            part = part.replace(entity, sign)
    raw = _ESCAPES.sub("", part).replace("\r", "\n").split("\n")
    for number, text in enumerate(raw, 1):
        text, ends = " ".join(text.split()), number < len(raw)
        if prefix is None:
            text = text.lstrip(STARTS)
            match = _PREFIX.match(text) if text[:1] in PREFIX_STARTS else None
            prefix = match.group() if match else ""
            text = text[len(prefix) :].lstrip(STARTS).removeprefix("E ")  # E: pytest
        if ends:
            text = text.rstrip(EDGES)
            if not text[:1].isalnum() and _RULE.match(text):
                text = ""
        if text:
            text += "\n" if ends else " " if part.endswith(" ") else ""
            lines.append((start, prefix, text))
            start += len(text)
        if ends:
            prefix = None
    return lines, prefix if raw[-1] else None


# --- matching -------------------------------------------------------------------------------------


class Match(NamedTuple):
    """A match of a pattern. The smallest tuple is the best match."""

    warning: bool
    minus_length: int
    minus_start: int
    text: str
    line: str  # in the user's code


class Index:
    """Finds the patterns that may match a text. It tries few patterns and reads the text once."""

    def __init__(self, patterns: Iterable[str]) -> None:
        patterns_of: dict[str, list[str]] = {}  # a literal -> the patterns to try if it is found
        for pattern in patterns:
            for literal in literals(pattern):
                patterns_of.setdefault(literal, []).append(pattern)
        self._always = patterns_of.pop("", [])
        self._patterns_of = list(patterns_of.values())
        self._literals = list(patterns_of)
        self._automaton = _automaton(self._literals)

    def likely(self, lowered: str) -> list[str]:
        """The patterns of which the text, in lowercase, contains a literal, in a fixed order."""
        if self._automaton is None:
            indexes = {at for at, literal in enumerate(self._literals) if literal in lowered}
        else:
            matches = self._automaton.find_matches_as_indexes(lowered, overlapping=True)
            indexes = {index for index, _, _ in matches}
        likely = (pattern for index in sorted(indexes) for pattern in self._patterns_of[index])
        return list(dict.fromkeys([*self._always, *likely]))


@lru_cache(maxsize=4)  # a program that explains many texts asks for the same patterns
def _index(patterns: tuple[str, ...]) -> Index:
    return Index(patterns)


class Patterns:
    """A set of patterns, each with its best match in the windows of a text."""

    def __init__(self, patterns: Iterable[str]) -> None:
        self.found: dict[str, Match] = {}  # pattern -> its best match so far
        self._index = _index(tuple(dict.fromkeys(patterns)))

    def search(self, window: list[Line], since: int = 0) -> None:
        if any(prefix for _, prefix, _ in window):  # group the lines by process
            window = sorted(window, key=itemgetter(1))
            after = [prefix for _, prefix, _ in window[1:]] + [None]
            window = [
                (start, prefix, text if prefix == following else text + END)
                for (start, prefix, text), following in zip(window, after)
            ]
        lines = _joined(window)
        flat = lines.replace("\n", " ").replace(END, "\n")  # gaps in patterns never match END
        starts = list(accumulate((len(text) for _, _, text in window), initial=0))
        for pattern in self._index.likely(flat.lower()):
            if pattern in SUBJECTS:  # one match is enough
                if pattern not in self.found and (match := _compiled(pattern).search(flat)):
                    self.found[pattern] = Match(False, 0, 0, match.group(), "")
                continue
            best, place = self.found.get(pattern), -1
            for match in _compiled(pattern).finditer(flat):
                begin, end = match.span()
                line = bisect_right(starts, begin) - 1
                start = window[line][0] + begin - starts[line]
                if start < since:
                    continue
                before = lines[max(0, begin - LOOK_BACK) : begin].rpartition("\n")[2]
                warning = "Warning" in before + match.group()
                candidate = Match(warning, begin - end, -start, match.group(), "")
                if best is None or candidate[:3] < best[:3]:
                    best, place = candidate, begin
            if best is not None and place >= 0:
                before = lines[max(0, place - TRACEBACK) : place].rpartition(END)[2]
                self.found[pattern] = best._replace(line=users_line(before))


def _automaton(literals: list[str]) -> Any:
    """A one-pass matcher for all literals, or None if it cannot be installed, as on Alpine."""
    try:
        from ahocorasick_rs import AhoCorasick
    except ImportError:
        return None
    return AhoCorasick(literals)


def users_line(before: str) -> str:
    """The last "file:line" in a traceback that is not in a library, or "".

    The argument `before` is the text that precedes the name of an error or a warning.
    """
    frames = list(_FRAME.finditer(before, max(0, before.rfind("Traceback (most recent call"))))
    if not frames or len(before) - frames[-1].end() > LOOK_BACK:
        return ""
    places = [[part for part in frame.groups() if part] for frame in frames]
    own = [f"{file}:{line}" for file, line in places if not _LIBRARY.search(file)]
    return own[-1] if own else ""


def _joined(window: list[Line]) -> str:
    return "".join(text for _, _, text in window)


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE | re.ASCII)  # ASCII, as in JavaScript


@dataclass
class Scan:
    """The findings for one text."""

    found: dict[str, Match]  # pattern -> its best match
    torch_version: str | None = None
    first: str = ""  # the first line
    lines: int = 0  # a lower bound on the number of lines
    last_error: str = ""


def scan(text: str | Iterable[str], reproducers: list[Reproducer]) -> Scan:
    """Returns the findings for explained(), after reading a text of any length once."""
    messages = [pattern for reproducer in reproducers for pattern in reproducer.texts]
    in_groups = [pattern for group in causes.load() for _, pattern, _ in group.patterns]
    readings = [pattern for pattern, _ in READINGS]
    patterns = Patterns([*messages, *in_groups, *readings, *SUBJECTS])
    result = Scan(patterns.found)
    for window, since in _windows(text):
        patterns.search(window, since)
        joined = _joined(window)
        result.first = result.first or window[0][2].rstrip()
        result.lines = max(result.lines, len(window))
        if result.torch_version is None and "orch" in joined:  # the regex is slow
            version = _TORCH_VERSION.search(joined)
            result.torch_version = version and version.group(1)
        at = max(joined.rfind(f"{name}: ") for name in ("Error", "Exception", "Warning"))
        if at >= 0:
            line = joined[joined.rfind("\n", 0, at) + 1 :].partition("\n")[0]
            result.last_error = line[:LONGEST_SYMPTOM]
    return result


def explained(scans: list[Scan], reproducers: list[Reproducer]) -> Explanation:
    """Explains the texts of a program. The last text is the most important.

    Errors come before warnings, torch's errors before those of Python itself, both before errors
    that only pass on another, and longer matches before shorter matches. Among equal matches, the
    match nearest to the end comes first, because a traceback names the error at its end. A single
    line is also compared with the reproducers' symptoms, because some failures raise no error.
    """
    found: dict[str, Match] = {}
    for pattern, match in (pair for scan in scans for pair in scan.found.items()):
        found[pattern] = min(found.get(pattern, match), match)
    best = {
        reproducer.id: min(found[pattern] for pattern in reproducer.texts if pattern in found)
        for reproducer in reproducers
        if not found.keys().isdisjoint(reproducer.texts)
    }
    texts = [scan for scan in scans if scan.lines]
    short = len(texts) == 1 and texts[0].lines == 1 and len(texts[0].first) <= LONGEST_SYMPTOM
    wording = None
    in_texts = any(text in found for group in _groups(found) for text in group.texts)
    if not best and not in_texts and short and texts[0].first:
        wording = None if texts[0].last_error else _in_words(texts[0].first)
        best = {} if wording else _symptoms(texts[0].first, reproducers)
    readings = [
        read_out(pattern, read, found[pattern].text)
        for pattern, read in READINGS
        if pattern in found
    ]
    readings = list(dict.fromkeys(filter(None, readings)))
    return Explanation(
        _answers(best, found, reproducers, readings, wording),
        next((scan.torch_version for scan in scans if scan.torch_version), None),
        blank=not texts,
        readings=readings,
        last_error=next(
            (scan.last_error for scan in reversed(scans) if scan.last_error),
            texts[0].first if short else "",
        ),
    )


def _groups(found: dict[str, Match]) -> list[Group]:
    """The messages that apply to the text.

    A message of Python itself applies if the text is about torch, or if its causes are the same in
    every program.
    """
    is_about_torch = (
        TORCH in found or LIBRARIES in found or (TRAINING in found and RIVALS not in found)
    )
    return [
        group for group in causes.load() if is_about_torch or group.anywhere or not group.is_general
    ]


def look_up(text: str | Iterable[str], reproducers: list[Reproducer]) -> Explanation:
    """Explains a single text."""
    return explained([scan(text, reproducers)], reproducers)


def find(text: str | Iterable[str], reproducers: list[Reproducer]) -> list[Answer]:
    """The answers for a single text, best first."""
    return look_up(text, reproducers).answers


def torch_version(text: str | Iterable[str]) -> str | None:
    """The first torch version that the text names."""
    return look_up(text, []).torch_version


def _in_words(line: str) -> tuple[Group, str] | None:
    """The message whose title or longest keyword is part of the line, and that part, or None."""
    lowered = line.lower()
    parts = [
        (len(words), group, words)
        for group in causes.load()
        for words in (group.title, *group.keywords)
        if words.lower() in lowered
    ]
    return max(parts, key=lambda part: part[0])[1:] if parts else None


def _symptoms(line: str, reproducers: list[Reproducer]) -> dict[str, Match]:
    """The reproducers whose symptom occurs first in the line."""
    # The symptom of an error is part of its message, but may also be part of other messages, so it
    # has to match the whole line.
    lowered = line.lower()
    likely = [
        reproducer
        for reproducer in reproducers
        if any(literal in lowered for literal in literals(reproducer.symptom))
    ]
    pattern_of = {
        reproducer.id: f"^(?:{reproducer.symptom})$"
        if reproducer.kind == "error"
        else reproducer.symptom
        for reproducer in likely
    }
    patterns = Patterns(pattern_of.values())
    patterns.search([(0, "", line)])
    best = {
        id: patterns.found[pattern]
        for id, pattern in pattern_of.items()
        if pattern in patterns.found
    }
    first = max((match.minus_start for match in best.values()), default=0)
    return {id: match for id, match in best.items() if match.minus_start == first}


def _answers(
    best: dict[str, Match],
    found: dict[str, Match],
    reproducers: list[Reproducer],
    readings: list[str],
    wording: tuple[Group, str] | None = None,
) -> list[Answer]:
    by_id = {reproducer.id: reproducer for reproducer in reproducers}
    groups = causes.load()
    group_of = {cause.see: group for group in groups for cause in group.causes}
    matches: list[tuple[Match, str, Group | None]] = [
        (match, id, group_of.get(id)) for id, match in best.items()
    ]
    for each in _groups(found):
        if texts := [found[pattern] for pattern in each.texts if pattern in found]:
            matches.append((min(texts), "", each))
    if wording:
        matches.append((Match(False, 0, 0, wording[1], ""), "", wording[0]))
    answers: list[Answer] = []
    answered: set[str] = set()

    def rank(found_in: tuple[Match, str, Group | None]) -> tuple[object, ...]:
        match, id, group = found_in
        return match.warning, group.order if group else 0, match[1:3], id

    for match, id, group in sorted(matches, key=rank):
        if id in answered or (group and group.name in answered):
            continue
        candidates = group.reproducers(by_id) if group else []
        named = _named(candidates, found, group.title) if group else {}
        is_only_candidate = [c.id for c in candidates if c.id in best] == [id]
        # a warning that names its cause
        if group is None or (is_only_candidate and match.warning and id in named):
            answers.append(Answer(match.text, [by_id[id]], [], by_id[id].title, match.line))
            continue
        answers.append(_of_group(group, match, by_id, named, found, readings))
        answered |= {group.name, *(candidate.id for candidate in candidates)}
    return answers


def _of_group(
    group: Group,
    match: Match,
    by_id: dict[str, Reproducer],
    named: dict[str, Match],
    found: dict[str, Match],
    readings: list[str],
) -> Answer:
    """The causes of a message: first those that the text supports, and last those it excludes."""

    def part(pattern: str) -> str:
        """The part of the text, or else of the readings, that the pattern matches, or ""."""
        if pattern in found:
            return found[pattern].text
        match = _compiled(pattern).search("\n".join(readings)) if pattern else None
        return match[0] if match else ""

    device = _DEVICE.search(match.text)
    never = {
        candidate.id
        for candidate in group.reproducers(by_id)
        if device and candidate.affected.get(device[0].lower()) == "never"
    }
    possible = [cause for cause in group.causes if cause.see not in never] or list(group.causes)
    speaking = {
        cause.cause: text
        for cause in possible
        if (text := named[cause.see].text if cause.see in named else part(cause.supports))
    }
    possible.sort(key=lambda cause: (cause.cause not in speaking, bool(part(cause.excludes))))
    candidates = [by_id[cause.see] for cause in possible if cause.see in by_id]
    return Answer(
        match.text,
        candidates,
        possible,
        group.title,
        match.line,
        speaking,
        group.name,
        was_raised=group.was_raised,
    )


def _named(candidates: list[Reproducer], found: dict[str, Match], title: str) -> dict[str, Match]:
    """Maps id -> match for the causes of one error that the text itself names in a warning.

    The warning must differ from the title and from the messages of other causes. Errors do not
    count, because several errors may be parts of one message.
    """
    matched = [
        (candidate.id, pattern)
        for candidate in candidates
        for pattern in candidate.texts
        if pattern in found
    ]
    named: dict[str, Match] = {}
    for id, pattern in matched:
        match, others = found[pattern], [text for other, text in matched if other != id]
        shared = pattern in others or _compiled(pattern).search(title)
        if match.warning and not shared:
            named[id] = min(named.get(id, match), match)
    return named


# --- patterns -------------------------------------------------------------------------------------

# an escape, a class, a quantifier, plain text, or another character
_TOKEN = re.compile(
    r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|\{\d*,?\d*\}|[^\\\[\]{}()|.^$*+?]+|.", re.DOTALL
)


@cache
def literals(pattern: str) -> tuple[str, ...]:
    """For each alternative of the pattern, a lowercase text that its matches contain, or ""."""
    longest, run, depth = [""], "", 0
    for token in [*_TOKEN.findall(pattern), "^"]:
        depth += (token == "(") - (token == ")")
        if token[0] == "\\":
            text = "" if token[-1].isalnum() else token[-1]
        else:
            is_text = token[0] not in "()|.^$*+?[{" or token in ("[", "{")
            text = token if is_text else ""
        if text and not depth:
            run += text
            continue
        if token in "*?" or token[0] == "{":
            run = run[:-1]  # a repeated character may also be absent
        longest[-1] = max(longest[-1], run.lower(), key=len)
        run = ""
        if token == "|" and not depth:
            longest.append("")
    return tuple(longest)


def _ways(pattern: str, unbounded: float) -> float:
    """An upper bound on the ways to fill a pattern's gaps. It is infinite for a repeated group."""
    ways, before = 1.0, ""
    for token in _TOKEN.findall(pattern):
        if token in "*+":
            ways *= math.inf if before == ")" else unbounded
        elif match := re.fullmatch(r"\{(\d*),(\d*)\}", token):
            most = int(match[2]) - int(match[1] or 0) + 1 if match[2] else unbounded
            ways *= math.inf if before == ")" else most
        before = token
    return ways


NOT_JAVASCRIPT = "not a regex in JavaScript"
_PYTHON_ONLY = re.compile(r"\(\?(?!:|<?[=!])|\\[AZ]")  # flags, names, atomic groups, ends of text


def problems(r: Reproducer) -> list[str]:
    """Header patterns that would make `explain` slow or fail on the site."""
    at = f"{r.path}:{r.line_of('messages')}: messages"
    wrong = [f"{at}: {pattern!r}: {bad}" for pattern in r.texts for bad in _bad(pattern)]
    at = f"{r.path}:{r.line_of('symptom')}: symptom: {r.symptom!r}"
    if _PYTHON_ONLY.search(r.symptom):
        wrong.append(f"{at}: {NOT_JAVASCRIPT}")
    if _ways(r.symptom, LONGEST_SYMPTOM) > LONGEST_SYMPTOM**2:
        wrong.append(f"{at}: a repeated group, or more than two unbounded gaps")
    return wrong


def problems_of_groups() -> list[str]:
    """The same for the patterns of messages with several causes."""
    wrong = []
    for group in causes.load():
        for key, pattern, line in group.patterns:
            at = f"{group.path}:{line}: {group.title!r}: {key}: {pattern!r}"
            try:
                re.compile(pattern)
            except re.error as error:
                wrong.append(f"{at}: not a regex: {error}")
            else:
                wrong += [f"{at}: {bad}" for bad in _bad(pattern)]
    return wrong


def _bad(pattern: str) -> Iterator[str]:
    """The problems of a pattern that is searched for in texts of any length."""
    if _PYTHON_ONLY.search(pattern):
        yield NOT_JAVASCRIPT
    if _ways(pattern, math.inf) > WAYS:
        yield "an unbounded or too wide gap; write `.{0,200}?` for `.*`"
    if min(map(len, literals(pattern))) < SHORTEST_LITERAL:
        yield f"fewer than {SHORTEST_LITERAL} plain characters in a row"
