import torch


class Model(torch.nn.Module):
    def __init__(self, holder):
        super().__init__()
        self.blocks = holder([torch.nn.Linear(4, 4), torch.nn.Linear(4, 4)])
        self.head = torch.nn.Linear(4, 2)

    def forward(self, x):
        for block in self.blocks:
            x = block(x).relu()
        return self.head(x)


def run(device, holder):
    model = Model(holder).to(device)
    for block in model.blocks:
        block.to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(3):
        optimizer.zero_grad()
        model(torch.randn(8, 4, device=device)).square().mean().backward()
        optimizer.step()


def reproduce(device):
    run(device, list)


def control(device):
    run(device, torch.nn.ModuleList)
