import torch

from tests.diagnose.trainers import Net, trainer


def _with_step(step):
    model = Net()
    names = trainer(model=model, optimizer=torch.optim.SGD(model.parameters(), lr=0.1))
    return names | {"train_step": lambda x, y: step(x, y, names["optimizer"], names)}


def _loss(x, y, names):
    return names["loss_fn"](names["model"](x), y)


def _missing(x, y, optimizer, names):
    _loss(x, y, names).backward()
    optimizer.step()


def _too_early(x, y, optimizer, names):
    _loss(x, y, names).backward()
    optimizer.zero_grad()
    optimizer.step()


def _rewrapped(x, y, optimizer, names):
    optimizer.zero_grad()
    torch.tensor(_loss(x, y, names).item(), requires_grad=True).backward()
    optimizer.step()


def _eval(x, y, optimizer, names):
    names["model"].eval()
    optimizer.zero_grad()
    _loss(x, y, names).backward()
    optimizer.step()


def missing_zero_grad():
    return _with_step(_missing)


def zero_grad_before_the_step():
    return _with_step(_too_early)


def rewrapped_loss():
    return _with_step(_rewrapped)


def in_eval_mode():
    return _with_step(_eval)


def rebuilt():
    names = trainer()
    return names | {"model": Net()}


OUTCOMES = [
    [trainer],
    [zero_grad_before_the_step, rewrapped_loss],
    [missing_zero_grad, in_eval_mode],
    [rebuilt],
]
