import torch

STATES = 2 * torch.eye(2)


def _agent(reward, weights=((1.0, 0.0), (0.0, 1.0))):
    """In state n, action n is the right one."""
    torch.manual_seed(0)
    policy = torch.nn.Linear(2, 2, bias=False)
    policy.weight.data = torch.tensor(weights)

    def play(policy):
        states = STATES[torch.randint(2, (50,))]
        right = policy(states).argmax(1) == states.argmax(1)
        return reward(right)

    return {"torch": torch, "policy": policy, "play": play}


def learned():
    return _agent(torch.sum)


def no_reward():
    return _agent(lambda right: 0)


def like_chance():
    return _agent(torch.sum, weights=((0.0, 0.0), (1.0, 1.0)))


OUTCOMES = [[learned], [no_reward], [like_chance]]
