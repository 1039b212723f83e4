import torch


def run(device, dim):
    model = torch.nn.Sequential(torch.nn.Linear(4, 3), torch.nn.LogSoftmax(dim=dim)).to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(3):
        x, y = torch.randn(8, 4, device=device), torch.randint(3, (8,), device=device)
        optimizer.zero_grad()
        torch.nn.functional.nll_loss(model(x), y).backward()
        optimizer.step()
    probabilities = model[0](x).softmax(dim)
    (probabilities.argmax(1) == y).float().mean().item()


def reproduce(device):
    run(device, 0)


def control(device):
    run(device, 1)
