import sys

import pytest
from click.testing import CliRunner
from planted import processor_seconds

from matrix import catalog, cli, explain, lookup, records

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ENTRIES = catalog.load()
PUBLIC = tomllib.loads(
    (catalog.ROOT / "tests" / "matrix" / "public_errors.toml").read_text(encoding="utf-8")
)
RECORDED = sorted(
    {
        (id, found.text)
        for cell in records.load()
        for id, found in cell.entries.items()
        if found.text
    }
)


def explained(*arguments, **options):
    return CliRunner().invoke(cli.main, ["explain", *arguments], **options)


@pytest.mark.parametrize(("id", "text"), RECORDED)
def test_every_text_that_was_recorded_on_any_torch_leads_to_its_reproducer(id, text):
    top = explain.find(text, ENTRIES)[0]
    assert id in top.ids
    assert len(top.ids) == 1 or top.causes  # several only where one message has several causes


@pytest.mark.parametrize(
    "error", PUBLIC["error"], ids=lambda error: error["url"].removeprefix("https://github.com/")
)
def test_texts_of_public_reports_lead_to_their_reproducer(error):
    answers = explain.find(error["text"], ENTRIES)
    assert answers
    assert error["expected"] in answers[0].ids


def test_there_are_enough_public_texts():
    assert len({error["url"] for error in PUBLIC["error"]}) >= 40
    assert len(PUBLIC["unrelated"]) >= 20


@pytest.mark.parametrize("error", PUBLIC["unrelated"], ids=lambda error: error["text"][:50])
def test_other_errors_get_no_answer(error):
    assert explain.find(error["text"], ENTRIES) == []
    result = explained(error["text"])
    assert result.exit_code == 1
    assert "Nothing here fits" in result.output


def test_a_message_with_several_causes_gets_a_list_of_checks_in_its_order():
    result = explained(
        "RuntimeError: element 0 of tensors does not require grad and does not have a grad_fn",
        "--torch",
        "2.4.1",
    )
    assert result.exit_code == 0
    places = [result.output.index(cause["cause"]) for cause in explain.causes()[0]["causes"]]
    assert places == sorted(places)
    assert (
        "amp/autocast_cache_under_no_grad: on torch 2.4 measured: cpu reproduced, cuda unknown"
        in result.output
    )
    assert "torch-repros vendor amp --into DIR" in result.output


def test_a_single_cause_is_shown_with_control_what_does_not_help_and_cure():
    result = explained(
        "RuntimeError: unscale_() has already been called on this optimizer since the last update().\nPyTorch version: 2.5.1"
    )
    assert (
        "matched: unscale_() has already been called on this optimizer since the last update()"
        in result.output
    )
    assert "amp/unscale_twice: on torch 2.5 measured: cpu reproduced" in result.output
    assert "lambda scaler, optimizer: scaler.update()" in result.output  # the control
    assert "Does not help:" in result.output
    assert "lambda scaler, optimizer: optimizer.zero_grad()" in result.output
    assert (
        "cure: train_epoch() of reference_fixes/amp.py: torch-repros vendor amp --into DIR"
        in result.output
    )


@pytest.mark.parametrize(
    ("text", "version"),
    [
        ("PyTorch version: 2.4.1+cu121", "2.4.1"),
        ("- PyTorch version (GPU?): 2.3.1 (False)", None),
        ("torch==2.0.1", "2.0.1"),
        ("torch 2.10", "2.10"),
        (">>> torch.__version__\n'2.5.1'", "2.5.1"),
        ("site-packages/torch/utils/checkpoint.py:87", None),
        ("torchvision 0.15.2", None),
        ("no version", None),
    ],
)
def test_the_torch_version_is_taken_from_the_text(text, version):
    assert explain.torch_version(text) == version


def test_a_torch_that_nobody_measured_is_said_to_be_outside():
    result = explained("Attempting to unscale FP16 gradients", "--torch", "1.9.0")
    assert "torch 1.9.0 is outside of what was measured (1.13 to" in result.output


def test_an_error_counts_more_than_a_warning_above_it():
    text = (
        "checkpoint.py:87: UserWarning: None of the inputs have requires_grad=True. Gradients will be None\n"
        "ValueError: Attempting to unscale FP16 gradients."
    )
    answers = explain.find(text, ENTRIES)
    assert [answer.ids[0] == "amp/unscale_fp16_parameters" for answer in answers] == [True, False]


