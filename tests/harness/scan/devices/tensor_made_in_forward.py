import torch
from torch import nn


class Flow(nn.Module):
    def forward(self, x):
        log_det = torch.zeros(len(x), 1)  # finds tensor_made_in_forward
        for layer in self.layers:
            x, more = layer(x)
            log_det += more
        return x, log_det


class Cell(nn.Module):
    def __init__(self):
        super().__init__()
        self.cell = nn.GRUCell(3, 3)

    def forward(self, x):
        state = torch.zeros(len(x), 3)  # finds tensor_made_in_forward
        state = self.cell(x, state)
        noise = torch.randn(len(x), 3)  # finds tensor_made_in_forward
        steps = torch.arange(len(x))
        return torch.cat([state, noise]), self.model(steps)


class Fine(nn.Module):
    def forward(self, x):
        state = torch.zeros(len(x), 3, device=x.device)
        mask = torch.ones(3).to(x)
        shape = torch.zeros(3)
        index = torch.arange(3)
        start = torch.randint(5, (1,))
        loss = torch.zeros([])
        total = torch.ones(len(x), 3)
        total = total.to(x.device)
        loss = loss + x.sum()
        return self.cell(x * mask + total, state)[index], x[:, start + 1], shape.size()


class Plan:
    def forward(self, x):
        state = torch.zeros(len(x), 3)
        return x + state


def train(model):
    return model.cuda()
