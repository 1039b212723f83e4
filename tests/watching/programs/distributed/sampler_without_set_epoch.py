import torch
from torch.utils.data.distributed import DistributedSampler


def run(device, sets_epoch):
    model = torch.nn.Linear(4, 2).to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    rows = torch.utils.data.TensorDataset(torch.randn(16, 4), torch.randint(2, (16,)))
    sampler = DistributedSampler(rows, num_replicas=2, rank=0)
    loader = torch.utils.data.DataLoader(rows, batch_size=4, sampler=sampler)
    for epoch in range(3):
        if sets_epoch:
            sampler.set_epoch(epoch)
        for x, y in loader:
            optimizer.zero_grad()
            torch.nn.functional.cross_entropy(model(x.to(device)), y.to(device)).backward()
            optimizer.step()


def reproduce(device):
    run(device, sets_epoch=False)


def control(device):
    run(device, sets_epoch=True)
