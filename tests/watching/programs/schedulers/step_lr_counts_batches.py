import torch


def run(device, per_batch):
    model = torch.nn.Linear(4, 2).to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, step_size=5, gamma=0.1)  # in epochs
    rows = torch.utils.data.TensorDataset(torch.randn(60, 4), torch.randint(2, (60,)))
    for _ in range(12):
        for x, y in torch.utils.data.DataLoader(rows, batch_size=4, shuffle=True):
            optimizer.zero_grad()
            torch.nn.functional.cross_entropy(model(x.to(device)), y.to(device)).backward()
            optimizer.step()
            if per_batch:
                scheduler.step()
        if not per_batch:
            scheduler.step()


def reproduce(device):
    run(device, per_batch=True)


def control(device):
    run(device, per_batch=False)
