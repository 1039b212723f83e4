import torch


def run(device, evaluate):
    model = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.Dropout(0.5), torch.nn.Linear(8, 2))
    model.to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    rows = torch.utils.data.TensorDataset(torch.randn(24, 4, device=device))
    for _ in range(3):
        model.train()
        for _ in range(4):
            x, y = torch.randn(8, 4, device=device), torch.randint(2, (8,), device=device)
            optimizer.zero_grad()
            torch.nn.functional.cross_entropy(model(x), y).backward()
            optimizer.step()
        evaluate(model)
        with torch.no_grad():
            for (x,) in torch.utils.data.DataLoader(rows, batch_size=8):
                model(x)


def reproduce(device):
    run(device, lambda model: None)


def control(device):
    run(device, lambda model: model.eval())
