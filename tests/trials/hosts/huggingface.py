"""Cases for transformers and peft: callbacks and overrides of Trainer, and LoRA adapters."""

from __future__ import annotations

import tempfile
from typing import Any

import torch

from reference_fixes import data_loading, loss, numerics, rnn
from tests.trials.hosts.case import case, expect, modes, raised, same, weights


def gpt2() -> Any:
    from transformers import GPT2Config, GPT2LMHeadModel

    torch.manual_seed(0)
    sizes = {"n_layer": 2, "n_head": 2, "n_embd": 8, "n_positions": 8, "vocab_size": 16}
    return GPT2LMHeadModel(GPT2Config(**sizes, bos_token_id=0, eos_token_id=0))


def adapted() -> Any:
    from peft import LoraConfig, get_peft_model

    torch.manual_seed(0)
    config = LoraConfig(r=2, target_modules=["c_attn"], lora_dropout=0.5, fan_in_fan_out=True)
    model = get_peft_model(gpt2(), config)
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if "lora_B" in name:  # initially zero, so the adapters would have no effect
                parameter.normal_()
    return model


def tokens(count: int = 4, ignored: int = 0) -> list[dict[str, torch.Tensor]]:
    """Rows of five tokens; the first `ignored` labels of each row do not count."""
    generator = torch.Generator().manual_seed(1)
    ids = torch.randint(16, (count, 5), generator=generator)
    labels = torch.where(torch.arange(5) < ignored, -100, ids)
    return [{"input_ids": row, "labels": label} for row, label in zip(ids, labels)]


def batch(**options: int) -> dict[str, torch.Tensor]:
    rows = tokens(**options)
    return {name: torch.stack([row[name] for row in rows]) for name in rows[0]}


def train(model: Any, rows: Any, *callbacks: Any, trainer: Any = None, **options: Any) -> Any:
    from transformers import Trainer, TrainingArguments

    with tempfile.TemporaryDirectory() as folder:
        arguments = TrainingArguments(
            folder,
            per_device_train_batch_size=2,
            num_train_epochs=1,
            learning_rate=0.01,
            use_cpu=True,
            save_strategy="no",
            report_to="none",
            disable_tqdm=True,
            **options,
        )
        run = (trainer or Trainer)(model, arguments, train_dataset=rows, callbacks=list(callbacks))
        run.train()
    return run


def callback(**hooks: Any) -> Any:
    from transformers import TrainerCallback

    return type("Callback", (TrainerCallback,), hooks)()


@case(
    "peft",
    "rnn.no_grad_eval, rnn.restore_modes",
    "LoRA, merged or not: merged state, weights and the mode of every module do not change",
)
def lora_modes() -> None:
    from peft.tuners.lora import LoraLayer

    ids = batch()["input_ids"]
    for merged in (False, True):
        model = adapted()
        if merged:
            model.merge_adapter()
        model.base_model.model.transformer.h[0].eval()  # a frozen part
        layers = [module for module in model.modules() if isinstance(module, LoraLayer)]
        expect(len(layers) == 2, f"{len(layers)} LoRA layers")
        before = modes(model), weights(model)
        with rnn.no_grad_eval(model):
            expect(not any(modes(model)), "not in eval mode")
            output = model(ids).logits
        with rnn.restore_modes(model):
            model.eval()
        expect(modes(model) == before[0], "modes changed")
        expect(weights(model).equal(before[1]), "weights changed")
        expect(all(layer.merged == merged for layer in layers), "merged or unmerged")
        expect(not output.requires_grad, "the output has a graph")
        same("output", output, model.eval()(ids).logits.detach())


@case(
    "peft",
    "rnn.input_gradients",
    "LoRA: gradients of the embedded input equal those of torch in eval mode",
    alone="in training mode, dropout changes them",
)
def lora_input_gradients() -> None:
    model = adapted()
    embedded = model.get_input_embeddings()(batch()["input_ids"]).detach()
    found, *_ = rnn.input_gradients(
        model, inputs_embeds=embedded, target=lambda output: output.logits.square().sum()
    )
    expect(all(modes(model)), "modes changed")
    for training in (False, True):
        leaf = embedded.clone().requires_grad_()
        output = model.train(training)(inputs_embeds=leaf).logits.square().sum()
        (expected,) = torch.autograd.grad(output, leaf)
        if training:
            expect(not torch.allclose(found, expected), "alone: they are the same")
        else:
            same("gradients", found, expected)
    expect(all(parameter.grad is None for parameter in model.parameters()), "weights got gradients")


@case(
    "peft",
    "loss.check_gradients",
    "LoRA that starts at zero passes, and passes again after B has changed",
)
def lora_check_gradients() -> None:
    from peft import LoraConfig, get_peft_model

    checked = []

    def on_pre_optimizer_step(self: Any, *_: Any, model: Any, **others: Any) -> None:
        loss.check_gradients(model)
        checked.append({bool(p.any()) for n, p in model.named_parameters() if "lora_B" in n})

    config = LoraConfig(r=2, target_modules=["c_attn"], fan_in_fan_out=True)
    model = get_peft_model(gpt2(), config)
    train(model, tokens(), callback(on_pre_optimizer_step=on_pre_optimizer_step))
    expect(checked == [{False}, {True}], f"steps checked: {checked}")


