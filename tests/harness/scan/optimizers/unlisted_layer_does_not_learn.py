import torch
from torch import nn
from torch.optim import Adam


class ActorCritic(nn.Module):
    def __init__(self):
        super().__init__()
        self.features = nn.Linear(4, 8)
        self.actor = nn.Linear(8, 2)
        self.critic = nn.Linear(8, 1)
        self.unused = nn.Linear(8, 1)
        self.drop = nn.Dropout(0.1)

    def forward(self, x):
        x = self.drop(self.features(x)).relu()
        return self.actor(x), self.critic(x)


class Agent:
    def __init__(self):
        self.policy = ActorCritic().to("cpu")
        self.optimizer = torch.optim.Adam(  # finds unlisted_layer_does_not_learn
            [
                {"params": self.policy.actor.parameters(), "lr": 0.1},
                {"params": self.policy.critic.parameters(), "lr": 0.2},
            ]
        )


def builds():
    net = ActorCritic()
    both = list(net.actor.parameters()) + list(net.critic.parameters())
    return Adam(both)  # finds unlisted_layer_does_not_learn


def builds_for_all():
    whole = ActorCritic()
    heads = [{"params": whole.actor.parameters()}, {"params": whole.critic.parameters()}]
    return Adam(heads), Adam(whole.features.parameters())


def builds_again():
    model = ActorCritic()
    return Adam(model.actor.parameters()), Adam(model.parameters())


def keeps_some(model):
    named = dict(model.named_parameters())
    groups = [{"params": [p for n, p in named.items() if "bias" in n]}]
    groups += [{"params": [p for n, p in named.items() if "bias" not in n]}]
    return Adam(groups)
