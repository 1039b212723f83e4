import torch

from tests.diagnose.trainers import trainer


def _stepping(steps=1, zeros=1, scheduler=False):
    names = trainer()

    def train_step(x, y):
        for _ in range(zeros):
            names["optimizer"].zero_grad()
        names["loss_fn"](names["model"](x), y).backward()
        for _ in range(steps):
            names["optimizer"].step()
        if scheduler:
            names["scheduler"].step()

    return names | {"train_step": train_step}


def clears_the_model():
    names = trainer()

    def train_step(x, y):
        names["model"].zero_grad()
        names["loss_fn"](names["model"](x), y).backward()
        names["optimizer"].step()

    return names | {"train_step": train_step}


def scheduler_instead_of_the_optimizer():
    return _stepping(steps=0, scheduler=True)


def steps_beside_the_scaler():
    names = trainer()
    scaler = torch.cuda.amp.GradScaler(enabled=False)

    def train_step(x, y):
        names["optimizer"].zero_grad()
        scaler.scale(names["loss_fn"](names["model"](x), y)).backward()
        scaler.step(names["optimizer"])
        scaler.update()
        names["optimizer"].step()

    return names | {"train_step": train_step}


def never_cleared():
    return _stepping(zeros=0)


def cleared_in_every_micro_batch():
    names = trainer()
    batches = []

    def train_step(x, y):
        batches.append(x)
        names["optimizer"].zero_grad()
        (names["loss_fn"](names["model"](x), y) / 2).backward()
        if len(batches) % 2 == 0:
            names["optimizer"].step()

    return names | {"train_step": train_step}


def scheduler_in_each_batch():
    return _stepping(scheduler=True)


OUTCOMES = [
    [trainer, clears_the_model],
    [scheduler_instead_of_the_optimizer],
    [steps_beside_the_scaler],
    [never_cleared],
    [cleared_in_every_micro_batch],
    [scheduler_in_each_batch],
]
