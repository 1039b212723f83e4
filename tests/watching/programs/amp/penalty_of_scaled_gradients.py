import torch


def run(device, divides):
    model = torch.nn.Linear(4, 1).to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    scaler = torch.amp.GradScaler(device)
    for _ in range(2):
        x = torch.randn(8, 4, device=device)
        optimizer.zero_grad()
        loss = model(x).square().mean()
        grads = torch.autograd.grad(scaler.scale(loss), list(model.parameters()), create_graph=True)
        if divides:
            scale = scaler.get_scale()
            grads = [g / scale for g in grads]
        loss = loss + sum(g.square().sum() for g in grads)
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()


def reproduce(device):
    run(device, divides=False)


def control(device):
    run(device, divides=True)
