import torch


def run(device, predict):
    model = torch.nn.Linear(4, 1).to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(3):
        x = torch.randn(16, 4, device=device)
        labels = (x[:, 0] > 0).float()
        optimizer.zero_grad()
        logits = model(x)
        torch.nn.functional.binary_cross_entropy_with_logits(logits[:, 0], labels).backward()
        optimizer.step()
        (predict(logits) == labels).float().mean().item()


def reproduce(device):
    run(device, lambda logits: (logits > 0).float())


def control(device):
    run(device, lambda logits: (logits > 0).float().squeeze(1))
