import torch


def run(device, restarts):
    model = torch.nn.Linear(4, 2).to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    rows = torch.utils.data.TensorDataset(torch.randn(16, 4), torch.randint(2, (16,)))
    loader = torch.utils.data.DataLoader(rows, batch_size=4)
    batches = iter(loader)
    for _ in range(4):
        x, y = next(iter(loader) if restarts else batches)
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(model(x.to(device)), y.to(device)).backward()
        optimizer.step()


def reproduce(device):
    run(device, restarts=True)


def control(device):
    run(device, restarts=False)
