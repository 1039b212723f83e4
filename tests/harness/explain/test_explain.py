import io
import json
import os
import re
import subprocess
import sys
import time
from collections import defaultdict
from pathlib import Path

import ahocorasick_rs
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from matrix import catalog, causes, toml
from matrix.causes import Cause
from matrix.evidence import records
from matrix.explain import explain
from tests.harness.groups import group_of
from tests.harness.pasted import (
    CHECKPOINT,
    CURLY,
    HTML,
    INFERENCE,
    LAYOUTS,
    NAMED,
    NO_GRAD,
    READ,
    TRACEBACKS,
    WRAPPED,
)

REPRODUCERS = catalog.select(catalog.load(), ())
PUBLIC = toml.loads(Path(__file__).with_name("public_errors.toml").read_text(encoding="utf-8"))
MESSAGES = [
    json.loads(line)
    for line in Path(__file__).with_name("public_messages.jsonl").read_text("utf-8").splitlines()
]
PATTERNS = sorted({pattern for one in REPRODUCERS for pattern in one.messages})


def recorded_texts():
    """Yields (id, text) for every measurement of the current code."""
    current = {one.id: one for one in REPRODUCERS}
    for record in records.load():
        for id, measurement in record.measurements.items():
            if id in current and measurement.text and not measurement.is_stale(current[id]):
                yield id, measurement.text


RECORDED = sorted(set(recorded_texts()))


def found(text):
    return [(answer.ids, answer.matched) for answer in explain.find(text, REPRODUCERS)]


def first_ids(text):
    return explain.find(text, REPRODUCERS)[0].ids


def seconds_of(text):
    started = time.process_time()
    explain.find(text, REPRODUCERS)
    return time.process_time() - started


# --- the right answer -------------------------------------------------------------------------


def test_there_are_recorded_texts():
    assert len(RECORDED) > 50


@pytest.mark.parametrize(("id", "text"), RECORDED)
def test_every_text_that_was_recorded_on_any_torch_leads_to_its_reproducer(id, text):
    top = explain.find(text, REPRODUCERS)[0]
    assert id in top.ids
    assert len(top.ids) == 1 or top.causes  # several only if a message has several causes


@pytest.mark.parametrize(
    "error", PUBLIC["error"], ids=lambda error: error["url"].removeprefix("https://github.com/")
)
def test_texts_of_public_reports_lead_to_their_reproducer(error):
    assert error["expected"] in first_ids(error["text"])


@pytest.mark.parametrize(
    "error", MESSAGES, ids=lambda error: f"{error['name']} {error['url'][-20:]}"
)
def test_public_texts_of_messages_without_a_reproducer_lead_to_their_causes(error):
    first = explain.find(error["text"], REPRODUCERS)[0]
    assert first.name == error["name"]


def test_most_messages_that_no_run_raised_have_a_public_text():
    named = {error["name"] for error in MESSAGES}
    listed = {group.name for group in causes.load() if not group.was_raised}
    assert len(named & listed) > 0.8 * len(listed)


def test_forty_public_reports_and_twenty_unrelated_errors_are_tried():
    assert len({error["url"] for error in PUBLIC["error"]}) >= 40
    assert len(PUBLIC["unrelated"]) >= 20


@pytest.mark.parametrize("error", PUBLIC["unrelated"], ids=lambda error: error["text"][:50])
def test_other_errors_get_no_answer(error):
    assert found(error["text"]) == []


NOTHING_TO_INDEX = "TypeError: 'NoneType' object is not subscriptable"


@pytest.mark.parametrize(
    ("text", "is_explained"),
    [
        (NOTHING_TO_INDEX, False),
        (f"PyTorch version: 2.4.1\n{NOTHING_TO_INDEX}", True),
        (f'  File "train_gan.py", line 3, in <module>\n{NOTHING_TO_INDEX}', True),
        (f'  File "run.py", line 3, in forward\n{NOTHING_TO_INDEX}', True),
        (f"Epoch 3 of 10\n{NOTHING_TO_INDEX}", True),
        # training code of another library, and words that are only part of other words
        (f'  File "train.py", line 3, in <module>\nimport tensorflow\n{NOTHING_TO_INDEX}', False),
        (f"Epoch 3 of 10, keras\n{NOTHING_TO_INDEX}", False),
        (f"Epoch 3 of 10, keras, torch\n{NOTHING_TO_INDEX}", True),
        (f"constraint.py, epochal\n{NOTHING_TO_INDEX}", False),
    ],
)
def test_errors_of_python_are_explained_in_training_code_of_torch(text, is_explained):
    assert bool(found(text)) == is_explained


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("ModuleNotFoundError: No module named 'yaml'", "no-module-named-of-a-package"),
        ("TypeError: fit() got an unexpected keyword argument 'x'", "unexpected-keyword-argument"),
        ("AttributeError: 'Meshes' object has no attribute 'turn'", "object-has-no-attribute"),
    ],
)
def test_errors_with_the_same_causes_everywhere_are_explained_in_every_program(text, name):
    assert [answer.name for answer in explain.find(text, REPRODUCERS)] == [name]