@case(
    "transformers",
    "loss.check_gradients",
    "Trainer, callback `on_pre_optimizer_step`: an adapter that the loss does not reach is named",
    alone="trains without a warning",
)
def trainer_check_gradients() -> None:
    def model() -> Any:
        adapter = adapted()
        adapter.base_model.model.unused = torch.nn.Linear(1, 1)
        return adapter

    def on_pre_optimizer_step(self: Any, *_: Any, model: Any, **others: Any) -> None:
        loss.check_gradients(model)

    checking = callback(on_pre_optimizer_step=on_pre_optimizer_step)
    error = raised(lambda: train(model(), tokens(), checking))
    name = "base_model.model.unused"
    text = f"GradientError: no gradient: {name}.weight, {name}.bias"
    expect(error == text, f"check_gradients: {error or 'nothing raised'}")
    train(adapted(), tokens(), checking)
    expect(train(model(), tokens()).state.global_step == 2, "alone: it did not train")


class Breaks:
    """Makes the loss of the second step infinite."""

    calls = 0

    def compute_loss(self, model: Any, inputs: Any, *others: Any, **named: Any) -> Any:
        self.calls += 1
        outputs = model(**inputs)
        return outputs.loss * (torch.inf if self.calls == 2 else 1.0)


@case(
    "transformers",
    "numerics.Snapshot, numerics.find_nonfinite",
    "Trainer, callback `on_step_end`: the weight that an inf loss broke is named; everything is restored",
    alone="`max_grad_norm` makes the weights NaN, and training continues",
)
def trainer_snapshot() -> None:
    from transformers import Trainer

    breaks = type("Breaking", (Breaks, Trainer), {})
    found: list[str | None] = []
    good: list[Any] = []

    def on_step_end(self: Any, *_: Any, model: Any, optimizer: Any, **others: Any) -> None:
        found.append(numerics.find_nonfinite(model, **batch()))
        if found[-1] is None:
            good[:] = [numerics.Snapshot(model, optimizer), weights(model)]
        else:
            good[0].restore()
            expect(weights(model).equal(good[1]), "not restored")

    model = adapted()
    run = train(model, tokens(6), callback(on_step_end=on_step_end), trainer=breaks)
    expect(run.state.global_step == 3, f"{run.state.global_step} steps")
    states = [text and text.split("'")[0] for text in found]
    expect(states == [None, "parameter ", None], f"find_nonfinite: {found}")
    expect(weights(model).isfinite().all(), "weights are not finite")
    expect(not weights(model).equal(weights(adapted())), "nothing was trained")
    model = adapted()
    train(model, tokens(6), trainer=breaks)
    expect(weights(model).isnan().any(), "alone: the weights are finite")


@case(
    "transformers",
    "loss.masked_mean, loss.match_by_name",
    "Trainer, `compute_loss`: the weights equal those with the model's own loss; missing labels raise an error",
    alone="reports a loss of 0 for a batch without labels",
)
def trainer_masked_mean() -> None:
    from transformers import Trainer

    def compute_loss(self: Any, model: Any, inputs: Any, *others: Any, **named: Any) -> Any:
        outputs, labels = model(input_ids=inputs["input_ids"]), inputs["labels"]
        logits, wanted = loss.match_by_name(outputs, {"logits": labels}, batch_first=True)["logits"]
        logits, wanted = logits[:, :-1].transpose(1, 2), wanted[:, 1:]
        values = torch.nn.functional.cross_entropy(logits, wanted, reduction="none")
        return loss.masked_mean(values, wanted != -100)

    ours = type("Ours", (Trainer,), {"compute_loss": compute_loss})
    rows = tokens(ignored=3)
    found = []
    for trainer in (ours, None):
        torch.manual_seed(0)
        model = gpt2()
        train(model, rows, trainer=trainer)
        found.append(weights(model))
    same("weights", *found)
    nothing = tokens(ignored=5)
    error = raised(lambda: train(gpt2(), nothing, trainer=ours))
    expect("mean of nothing" in error, f"masked_mean: {error or 'nothing raised'}")
    reported = train(gpt2(), nothing).state.log_history[-1]["train_loss"]
    expect(reported == 0, f"alone: reports a loss of {reported}")


@case(
    "transformers",
    "data_loading.to_device, data_loading.map_tensors",
    "a BatchEncoding and a ModelOutput keep their types, and the model accepts them",
)
def containers() -> None:
    from transformers import BatchEncoding

    model = gpt2().eval()
    encoded = BatchEncoding(batch())
    expected = model(**batch())
    for moved in (
        data_loading.to_device(encoded, "cpu"),
        data_loading.map_tensors(torch.clone, encoded),
    ):
        expect(type(moved) is BatchEncoding, f"became {type(moved).__name__}")
        same("loss", model(**moved).loss, expected.loss)
    output = data_loading.map_tensors(torch.Tensor.double, expected)
    expect(type(output) is type(expected), f"became {type(output).__name__}")
    expect(output.logits.dtype == torch.float64, "the attribute was not mapped")
    same("logits", output["logits"], expected.logits)
