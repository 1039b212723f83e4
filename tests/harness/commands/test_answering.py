import io
import json
import re

import pytest

from matrix import catalog, causes
from matrix.commands import answering
from matrix.explain import execution
from tests.harness.helpers import AT_ONCE, call, relative_cost
from tests.harness.pasted import CHECKPOINT, NAMED, READ, TRACEBACKS

NO_GRAD = "RuntimeError: element 0 of tensors does not require grad and does not have a grad_fn"
UNSCALED = "ValueError: Attempting to unscale FP16 gradients."


def test_a_message_with_several_causes_gets_a_list_of_checks_in_its_order():
    result = call("explain", NO_GRAD, "--torch", "2.4.1")
    assert result.exit_code == 0
    listed = causes.load()[0].causes
    shown = re.findall(r"^ (\d+)\. (.*)$", result.output, re.M)
    assert shown == [(str(at), each.cause) for at, each in enumerate(listed, 1)][: len(shown)]
    assert len(shown) > 4
    assert f"... and {len(listed) - len(shown)} more" in result.output
    assert (
        "The text alone does not show the cause. Check these, most likely first:" in result.output
    )
    assert listed[2].check in result.output
    assert listed[3].check not in result.output
    everything = call("explain", "--all", NO_GRAD, "--torch", "2.4.1").output
    assert all(each.check in everything for each in listed)
    line = "amp/autocast_cache_under_no_grad: on torch 2.4: cpu reproduced (measured 20"
    assert line in everything
    assert "cuda affected (expected, not measured)" in everything
    assert "torch-repros vendor amp --into DIR" in everything


def test_causes_that_this_torch_does_not_have_come_last():
    first = causes.load()[0].causes
    old, new = (
        call("explain", "--all", NO_GRAD, "--torch", version).output
        for version in ("2.4.1", "2.15.0")
    )
    cache = next(each for each in first if each.see == "amp/autocast_cache_under_no_grad")
    assert f" {first.index(cache) + 1}. {cache.cause}" in old
    assert f" {len(first)}. {cache.cause}" in new


def test_a_message_with_one_cause_gets_its_right_lines_its_fix_and_on_request_its_control():
    message = "unscale_() has already been called on this optimizer since the last update()"
    crash = f"RuntimeError: {message}.\nPyTorch version: 2.5.1"
    output = call("explain", crash).output
    assert f"matched: {message}" in output
    assert "amp/unscale_twice: on torch 2.5: cpu reproduced (measured 20" in output
    assert "\nRight:\n    " in output
    assert "\nWhy: " in output
    vendor = "reference_fixes/amp.py: torch-repros vendor amp --into DIR"
    assert f"fix: optimizer_step() of {vendor}" in output
    control = "        if (i + 1) % WINDOW == 0 or i + 1 == len(loader):"
    assert control not in output
    assert control in call("explain", "--all", crash).output


def test_the_torch_that_is_given_counts_more_than_the_one_in_the_text():
    result = call("explain", f"{UNSCALED}\nPyTorch version: 2.5.1", "--torch", "2.6")
    assert "on torch 2.6: " in result.output
    assert "2.5" not in result.output


def test_control_characters_of_a_log_are_shown_and_not_obeyed(tmp_path):
    log = tmp_path / "crash.log"
    log.write_text(
        'Traceback (most recent call last):\n  File "tr\x9b31m\x08ain\u202e.py", line 3, in <module>\n'
        + UNSCALED
    )
    shown = call("explain", log).output
    assert r"your line: tr\x9b31m\x08ain\u202e.py:3" in shown
    refused = call("explain", tmp_path / "a\x1b]0;x\x07\u202e.log").output
    assert r"a\x1b]0;x\x07\u202e.log" in refused
    assert not set("\x9b\x08\u202e\x1b\x07") & set(shown + refused)


def test_a_text_that_nothing_fits_is_told_so():
    result = call("explain", "IndexError: list index out of range")
    assert result.exit_code == 1
    assert "No known failure matches this text." in result.output
    assert "issues/new?template=wrong_answer.yml" in result.output
    assert "torch-repros search" not in result.output  # that is for failures without an error
    assert "torch-repros search" in call("explain", "epoch 1\nit trains slowly\n").output


def test_a_mistyped_id_is_told_what_it_may_have_been():
    result = call("explain", "amp/unscale_befor")
    assert result.exit_code == 1
    assert "did you mean amp/unscale_before_scale" in result.output


@pytest.mark.parametrize("name", ["missing.log", "logs/missing", "C:\\logs\\crash.txt"])
def test_a_file_that_is_not_there_is_told_so(name):
    result = call("explain", name)
    assert result.exit_code == 1
    assert result.output.startswith(f"There is no file or reproducer {name!r}; ")
    assert "did you mean" in result.output or answering.PIPED in result.output


