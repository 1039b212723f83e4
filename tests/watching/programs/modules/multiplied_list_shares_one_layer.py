import torch


class Model(torch.nn.Module):
    def __init__(self, blocks):
        super().__init__()
        self.blocks = torch.nn.ModuleList(blocks)

    def forward(self, x):
        for block in self.blocks:
            x = block(x).relu()
        return x


def run(device, blocks):
    model = Model(blocks).to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(3):
        optimizer.zero_grad()
        model(torch.randn(8, 4, device=device)).square().mean().backward()
        optimizer.step()


def reproduce(device):
    run(device, [torch.nn.Linear(4, 4)] * 3)


def control(device):
    run(device, [torch.nn.Linear(4, 4) for _ in range(3)])
