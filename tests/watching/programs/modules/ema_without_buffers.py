import torch
from torch.optim.swa_utils import AveragedModel


def run(device, **options):
    model = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.BatchNorm1d(4)).to(device)
    ema = AveragedModel(model, **options)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(3):
        optimizer.zero_grad()
        model(torch.randn(8, 4, device=device)).square().mean().backward()
        optimizer.step()
        ema.update_parameters(model)
    ema.eval()
    with torch.no_grad():
        ema(torch.randn(8, 4, device=device))


def reproduce(device):
    run(device)


def control(device):
    run(device, use_buffers=True)
