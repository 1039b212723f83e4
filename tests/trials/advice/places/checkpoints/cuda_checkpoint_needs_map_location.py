"""Weights from another machine's GPU are fine-tuned on the CPU."""

import io

import torch

SETTINGS = ("plain", "tied", "AdamW")


def fine_tune(t):
    for x, y in t.batches:
        t.optimizer.zero_grad()
        t.loss(t.model(x), y).backward()
        t.optimizer.step()
    return t.model.state_dict()


def place(t):
    model, saved = t.model, io.BytesIO()
    state = {key: value.clone() for key, value in model.state_dict().items()}
    if t.setting.tied:
        state["tail.weight"] = state["head.weight"]
    torch.save(state, saved, _use_new_zipfile_serialization=False)
    with torch.no_grad():
        [p.zero_() for p in model.parameters()]
    data = saved.getvalue().replace(b"\3\0\0\0cpu", b"\7\0\0\0cuda:63")
    file = io.BytesIO(data)
    paste
    return fine_tune(t)


def reference(t):
    return fine_tune(t)