@pytest.mark.parametrize(
    ("text", "version"),
    [
        ("PyTorch version: 2.4.1+cu121", "2.4.1"),
        ("- PyTorch version (GPU?): 2.3.1 (False)", "2.3.1"),
        ("torch==2.0.1", "2.0.1"),
        ("torch 2.10", "2.10"),
        (">>> torch.__version__\n'2.5.1'", "2.5.1"),
        ("site-packages/torch/utils/checkpoint.py:87", None),
        ("torchvision 0.15.2", None),
        ("no version", None),
        ("x\n" * 400_000 + "torch==2.6.0\n" + "x\n" * 400_000 + "torch==2.7.0\n", "2.6.0"),
        ("- PyTorch version (GPU?): 2.0.1+cu117 (True)", "2.0.1"),
        # versions in the sentences of torch and pip are not those of the asker
        ("In PyTorch 2.6, we changed the default value of weights_only\ntorch==2.9.1", "2.9.1"),
        ("In PyTorch 1.1.0 and later, you should call them in the opposite order", None),
        ("this needs pytorch 2.0 or newer", None),
        ("accelerate 1.0 requires torch>=2.0.0, but you have torch 1.13.1", "1.13.1"),
        ("deprecated since torch 2.4", None),
    ],
    ids=lambda value: str(value)[:30],
)
def test_the_torch_version_is_the_first_that_the_text_names(text, version):
    assert explain.torch_version(text) == version


def test_an_error_counts_more_than_a_warning_above_it():
    text = (
        "checkpoint.py:87: UserWarning: None of the inputs have requires_grad=True. Gradients will be None\n"
        "ValueError: Attempting to unscale FP16 gradients."
    )
    answers = explain.find(text, REPRODUCERS)
    assert [answer.ids[0] == "amp/unscale_fp16_parameters" for answer in answers] == [True, False]


def test_a_warning_that_ends_the_lines_of_one_rank_is_no_warning_of_the_next():
    text = (
        "[rank1]: ValueError: Attempting to unscale FP16 gradients.\n"
        "[rank1]: UserWarning: None of the inputs have requires_grad=True. Gradients will be None\n"
        "[rank0]: UserWarning: something else"
    )
    assert first_ids(text) == ["amp/unscale_fp16_parameters"]


def test_a_message_is_matched_in_any_case():
    assert first_ids("ATTEMPTING TO UNSCALE fp16 GRADIENTS") == ["amp/unscale_fp16_parameters"]


def test_a_text_of_several_lines_is_not_compared_with_what_reproducers_print():
    one = next(one for one in REPRODUCERS if one.symptom == "a prediction moved by")
    assert first_ids(one.symptom) == [one.id]
    assert found(f"{one.symptom}\nand more") == []


def test_a_message_that_follows_itself_is_matched_once():
    text = "cannot pin 'torch.cuda.FloatTensor' only dense CPU tensors can be pinned"
    assert found(f"{text}\n{text}")[0][1] == text


def test_several_causes_are_named_in_their_order():
    answer = explain.find(
        "RuntimeError: element 0 of tensors does not require grad and does not have a grad_fn",
        REPRODUCERS,
    )[0]
    assert answer.causes == list(causes.load()[0].causes)
    assert answer.ids == [cause.see for cause in answer.causes if cause.see]
    assert [one.id for one in answer.reproducers] == answer.ids


def test_causes_whose_reproducers_are_not_there_are_still_named():
    text = "element 0 of tensors does not require grad and does not have a grad_fn"
    (whole,) = explain.find(text, REPRODUCERS)
    (answer,) = explain.find(text, whole.reproducers[-1:])
    assert (answer.causes, answer.reproducers) == (whole.causes, whole.reproducers[-1:])


# --- causes named by the text ------------------------------------------------------------------

REENTRANT = "amp/reentrant_checkpoint_cuts_graph"


@pytest.mark.parametrize("text", NAMED)
def test_a_cause_that_a_warning_names_comes_first_and_is_marked(text):
    (answer,) = explain.find(text, REPRODUCERS)
    assert answer.title == NO_GRAD
    assert answer.matched == NO_GRAD
    assert answer.causes[0].see == answer.ids[0] == answer.reproducers[0].id == REENTRANT
    assert answer.named == {answer.causes[0].cause: CHECKPOINT}
    rest = [cause for cause in causes.load()[0].causes if cause.see != REENTRANT]
    assert answer.causes[1:] == rest


