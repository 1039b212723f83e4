import io

import torch


def run(device, save):
    model = torch.nn.Linear(4, 2).to(device)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.1)
    for epoch in range(3):
        x, y = torch.randn(8, 4, device=device), torch.randint(2, (8,), device=device)
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(model(x), y).backward()
        optimizer.step()
        save(epoch, model, optimizer)


def model_only(epoch, model, optimizer):
    torch.save({"epoch": epoch, "model": model.state_dict()}, io.BytesIO())


def both(epoch, model, optimizer):
    state = {"epoch": epoch, "model": model.state_dict(), "optimizer": optimizer.state_dict()}
    torch.save(state, io.BytesIO())


def reproduce(device):
    run(device, model_only)


def control(device):
    run(device, both)
