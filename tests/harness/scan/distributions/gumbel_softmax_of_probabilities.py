import torch
import torch.nn.functional as F
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.gate = nn.Sequential(nn.Linear(4, 3), nn.Softmax(dim=-1))
        self.scores = nn.Linear(4, 3)

    def forward(self, x):
        weights = F.softmax(self.scores(x), dim=-1)
        hard = F.gumbel_softmax(weights, tau=1, hard=True)  # finds gumbel_softmax_of_probabilities
        soft = F.gumbel_softmax(self.gate(x), tau=0.5)  # finds gumbel_softmax_of_probabilities
        return hard, soft

    def right(self, x):
        weights = F.softmax(self.scores(x), dim=-1)
        logs = F.log_softmax(self.scores(x), dim=-1)
        first = F.gumbel_softmax(weights.clamp(min=1e-20).log(), hard=True)
        return first, F.gumbel_softmax(logs), torch.multinomial(weights, 1)
