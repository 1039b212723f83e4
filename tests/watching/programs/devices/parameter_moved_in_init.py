import torch


class Net(torch.nn.Module):
    def __init__(self, device, moves):
        super().__init__()
        self.layer = torch.nn.Linear(4, 2, device=device, dtype=torch.float64)
        if moves:
            self.scale = torch.nn.Parameter(torch.ones(2)).to(device, torch.float64)
        else:
            self.scale = torch.nn.Parameter(torch.ones(2, device=device, dtype=torch.float64))

    def forward(self, x):
        return self.layer(x) * self.scale


def run(device, moves):
    model = Net(device, moves)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    x = torch.randn(8, 4, device=device, dtype=torch.float64)
    optimizer.zero_grad()
    model(x).square().mean().backward()
    optimizer.step()


def reproduce(device):
    run(device, moves=True)


def control(device):
    run(device, moves=False)
