"""Prediction with a model that fits three rows; errors of other kinds have to come through."""

import weakref

import torch

SETTINGS = ("plain", "tied", "bfloat16", "short last batch")
TEXTS = (
    "Invalid buffer size: 8.00 GB",
    "CUDA error: an illegal memory access was encountered",
    "mat1 and mat2 shapes cannot be multiplied",
)


def predict(t, run):
    alive, held, errors = [], [], []

    def model(batch):
        held.append(sum(one() is not None for one in alive))
        alive.clear()
        with torch.no_grad(), t.autocast():
            hidden = t.model(batch)
        alive.append(weakref.ref(hidden))
        if errors:
            raise RuntimeError(errors.pop())  # once: a second try would succeed
        if len(batch) > 3:
            torch.empty(2**50)
        return hidden.float().square()

    t.model.eval()
    outputs = [run(model, batch) for batch, _ in t.batches]
    raised = []
    for text in TEXTS:
        errors.append(text)
        try:
            outputs.append(run(model, t.batches[0][0][:2]))
        except RuntimeError as error:
            raised.append(str(error))
    return [torch.cat(outputs), max(held), raised]


def place(t):
    def run(model, batch):
        paste
        result = output.clone()
        return result

    return predict(t, run)


def reference(t):
    batches = [x for x, _ in t.batches] + [t.batches[0][0][:2]]
    with t.autocast():
        outputs = [t.model.eval()(row[None]).float().square() for x in batches for row in x]
    return [torch.cat(outputs).detach(), 0, list(TEXTS[1:])]
