import torch


def _agent(loss_of, rate=1e-2, method=torch.optim.Adam):
    """An agent with two actions in states of four numbers, without an environment."""
    torch.manual_seed(0)
    policy = torch.nn.Sequential(torch.nn.Linear(4, 16), torch.nn.Tanh(), torch.nn.Linear(16, 2))
    optimizer = method(policy.parameters(), lr=rate)

    def learn(states, actions, rewards, next_states, dones):
        optimizer.zero_grad()
        loss_of(policy, states, actions, rewards, next_states, dones).backward()
        optimizer.step()

    states = torch.randn(32, 4)
    return {"torch": torch, "policy": policy, "optimizer": optimizer} | {
        "learn": learn,
        "states": states,
    }


def _policy_gradient(policy, states, actions, rewards, next_states, dones):
    chosen = torch.distributions.Categorical(logits=policy(states)).log_prob(actions)
    return -(chosen * (rewards - rewards.mean())).mean()


def _values(policy, states, actions, rewards, next_states, dones):
    value = policy(states).gather(1, actions[:, None])[:, 0]
    with torch.no_grad():
        target = rewards + 0.9 * policy(next_states).max(1).values * (1 - dones)
    return torch.nn.functional.mse_loss(value, target)


def policy_gradient():
    return _agent(_policy_gradient)


def q_values():
    return _agent(_values)


def too_large_a_rate():
    return _agent(_values, rate=3.0, method=torch.optim.SGD)


def wrong_sign():
    return _agent(lambda *batch: -_policy_gradient(*batch))


def broadcast_target():
    def loss_of(policy, states, actions, rewards, next_states, dones):
        value = policy(states).gather(1, actions[:, None])[:, 0]
        return ((value - rewards[:, None]) ** 2).mean()

    return _agent(loss_of)


OUTCOMES = [[policy_gradient, q_values], [too_large_a_rate], [wrong_sign], [broadcast_target]]
