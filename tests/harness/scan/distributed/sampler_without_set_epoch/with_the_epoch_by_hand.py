"""Here the sampler's epoch is set by hand: sampler_without_set_epoch has to find nothing."""

from torch.utils.data import DataLoader, DistributedSampler


def train(model, dataset, optimizer):
    sampler = DistributedSampler(dataset)
    loader = DataLoader(dataset, sampler=sampler)
    for epoch in range(3):
        sampler.epoch = epoch
        for x in loader:
            optimizer.zero_grad()
            model(x).sum().backward()
            optimizer.step()