def test_a_warning_alone_that_names_its_cause_is_answered_by_it_alone():
    (answer,) = explain.find(f"UserWarning: {CHECKPOINT}", REPRODUCERS)
    assert (answer.ids, answer.causes) == ([REENTRANT], [])


@pytest.mark.parametrize(
    ("messages", "text", "named"),
    [
        ((("a trouble",), ("a cause",)), "UserWarning: a cause\nRuntimeError: a trouble", [1]),
        ((("a trouble",), ("a cause",)), "RuntimeError: a trouble\nx.py:1: UserWarning: a cause", [1]),
        # an error may be part of the other message
        ((("a trouble",), ("a cause",)), "RuntimeError: a trouble.\nThis has a cause", []),
        # both reproducers have the warning
        ((("a trouble", "a cause"), ("a cause",)), "UserWarning: a cause\nError: a trouble", []),
        # the warning is itself a message with several causes
        ((("one trouble",), ("listed trouble",)), "UserWarning: listed trouble\nError: one trouble", []),
    ],
)  # fmt: skip
def test_a_cause_is_named_only_by_a_warning_of_its_own(monkeypatch, messages, text, named):
    two = [one for one in REPRODUCERS if not one.messages][:2]
    planted = [
        type(one)(path=one.path, source=one.source, id=one.id, **{**one.header, "messages": its})
        for one, its in zip(two, messages)
    ]
    listed = tuple(Cause(cause=one.id, check="y", see=one.id, line=1) for one in planted)
    group = group_of("Listed trouble", *listed)
    monkeypatch.setattr(causes, "load", lambda: [group])
    (answer,) = explain.find(text, planted)
    assert list(answer.named) == [planted[at].id for at in named]
    assert answer.ids == sorted(answer.ids, key=lambda id: id not in answer.named)


def answer_of(monkeypatch, text, *listed, **changed):
    """The answer to a text by one message with these causes."""
    monkeypatch.setattr(causes, "load", lambda: [group_of("A trouble", *listed, **changed)])
    (answer,) = explain.find(text, REPRODUCERS)
    return answer


def cause_of(name, **changed):
    return Cause(**{"cause": name, "check": "look", "line": 1, **changed})


def test_a_message_that_no_run_raised_is_answered_by_its_own_texts(monkeypatch):
    listed = cause_of("first", source="https://example.org"), cause_of("second")
    texts = ("some trouble with xyzzy",)
    answer = answer_of(monkeypatch, "RuntimeError: some trouble with xyzzy!", *listed, texts=texts)
    assert (answer.matched, answer.title, answer.name) == (texts[0], "A trouble", "listed")
    assert (answer.causes, answer.reproducers, answer.ids) == (list(listed), [], [])
    assert not answer.was_raised


def test_the_text_ranks_the_causes(monkeypatch):
    first = cause_of("first", excludes="operand 149")
    second = cause_of("second")
    third = cause_of("third", supports="ReluBackward\\d")
    options = {"texts": ("some trouble",)}
    error = "RuntimeError: some trouble"

    def order(text):
        answer = answer_of(monkeypatch, text, first, second, third, **options)
        return [cause.cause for cause in answer.causes], answer.named

    assert order(error) == (["first", "second", "third"], {})
    assert order(f"{error}\noutput 0 of ReluBackward0") == (
        ["third", "first", "second"],
        {"third": "ReluBackward0"},
    )
    assert order(f"{error}\nUnsupported operand 149") == (["second", "third", "first"], {})


def test_a_likely_cause_comes_first_but_is_not_sure(monkeypatch):
    text = "RuntimeError: some trouble\noutput 0 of ReluBackward0"
    for likely in (False, True):
        listed = cause_of("first", supports="ReluBackward\\d", likely=likely), cause_of("second")
        for its in (listed, listed[:1]):
            answer = answer_of(monkeypatch, text, *reversed(its), texts=("some trouble",))
            assert answer.causes[0].cause == "first"
            assert answer.is_sure is not likely


def test_a_reading_of_the_numbers_speaks_for_a_cause(monkeypatch):
    text, _ = READ[0]
    listed = cause_of("first"), cause_of("second", supports="fragmentation: PyTorch")
    texts = (r"CUDA out of memory. Tried to allocate [^ ]{1,9} GiB. GPU \d",)
    monkeypatch.setattr(causes, "load", lambda: [group_of("A trouble", *listed, texts=texts)])
    answer = explain.find(text, REPRODUCERS)[0]
    assert [cause.cause for cause in answer.causes] == ["second", "first"]