def test_a_mistyped_file_is_told_what_it_may_have_been(tmp_path):
    (tmp_path / "crash.log").write_text("x")
    result = call("explain", tmp_path / "crahs.log")
    assert result.exit_code == 1
    assert f"did you mean {tmp_path / 'crash.log'}?" in result.output


def test_an_id_without_its_family_is_told_what_it_may_have_been():
    result = call("explain", "unscale_twice")
    assert result.exit_code == 1
    assert "did you mean amp/unscale_twice" in result.output


def find(monkeypatch, count):
    """Makes every search find the first `count` reproducers; returns the list of queries."""
    found = [answering.searching.Found(one.title, [one], []) for one in catalog.load()[:count]]
    asked = []
    monkeypatch.setattr(
        answering.searching.Index, "search", lambda self, query: asked.append(query) or found
    )
    return asked


def test_where_nothing_fits_at_most_three_guesses_are_made_and_marked(monkeypatch):
    asked = find(monkeypatch, 5)
    result = call("explain", "step 1\nKeyError: 'a loss of its own'\nbye\n")
    assert asked == ["KeyError: 'a loss of its own'"]
    assert result.exit_code == 1
    guessed = result.output.split("The closest entries by their words (guesses):\n")[1].splitlines()
    assert [line[:2] for line in guessed[:4]] == ["  ", "  ", "  ", "Re"]
    asked.clear()
    assert call("explain", UNSCALED).exit_code == 0
    assert call("explain", "missing.log").exit_code == 1  # a hint instead of a guess
    assert asked == []


def test_where_search_finds_nothing_close_nothing_is_guessed(monkeypatch):
    find(monkeypatch, 0)
    result = call("explain", "KeyError: 1")
    assert "guess" not in result.output
    assert "No known failure matches this text." in result.output


def test_the_user_s_line_and_the_numbers_are_shown():
    result = call("explain", f"{TRACEBACKS[0][0]}\n{READ[0][0]}")
    assert "your line: train.py:12" in result.output
    assert "its numbers: fragmentation: " in result.output
    result = call(
        "explain",
        "expects each tensor to be equal size, but got [17] at entry 0 and [9] at entry 1 xyzzy",
    )
    assert "sample 1 differs from sample 0 in dim 0" in result.output


def test_the_cause_that_the_text_names_is_marked():
    result = call("explain", NAMED[0])
    assert (
        result.output.index("Check these causes. The text points to the first:")
        < result.output.index("1. reentrant checkpointing")
        < result.output.index(f"the text points to this cause: {CHECKPOINT}")
        < result.output.index(" 2. ")
    )


CAUSE_KEYS = {
    "cause",
    "check",
    "see",
    "source",
    "supports",
    "excludes",
    "likely",
    "wrong",
    "right",
    "requires",
    "named_by",
}
REPRODUCER_KEYS = {"id", "title", "kind", "wrong", "right", "fix", "affected", "on_torch"} | {
    "right_requires",
    "use",
    "choice",
    "text",
}


def test_the_keys_of_the_json_are_a_promise():
    result = call("explain", "--json", f"{NAMED[0]}\nPyTorch version: 2.4.1")
    assert result.exit_code == 0
    found = json.loads(result.output)
    assert set(found) == {"format", "torch", "readings", "answers", "guesses"}
    assert (found["format"], found["torch"]) == (1, "2.4.1")
    (answer,) = found["answers"]
    keys = {"title", "page", "was_raised", "matched", "line", "ids", "causes", "reproducers"}
    assert set(answer) == keys
    assert answer["page"] == f"messages/{causes.load()[0].name}.html"
    assert answer["was_raised"] is True
    assert all(set(cause) == CAUSE_KEYS for cause in answer["causes"])
    assert answer["causes"][0]["named_by"] == CHECKPOINT
    assert [one["id"] for one in answer["reproducers"]] == answer["ids"]
    for one in answer["reproducers"]:
        assert set(one) == REPRODUCER_KEYS
        assert set(one["on_torch"]) == set(one["affected"])
        assert set(one["on_torch"]["cpu"]) == {"state", "date", "expected"}
    help_text = call("explain", "--help").output
    documented = CAUSE_KEYS | REPRODUCER_KEYS | set(found) | set(answer) | {"state", "date"}
    assert all(key in help_text for key in documented)


def test_the_json_of_what_nothing_fits_has_the_guesses_and_status_1(monkeypatch):
    find(monkeypatch, 2)
    result = call("explain", "--json", READ[-1][0].replace("match", "meet") + "\nOddError: 1")
    assert result.exit_code == 1
    found = json.loads(result.output)
    assert (found["answers"], found["torch"]) == ([], None)
    assert [set(one) for one in found["guesses"]] == [{"ids", "title"}] * 2


