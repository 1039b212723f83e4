"""Here parameters() is a list: parameters_are_used_up and clip_exhausted_generator find nothing."""

import torch


class Agent:
    def __init__(self, actor, critic):
        self.actor, self.critic = actor, critic

    def parameters(self):
        return list(self.actor.parameters()) + list(self.critic.parameters())


def train(agent, loader):
    params = agent.parameters()
    print(sum(p.numel() for p in params))
    optimizer = torch.optim.Adam(params)
    for batch in loader:
        optimizer.zero_grad()
        agent.loss(batch).backward()
        torch.nn.utils.clip_grad_norm_(params, 0.5)
        optimizer.step()