def test_a_cause_that_never_occurs_on_the_device_of_the_message_is_left_out(monkeypatch):
    never = next(one.id for one in REPRODUCERS if one.affected.get("cuda") == "never")
    listed = cause_of("first", see=never), cause_of("second")
    for device, names in (("CUDA", ["second"]), ("CPU", ["first", "second"])):
        error = f"RuntimeError: {device} trouble, xyzzy"
        answer = answer_of(monkeypatch, error, *listed, texts=(r"\w{3,4} trouble, xyzzy",))
        assert [cause.cause for cause in answer.causes] == names
    answer = answer_of(
        monkeypatch, "CUDA trouble, xyzzy", listed[0], texts=("CUDA trouble, xyzzy",)
    )
    assert [cause.cause for cause in answer.causes] == ["first"]  # rather than none


@pytest.mark.parametrize(
    ("changed", "problem"),
    [
        ({"texts": ("(unclosed trouble",)}, "texts: '(unclosed trouble': not a regex: "),
        ({"texts": ("trouble .* here",)}, "an unbounded or too wide gap"),
        ({"texts": ("(?i)some trouble",)}, "not a regex in JavaScript"),
        ({"texts": ("x",)}, "fewer than 6 plain characters"),
    ],
)
def test_a_bad_pattern_of_a_message_is_named_with_its_line(monkeypatch, changed, problem):
    cause = cause_of("first", supports="x")
    monkeypatch.setattr(causes, "load", lambda: [group_of("A trouble", cause, **changed)])
    of_group, of_cause = explain.problems_of_groups()
    assert of_group.startswith(f"{causes.MESSAGES / causes.TRAINING}:1: 'A trouble': texts: ")
    assert problem in of_group
    assert "supports: 'x': fewer than 6 plain characters" in of_cause


@pytest.mark.parametrize(("text", "line"), TRACEBACKS)
def test_the_last_line_of_the_user_s_own_is_found(text, line):
    answer = explain.find(text, REPRODUCERS)[0]
    assert answer.line == line


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("a\nKeyError: 1\nb\nValueError: 2 of 3\nend", "ValueError: 2 of 3"),
        ("loss is nan", "loss is nan"),
        ("\n".join("abcdef"), ""),
        ("x" * 2000, ""),
        ("KeyError: " + "x" * 2000, "KeyError: " + "x" * 990),
        ("x\n" * 500_000 + "KeyError: 1\n" + "x\n" * 500_000, "KeyError: 1"),
    ],
    ids=range(6),
)
def test_the_last_error_is_what_a_guess_is_made_from(text, error):
    assert explain.look_up(text, REPRODUCERS).last_error == error


def test_what_two_streams_of_one_program_print_is_one_explanation():
    scans = [
        explain.scan(text, REPRODUCERS)
        for text in (f"RuntimeError: {NO_GRAD}\ntorch==2.4", f"UserWarning: {CHECKPOINT}", "")
    ]
    explanation = explain.explained(scans, REPRODUCERS)
    (answer,) = explanation.answers
    assert list(answer.named.values()) == [CHECKPOINT]
    assert (explanation.torch_version, explanation.blank) == ("2.4", False)


# --- additions of terminals and launchers ------------------------------------------------------


@pytest.mark.parametrize("text", LAYOUTS.values(), ids=LAYOUTS)
def test_what_a_terminal_or_a_launcher_adds_is_no_obstacle(text):
    assert first_ids(text) == [INFERENCE]


def test_curly_quotes_are_straight_ones():
    assert found(CURLY)[0][1] == CURLY.replace("\u2018", "'").replace("\u2019", "'")


def test_html_entities_are_the_characters_that_they_stand_for():
    assert found(HTML)[0][1] == HTML.replace("&nbsp;", " ").replace("&#39;", "'")


def test_a_symptom_in_a_quotation_or_a_fence_is_one_line():
    one = next(one for one in REPRODUCERS if one.symptom == "a prediction moved by")
    for text in (
        "> a prediction moved by 3",
        "```\na prediction moved by 3\n```",
        "+---+\n| a prediction moved by 3 |\n+---+",
    ):
        assert first_ids(text) == [one.id]


def test_what_is_matched_holds_no_escape_characters():
    text = "cannot pin 'torch\x1b[31m.cuda\x1b.\x1b' only dense CPU tensors can be pinned"
    assert "\x1b" not in found(text)[0][1]


# --- reading -----------------------------------------------------------------------------------

OOM = (
    "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 20.00 MiB. GPU 0 has a total capacity of 23.69 GiB of which"
    " 8.69 MiB is free. Including non-PyTorch memory, this process has 23.67 GiB memory in use. Of the allocated memory 23.02 GiB"
    " is allocated by PyTorch, and 367.57 MiB is reserved by PyTorch but unallocated."
)