def test_the_json_of_an_id_is_its_own():
    found = json.loads(call("explain", "--json", "amp/unscale_twice", "--torch", "2.5").output)
    assert [answer["ids"] for answer in found["answers"]] == [["amp/unscale_twice"]]


def test_exec_without_a_program_is_wrong_usage():
    result = call("exec")
    assert result.exit_code == 2
    assert "name a program" in result.output


def test_exec_takes_no_option_of_the_program_for_its_own(tmp_path, monkeypatch):
    ran = []
    ended = execution.Ended(0, [], interrupted=False)
    monkeypatch.setattr(execution, "run", lambda command, *_: ran.append(command) or ended)
    arguments = ["python", "train.py", "--json", "x", "--torch", "y", "--help", "--"]
    assert call("exec", *arguments).exit_code == 0
    assert call("exec", "--", *arguments).exit_code == 0
    assert ran == [arguments, arguments]


def test_exec_writes_the_json_of_explain(tmp_path, monkeypatch):
    def run(command, reproducers, environment):
        scans = [answering.explaining.scan(UNSCALED, reproducers)]
        return execution.Ended(3, scans, interrupted=False)

    monkeypatch.setattr(execution, "run", run)
    result = call("exec", "--json", tmp_path / "x.json", "python", "train.py")
    assert result.exit_code == 3
    assert "amp/unscale_fp16_parameters" in result.output
    found = json.loads((tmp_path / "x.json").read_text(encoding="utf-8"))
    assert found == json.loads(call("explain", "--json", UNSCALED).output)


def test_a_folder_is_told_to_be_one(tmp_path):
    result = call("explain", tmp_path)
    assert result.exit_code == 1
    assert f"{tmp_path} is a folder; name a file in it." in result.output
    assert "did you mean" not in result.output


def test_text_comes_as_an_argument_as_a_file_or_through_a_pipe(tmp_path):
    file = tmp_path / "crash.log"
    file.write_bytes(UNSCALED.encode() + b"\n\xff\xfe not UTF-8")
    outputs = [
        call("explain", UNSCALED).output,
        call("explain", file).output,
        call("explain", input=UNSCALED).output,
        call("explain", "-", input=UNSCALED).output,
    ]
    assert all("amp/unscale_fp16_parameters" in output for output in outputs)


def test_a_message_longer_than_a_file_name_may_be_is_a_message():
    text = (
        "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 20.00 MiB. GPU 0 has a total capacity of "
        "79.10 GiB of which 5.88 MiB is free. Process 12345 has 79.08 GiB memory in use. Of the allocated memory "
        "77.81 GiB is allocated by PyTorch, and 777.77 MiB is reserved by PyTorch but unallocated."
    )
    assert len(text) > 255
    result = call("explain", text)
    assert result.exit_code == 0, result.output
    assert "out of memory" in result.output


@pytest.mark.parametrize("arguments", [(), ("",), ("  \n",)])
def test_nothing_to_explain_is_wrong_usage(arguments):
    result = call("explain", *arguments, input="")
    assert result.exit_code == 2
    assert "nothing to explain" in result.output


def test_explain_without_text_in_a_terminal_says_what_to_pass(monkeypatch):
    class Terminal(io.StringIO):
        def isatty(self):
            return True

    monkeypatch.setattr(answering.sys, "stdin", Terminal())
    with pytest.raises(
        answering.click.UsageError, match="name a file, or pipe a program's output in: `python"
    ):
        answering._explanation(None, [])


def test_explain_is_fast_and_needs_no_torch():
    assert relative_cost("explain", "Attempting to unscale FP16 gradients") < AT_ONCE


def test_search_lists_titles_and_fixes_best_first():
    result = call("search", "loss stays constant")
    assert result.exit_code == 0
    assert "loss/mismatch_zero_is_silent" in result.output
    assert "fix: " in result.output


def test_no_more_answers_than_wanted_are_listed():
    words = "resume training repeats the same batches"
    assert call("search", words).output.count("  fix: ") > 1
    assert call("search", words, "--limit", "1").output.count("  fix: ") == 1


def test_what_does_not_fit_is_marked_as_a_guess():
    result = call("search", "the fan of my laptop is as loud as a vacuum cleaner")
    assert result.exit_code == 1
    assert result.output.startswith(
        "Nothing here fits these words.\nThe closest entries by their words"
    )
    assert result.output.count("  fix: ") <= answering.GUESSES
    assert "(this is it)" not in result.output
    assert "(perhaps)" not in result.output
    assert call("search", "xyzzy").output == (
        "Nothing here fits these words.\n\n"
        "`torch-repros diagnose` lists what to check for a vague symptom.\n"
    )


def test_the_text_of_an_error_is_answered_as_by_explain():
    result = call("search", UNSCALED)
    assert result.exit_code == 0
    assert "amp/unscale_fp16_parameters" in result.output
    assert f"torch-repros explain '{UNSCALED}'" in result.output
