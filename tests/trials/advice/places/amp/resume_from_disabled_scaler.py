"""Runs resumed with and without AMP, whatever they were saved with, if with a scaler at all; the
checkpoints go to disk.
"""

import io

import torch

SETTINGS = ("plain", "AdamW", "tied")
GradScaler = getattr(torch.amp, "GradScaler", None)
WAYS = ((None, True), (False, True), (True, True), (True, False), (False, False))


def place(t):
    model, optimizer, device, seen = t.model, t.optimizer, "cpu", []
    for was_on, use_amp in WAYS:
        scaler = GradScaler(device, enabled=bool(was_on), init_scale=1024.0)
        train(t, lambda loss: (scaler.scale(loss).backward(), scaler.step(optimizer)))
        file = io.BytesIO()
        torch.save({} if was_on is None else {"scaler": scaler.state_dict()}, file)
        file.seek(0)
        checkpoint = torch.load(file)
        paste
        train(t, lambda loss: (scaler.scale(loss).backward(), scaler.step(optimizer)))
        seen.append(scaler.get_scale())
    return [seen, model.state_dict()]


def train(t, step):
    t.optimizer.zero_grad()
    x, y = t.batches[0]
    step(t.loss(t.model(x), y))


def reference(t):
    for _ in range(2 * len(WAYS)):
        train(t, lambda loss: (loss.backward(), t.optimizer.step()))
    return [[65536.0, 65536.0, 1024.0, 1.0, 1.0], t.model.state_dict()]
