import torch
from somewhere import train_one_epoch
from torch.utils.data import DataLoader, RandomSampler
from torch.utils.data.distributed import DistributedSampler
from tqdm import tqdm


def in_one_function(model, dataset, optimizer):
    sampler = DistributedSampler(dataset)  # finds sampler_without_set_epoch
    train_loader = DataLoader(dataset, batch_size=8, sampler=sampler)
    for _epoch in range(10):
        for x in tqdm(train_loader):
            optimizer.zero_grad()
            model(x).sum().backward()
            optimizer.step()


def one_epoch(model, batches, optimizer):
    for _i, x in enumerate(batches):
        optimizer.zero_grad()
        model(x).sum().backward()
        optimizer.step()


def main(args, model, dataset, optimizer):
    if args.distributed:
        sampler = (
            torch.utils.data.distributed.DistributedSampler(  # finds sampler_without_set_epoch
                dataset, shuffle=True
            )
        )
    else:
        sampler = RandomSampler(dataset)
    loader = DataLoader(dataset, sampler=sampler)
    for _epoch in range(args.epochs):
        one_epoch(model, loader, optimizer)


def stage_by_stage(model, dataset, optimizer):
    sampler = DistributedSampler(dataset)
    last = 10
    train_loader = DataLoader(dataset, batch_size=8, sampler=sampler)
    for _epoch in range(9, last):
        for x in train_loader:
            optimizer.zero_grad()
            model(x).sum().backward()
            optimizer.step()


def not_shuffled(model, dataset, optimizer):
    sampler = DistributedSampler(dataset, shuffle=False)
    train_loader = DataLoader(dataset, batch_size=8, sampler=sampler)
    for _epoch in range(10):
        for x in train_loader:
            model(x).sum().backward()
            optimizer.step()


def another_seed_in_each_epoch(model, dataset, optimizer):
    for epoch in range(3):
        sampler = DistributedSampler(dataset, seed=epoch)
        loader = DataLoader(dataset, sampler=sampler)
        for x in loader:
            model(x).sum().backward()
            optimizer.step()
            optimizer.zero_grad()


def one_pass(model, dataset):
    sampler = DistributedSampler(dataset)
    loader = DataLoader(dataset, sampler=sampler)
    for x in loader:
        model(x)


def for_evaluation(model, dataset):
    sampler = DistributedSampler(dataset)
    val_loader = DataLoader(dataset, sampler=sampler)
    model.eval()
    for _epoch in range(3):
        for x in val_loader:
            model.score(x)


@torch.no_grad()
def without_gradients(model, dataset):
    loader = DataLoader(dataset, sampler=DistributedSampler(dataset))
    for _epoch in range(3):
        for x in loader:
            model(x)


def handed_on(model, dataset, optimizer):
    sampler = DistributedSampler(dataset)
    loader = DataLoader(dataset, sampler=sampler)
    for epoch in range(3):
        train_one_epoch(model, loader, sampler, epoch)
        for x in loader:
            model(x).sum().backward()


def on_one_process(model, dataset, optimizer):
    loader = DataLoader(dataset, shuffle=True)
    for _epoch in range(3):
        for x in loader:
            model(x).sum().backward()


def until_it_is_stopped(model, dataset, optimizer):
    loader = DataLoader(dataset, sampler=DistributedSampler(dataset))  # finds sampler_without_set_epoch
    for _epoch in range(99999999999999999999):
        for x in loader:
            model(x).sum().backward()
