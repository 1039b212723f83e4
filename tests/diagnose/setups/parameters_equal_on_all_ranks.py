import torch

from tests.diagnose.trainers import Net, rows, trainer

RANKS = 2


def _trainer(model, **changes):
    names = trainer(model=model, **changes)
    dataset = rows()
    sampler = torch.utils.data.distributed.DistributedSampler(dataset)
    loader = torch.utils.data.DataLoader(dataset, batch_size=8, sampler=sampler)
    return names | {"loader": loader}


def _parallel(model):
    return torch.nn.parallel.DistributedDataParallel(model)


def parallel():
    return _trainer(_parallel(Net()))


def not_wrapped():
    return _trainer(Net())


def calls_the_module():
    names = parallel()
    optimizer = names["optimizer"]

    def train_step(x, y):
        optimizer.zero_grad()
        names["loss_fn"](names["model"].module(x), y).backward()
        optimizer.step()

    return names | {"train_step": train_step}


def unfrozen_after_wrapping():
    model = Net()
    model.body.requires_grad_(False)
    model = _parallel(model)
    model.module.body.requires_grad_(True)
    return _trainer(model)


OUTCOMES = [[parallel], [not_wrapped, calls_the_module], [unfrozen_after_wrapping]]