@pytest.mark.parametrize(
    "text",
    [
        "│ RuntimeError: Inference tensors cannot be saved for │\n│ backward. Please do not use Tensors created in      │",
        "\x1b[31mRuntimeError\x1b[0m: Inference tensors \x1b[1mcannot\x1b[0m be saved for backward",
    ],
)
def test_boxes_and_colours_of_terminals_are_no_obstacle(text):
    assert explain.find(text, ENTRIES)[0].ids == ["rnn/inference_mode_caches_a_table"]


def test_text_comes_as_argument_as_file_or_through_a_pipe(tmp_path):
    text = "ValueError: Attempting to unscale FP16 gradients."
    file = tmp_path / "crash.log"
    file.write_bytes(text.encode() + b"\n\xff\xfe not UTF-8")
    outputs = [
        explained(text).output,
        explained(str(file)).output,
        explained(input=text).output,
        explained("-", input=text).output,
    ]
    assert all("amp/unscale_fp16_parameters" in output for output in outputs)


@pytest.mark.parametrize("arguments", [(), ("",), ("  \n",)])
def test_nothing_to_explain_is_wrong_usage(arguments):
    result = explained(*arguments, input="")
    assert result.exit_code == 2
    assert "nothing to explain" in result.output


def test_an_id_prints_the_whole_page():
    result = explained("amp/autocast_cache_under_no_grad")
    assert result.exit_code == 0
    for part in (
        "def reproduce(device)",
        "def control(device)",
        "absent on 2.11",
        "reported: https://github.com/pytorch/pytorch/issues",
    ):
        assert part in result.output


def test_explain_is_fast_and_needs_no_torch():
    assert processor_seconds("explain", "Attempting to unscale FP16 gradients") < 0.3


def test_causes_that_do_not_add_up_are_found(monkeypatch):
    assert explain.mistakes(ENTRIES) == []
    monkeypatch.setattr(
        explain,
        "causes",
        lambda: [
            {
                "title": "a",
                "causes": [
                    {"cause": "x", "check": "y", "see": "amp/no_such"},
                    {"cause": "x", "check": ""},
                ],
            },
            {
                "title": "b",
                "causes": [{"cause": "x", "check": "y", "see": "amp/unscale_twice"}] * 2,
            },
        ],
    )
    found = "\n".join(explain.mistakes(ENTRIES))
    for text in (
        "no reproducer 'amp/no_such'",
        "a cause without",
        "stands under 'b' and under 'b'",
        "share the message",
    ):
        assert text in found


SYMPTOMS = {
    "loss stays constant": "loss/mismatch_zero_is_silent",
    "loss does not decrease": "loss/rewrapped_in_a_tensor",
    "model is not learning": "loss/mismatch_zero_is_silent",
    "validation loss 0.0000": "loss/empty_validation_is_zero",
    "same random augmentation in every worker": "data_loading/worker_generators_are_clones",
    "memory grows every step": "memory/loss_history_keeps_graph",
    "gradient clipping has no effect": "numerics/clip_exhausted_generator",
    "accuracy drops after predict": "rnn/predict_leaves_eval_mode",
    "duplicate samples with two workers": "data_loading/iterable_dataset_duplicates",
    "best checkpoint equals last weights": "numerics/best_state_is_an_alias",
    "nan predictions after early stopping": "numerics/early_stopping_reports_nan",
    "bfloat16 weights do not change": "numerics/fused_sgd_skips_low_precision_191763",
    "saliency differs at every call": "rnn/train_mode_saliency_is_random",
    "nan in eval mode only": "numerics/one_batch_poisons_batchnorm",
    "gradient accumulation loss too small": "amp/accumulated_loss_is_divided",
    "training very slow with mixed precision": "amp/unscale_divides_by_65536",
    "frozen layers change": "rnn/train_mode_restore_unfreezes",
    "loss explodes to nan": "numerics/sgd_explosion",
    "pin_memory makes no difference": "data_loading/pinning_is_silently_off",
}


@pytest.mark.parametrize(("words", "id"), SYMPTOMS.items())
def test_silent_failures_are_found_by_their_symptom(words, id):
    assert id in [entry.id for entry in lookup.search(words, ENTRIES)[:5]]


@pytest.mark.parametrize("words", ["the of and", "!!! ???", '" OR title:', "xyzzy"])
def test_words_that_find_nothing_say_so(words):
    result = CliRunner().invoke(cli.main, ["search", words])
    assert result.exit_code == 1, result.output