def read(what, data=b""):
    return "".join(explain.read(what, io.BytesIO(data)))


@pytest.mark.parametrize(
    "text", [OOM, OOM.replace(" ", "/"), "a\0b", "x" * 5000, "\udc80", ".", "no/such/file"]
)
def test_what_cannot_be_the_name_of_a_file_is_text(text):
    assert read(text) == text.encode("utf-8", "replace").decode()


def test_an_out_of_memory_message_on_the_command_line_leads_to_its_causes():
    assert (
        "memory/cycles_exhaust_memory"
        in explain.find(explain.read(OOM, io.BytesIO()), REPRODUCERS)[0].ids
    )


def test_text_comes_as_argument_as_file_or_through_a_pipe(tmp_path):
    text = "ValueError: Attempting to unscale FP16 gradients."
    file = tmp_path / "crash.log"
    file.write_bytes(text.encode() + b"\n\xff\xfe not UTF-8")
    texts = [read(text), read(str(file)), read(None, text.encode()), read("-", text.encode())]
    assert [first_ids(text) for text in texts] == [["amp/unscale_fp16_parameters"]] * 4


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this platform has no named pipes")
def test_a_named_pipe_is_read_as_a_file_is(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = subprocess.Popen(
        [sys.executable, "-c", f"open({str(pipe)!r}, 'w').write('from a pipe')"]
    )
    try:
        assert read(str(pipe)) == "from a pipe"
    finally:
        writer.kill()  # the writer waits for a reader
        writer.wait()


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be"])
def test_what_powershell_writes_is_read(tmp_path, encoding):
    text = "\r\n".join(f"│ {line:<50} │" for line in WRAPPED)
    assert read(None, text.encode(encoding)) == text
    file = tmp_path / "crash.log"
    file.write_bytes(f"{text}\n".encode(encoding) * 3000)  # longer than one piece
    assert first_ids(explain.read(str(file), io.BytesIO())) == [INFERENCE]


def test_the_mark_at_the_start_of_utf_16_is_no_text():
    assert read(None, "\ufeffabc".encode("utf-16-be")) == "abc"


def test_a_log_that_a_crash_filled_with_nul_is_no_utf_16():
    assert read(None, b"\0" * 3000 + FP16.encode()).endswith(FP16)


def test_a_log_with_nul_at_every_kind_of_place_is_no_utf_16():
    # NUL at three in five of the even places, and at one in ten of the odd places
    padding = b"\0a\0a\0aaaaa" + b"\0a\0a\0aaaa\0"
    assert read(None, padding * 20 + FP16.encode()).endswith(FP16)


def test_a_character_on_the_border_of_two_pieces_is_whole():
    text = "x" * (explain.PIECE - 1) + "│ä"
    assert read(None, text.encode()) == text


def test_a_file_that_cannot_be_read_is_named(tmp_path, monkeypatch):
    def refused(*arguments, **options):
        raise PermissionError(13, "Permission denied")

    file = tmp_path / "crash.log"
    file.write_text("x")
    monkeypatch.setattr("builtins.open", refused)
    with pytest.raises(explain.ExplainError, match="crash.log: Permission denied"):
        explain.read(str(file), io.BytesIO())


@pytest.mark.parametrize(
    ("data", "blank"),
    [(b"", True), (b" \n\t\n", True), (b"\x1b[0m\n", True), (b"\xef\xbb\xbf", True), (b"x", False)],
)
def test_a_text_without_a_word_is_blank(data, blank):
    explanation = explain.look_up(explain.read(None, io.BytesIO(data)), REPRODUCERS)
    assert (explanation.answers, explanation.torch_version) == ([], None)
    assert explanation.blank == blank


# --- time and memory ---------------------------------------------------------------------------

MEGABYTE = 1_000_000
SIZE = 2**14  # characters
PINNED = "cannot pin 'torch.cuda.FloatTensor' only dense CPU tensors can be pinned"
FP16 = "ValueError: Attempting to unscale FP16 gradients. "
WORST = {
    "a message repeated on one line": FP16,
    "a message repeated on one line without a blank": "CUBLAS_STATUS_ALLOC_FAILED",
    "a message repeated, line by line": FP16 + "\n",
    "a wrapped message repeated": FP16.replace(" ", "\n"),
    "a warning repeated on one line": "UserWarning: None of the inputs have requires_grad=True. Gradients will be None ",
    "ranks": f"[rank0]: {FP16}\n[rank1]: {FP16}\n",
    "as many ranks as lines": "".join(f"[rank{number}]: x\n" for number in range(100_000)),
    "the beginning of a gap": "cannot pin '",
    "the beginning of a gap without blanks": f"{PINNED} " + "cannot pin '" * 80_000,
    "the beginning of another gap": f"NVML_SUCCESS == r INTERNAL ASSERT FAILED {'NVML_SUCCESS == ' * 60_000}",
    "a word with many ways to match": "'XOutput' object has no attribute 'items' "
    + ("'" + "output" * 10) * 16_000,
    "blanks": " ",
    "line breaks": "\n",
    "carriage returns": "\r",
    "short lines": "a\n",
    "one word": "x",
    "sides of boxes": "| ",
    "escape characters": "\x1b",
    "commands that do not end": "\x1b[",
    "links that do not end": "\x1b]8;;",
    "one link that does not end": "\x1b]" + "x" * MEGABYTE,
    "digits": "torch " + "1" * MEGABYTE,
    "names of torch": "torch torch.__version__ ",
    "launchers that do not end": "(x pid=1",
    "labels": "0: 1: 2: ",
    "bytes": bytes(range(256)).decode("latin-1"),
    "NUL": "\0",
}


def plain(pattern):
    """The text that the pattern matches literally, up to its first gap or alternative."""
    return re.split(r"[\[({]|\\[dws]", pattern)[0].replace("\\", "")


WORST |= {
    f"the beginning of {pattern}": f"{plain(pattern)} {max(explain.literals(pattern), key=len)} "
    for pattern in PATTERNS
    if re.search(r"[*+{]", pattern)  # other patterns are plain words
}


def test_the_time_for_a_text_grows_no_faster_than_the_text():
    """For 4 times the text, linear code takes about 3 times as long, quadratic code 16 times."""

    def is_linear(unit):
        text = unit * (4 * SIZE // len(unit) + 1)
        return seconds_of(text[: 4 * SIZE]) < 6 * seconds_of(text[:SIZE])

    assert [
        # later attempts compile no patterns, or are not interrupted
        name
        for name, unit in WORST.items()
        if not (is_linear(unit) or is_linear(unit) or is_linear(unit))
    ] == []


@settings(max_examples=60, deadline=None)
@given(
    st.lists(
        st.one_of(
            st.text(max_size=200),
            st.sampled_from(
                [*map(plain, PATTERNS), "'", "\x1b[", "\x1b]", "Warning", "[rank0]: ", "\n"]
            ),
        ),
        max_size=40,
    ),
    st.integers(1, 60),
)
def test_noise_is_read_in_no_time_and_never_raises(parts, times):
    text = ("".join(parts) * times)[:20_000]
    assert (
        # the second call does not compile patterns
        seconds_of(text) < 0.2 or seconds_of(text) < 0.2
    )


@settings(max_examples=60, deadline=None)
@given(st.binary(max_size=20_000), st.integers(1, 40))
def test_bytes_of_any_kind_are_read(data, times):
    data = (data * times)[:20_000]
    explain.find(explain.read(None, io.BytesIO(data)), REPRODUCERS)


RESOURCES = """\
import re, sys, time
from matrix import catalog
from matrix.explain import explain
reproducers = catalog.load()
started = time.process_time()
answers = explain.find(explain.read(None, sys.stdin.buffer), reproducers)
seconds = time.process_time() - started
peak = int(re.search(r"VmHWM:\\s+(\\d+)", open("/proc/self/status").read())[1])  # ru_maxrss would count the parent's pages
print(seconds, peak // 1024, [answer.ids for answer in answers])
"""
LOG = "2026-11-21 10:11:12 [INFO] train.py: epoch 3 step 1200 loss 0.1234 lr 1e-4, torch optimizer saved █ 🙂\n"


@pytest.mark.skipif(sys.platform != "linux", reason="the peak is read from /proc")
@pytest.mark.parametrize(
    ("line", "end"), [(LOG, FP16), (LOG.rstrip(), "")], ids=["in lines", "in one line, no match"]
)
def test_a_log_of_twenty_megabytes_needs_little_time_and_memory(tmp_path, line, end):
    log = tmp_path / "train.log"
    block = line.encode() * 10_000
    log.write_bytes(block * (20 * MEGABYTE // len(block) + 1) + end.encode())
    with log.open("rb") as stdin:
        program = [sys.executable, "-c", RESOURCES]
        done = subprocess.run(
            program, stdin=stdin, check=True, capture_output=True, text=True, cwd=catalog.ROOT
        )
    seconds, mebibytes, ids = done.stdout.split(maxsplit=2)
    assert float(seconds) < 20  # on a busy machine; quadratic time would be hours
    assert int(mebibytes) < 100  # 72 for any length; over 110 with the whole log in memory
    assert ids.strip() == str([["amp/unscale_fp16_parameters"]] if end else [])


def test_a_text_is_searched_once_however_many_patterns_there_are(monkeypatch):
    """Counts passes over the text and tried patterns instead of measuring time."""
    passes, tried = [], []

    class Counting:
        def __init__(self, texts):
            self.automaton = automaton(texts)

        def find_matches_as_indexes(self, text, overlapping):
            passes.append(len(text))
            return self.automaton.find_matches_as_indexes(text, overlapping=overlapping)

    automaton, compiled = ahocorasick_rs.AhoCorasick, explain._compiled
    monkeypatch.setattr(ahocorasick_rs, "AhoCorasick", Counting)
    monkeypatch.setattr(explain, "_compiled", lambda one: tried.append(one) or compiled(one))
    log = LOG * 5000 + FP16
    one = next(one for one in REPRODUCERS if one.id == "amp/unscale_fp16_parameters")
    counts = []
    for number in (0, 5000):
        changes = {"messages": tuple(f"a message of number {at} alone" for at in range(number))}
        many = type(one)(path=one.path, source=one.source, id="f/many", **{**one.header, **changes})
        passes.clear(), tried.clear()
        assert explain.find(log, [one, many])[0].ids == [one.id]
        counts.append((passes[:], sorted(tried)))  # the order depends on the hash seed
    assert counts[0] == counts[1]
    assert sum(passes) < 1.2 * len(log)


def test_what_is_tried_is_every_pattern_with_a_text_of_its_own_in_it():
    texts = [text for _, text in RECORDED] + [error["text"] for error in PUBLIC["error"]]
    index = explain.Index(PATTERNS)
    for text in (text.lower() for text in texts):
        expected = {
            one for one in PATTERNS if any(literal in text for literal in explain.literals(one))
        }
        assert set(index.likely(text)) == expected


def test_texts_that_overlap_are_all_found():
    index = explain.Index(["abcdef", "cdefgh", "bcdefg", "abcdefgh", "f+ unknown|abcdef", ".*"])
    assert set(index.likely("xabcdefghx")) == {
        "abcdef",
        "cdefgh",
        "bcdefg",
        "abcdefgh",
        "f+ unknown|abcdef",
        ".*",
    }
    assert set(index.likely("nothing")) == {".*"}


def copies_with_messages_of_their_own(count):
    with_messages = [reproducer for reproducer in REPRODUCERS if reproducer.messages]
    copies = []
    for number in range(count):
        copied = with_messages[number % len(with_messages)]
        changes = {
            "id": f"f/{number}",
            "messages": tuple(f"{message} number {number}" for message in copied.messages),
        }
        header = {**copied.header, **changes}
        copies.append(type(copied)(path=copied.path, source=copied.source, **header))
    return copies


def test_ten_times_the_reproducers_take_at_most_twenty_times_as_long():
    """Each copy has its own messages. A ratio is compared, as the machine may be slow or busy."""
    text = "RuntimeError: Inference tensors cannot be saved for backward number 77"
    seconds = {}
    for count in (1_000, 10_000):
        taken = []
        for _ in range(3):  # with new reproducers, because explain caches old ones
            copies = copies_with_messages_of_their_own(count)
            started = time.process_time()
            answers = explain.find(text, copies)
            taken.append(time.process_time() - started)
            assert all(answer.matched.endswith(("number 7", "number 77")) for answer in answers)
        seconds[count] = min(taken)
    assert seconds[10_000] < 20 * seconds[1_000]


def test_a_text_in_pieces_gets_the_answers_of_the_whole(monkeypatch):
    filler = [f"line {number} of a log, with torch" for number in range(40)]
    texts = (
        [text for _, text in RECORDED[::24]]
        + [error["text"] for error in PUBLIC["error"][::3]]
        + list(LAYOUTS.values())
    )
    texts += [f"x.py:1: UserWarning: {'x ' * 300}{text}" for text in texts[::5]]
    whole = [
        "\n".join([*filler, text, *filler, "UserWarning: " + text, *filler[:7]]) for text in texts
    ]
    whole += [text.replace("\n", " ") for text in whole]
    expected = [found(text) for text in whole]
    assert sum(map(bool, expected)) > 100
    monkeypatch.setattr(explain, "PIECE", 100)
    monkeypatch.setattr(explain, "OVERLAP", 2000)
    monkeypatch.setattr(explain, "TRACEBACK", 1000)
    assert [found(text) for text in whole] == expected


def test_no_message_goes_on_in_the_lines_of_another_process():
    message = "Inference tensors cannot be{}saved for backward"
    assert found(message.format("\n"))
    assert found(message.format("\n[rank0]: ")) == []
    assert found("[rank1]: " + message.format("\n[rank0]: noise\n[rank1]: "))


def test_a_warning_on_a_line_of_many_pieces_remains_one(monkeypatch):
    monkeypatch.setattr(explain, "PIECE", 100)
    monkeypatch.setattr(explain, "OVERLAP", 2000)
    monkeypatch.setattr(explain, "TRACEBACK", 1000)
    warning = f"UserWarning: {'x ' * 300}None of the inputs have requires_grad=True. Gradients will be None "
    assert first_ids(FP16 + warning + "y " * 3000) == ["amp/unscale_fp16_parameters"]


# --- patterns ----------------------------------------------------------------------------------


def test_no_header_has_a_pattern_that_makes_explain_slow():
    assert [line for reproducer in REPRODUCERS for line in explain.problems(reproducer)] == []


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        (
            {"messages": ("cannot pin '.*' only",)},
            "messages: \"cannot pin '.*' only\": an unbounded or too wide gap",
        ),
        ({"messages": ("cannot pin [^x]+ only",)}, "unbounded"),
        ({"messages": (r"cannot pin \d{3,} only",)}, "unbounded"),
        ({"messages": ("cannot pin (a|b)* only",)}, "unbounded"),
        ({"messages": ("cannot pin .{0,100} only .{0,100}",)}, "too wide"),
        ({"messages": ("(cannot pin|only dense)",)}, "fewer than 6 plain characters"),
        ({"messages": ("cannot pin|only",)}, "fewer than 6 plain characters"),
        ({"messages": ("(?i)cannot pin",)}, "'(?i)cannot pin': not a regex in JavaScript"),
        ({"messages": (r"cannot pin\Z",)}, "not a regex in JavaScript"),
        ({"symptom": "(?P<name>a)"}, "symptom: '(?P<name>a)': not a regex in JavaScript"),
        ({"symptom": "(a+)+$"}, "symptom: '(a+)+$': a repeated group"),
        ({"symptom": "a.*b.*c.*d"}, "more than two unbounded gaps"),
    ],
)
def test_a_slow_pattern_is_named_with_its_line(changes, problem):
    one = REPRODUCERS[0]
    wrong = explain.problems(
        type(one)(path=one.path, source=one.source, id=one.id, **{**one.header, **changes})
    )
    assert len(wrong) == 1
    assert wrong[0].startswith(f"{one.path}:{one.line_of(*changes)}: ")
    assert problem in wrong[0]


@pytest.mark.parametrize(
    "pattern",
    [
        r"cannot pin \(.\*\) [*+]",
        "cannot pin .{0,200}?",
        "(cannot|never) pin tensors",
        "(?:cannot|never) pin all (?=tensors)(?!x)(?<= )(?<!y)",
        r"out of \w{1,9}",
    ],
)
def test_bounded_gaps_and_escaped_signs_are_no_problem(pattern):
    one = REPRODUCERS[0]
    header = {**one.header, "messages": (pattern,)}
    assert explain.problems(type(one)(path=one.path, source=one.source, id=one.id, **header)) == []


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("plain Text", ("plain text",)),
        (r"a\(\)b\.c", ("a()b.c",)),
        ("colou?r of x", ("r of x",)),
        ("colours? of", ("colour",)),
        ("abc+d", ("abc",)),
        ("ab{0,2}cde", ("cde",)),
        ("one|three", ("one", "three")),
        ("x(one|three) memory", (" memory",)),
        ("(one|three)", ("",)),
        (r"number \d+ of", ("number ",)),
        ("[a]bc]de", ("bc]de",)),
        ("[]a]bc", ("bc",)),
        (r"[\]x]yz", ("yz",)),
    ],
)
def test_literals_are_what_every_match_contains(pattern, expected):
    assert explain.literals(pattern) == expected


def test_literals_of_headers_leave_no_match_out():
    """Tries patterns on texts of their own reproducer; trying all pairs would take a minute."""
    texts = defaultdict(list)
    for id, text in [*RECORDED, *((error["expected"], error["text"]) for error in PUBLIC["error"])]:
        texts[id].append(text)
    matches = 0
    for reproducer in REPRODUCERS:
        for pattern in (*reproducer.messages, *reproducer.elsewhere, reproducer.symptom):
            for text in texts[reproducer.id]:
                if match := re.search(pattern, text, re.IGNORECASE):
                    matches += 1
                    literals = explain.literals(pattern)
                    assert any(literal in match.group().lower() for literal in literals)
    assert matches > 300


def test_the_page_gets_what_it_needs_as_json():
    assert json.loads(json.dumps(explain.JS_DATA)) == explain.JS_DATA


def test_all_the_literals_of_a_text_are_found_without_the_compiled_search(monkeypatch):
    text = " ".join(plain(pattern) for pattern in PATTERNS)
    found = explain.scan(text, catalog.load()).found
    monkeypatch.setitem(sys.modules, "ahocorasick_rs", None)
    assert explain.scan(text, catalog.load()).found == found
    assert len(found) > 100
