import numpy as np
import torch


def finish_episode(policy, gamma):
    R, returns = 0, []
    for r in policy.rewards[::-1]:
        R = r + gamma * R
        returns.insert(0, R)
    returns = torch.tensor(returns).to("cpu")
    returns = (returns - returns.mean()) / (returns.std() + 1e-8)  # finds standard_deviation_of_one
    return returns


def update(agent, rollout_buffer):
    for batch in rollout_buffer.get(agent.batch_size):
        advantages = batch.advantages
        mean, std = advantages.mean(), advantages.std()
        advantages = (advantages - mean) / (std + 1e-8)  # finds standard_deviation_of_one
        if agent.normalizes and len(advantages) > 1:
            advantages = (advantages - advantages.mean()) / (advantages.std() + 1e-8)
        values = (batch.values - batch.values.mean()) / (batch.values.std(unbiased=False) + 1e-8)
        agent.learn(advantages, values)


def many_episodes(memory, gamma):
    R, returns = 0, []
    for r, done in zip(memory.rewards[::-1], memory.dones[::-1], strict=True):
        R = r + gamma * R * (1 - done)
        returns.insert(0, R)
    returns = torch.tensor(returns)
    return (returns - returns.mean()) / (returns.std() + 1e-8)


def image(x):
    return (x - x.mean()) / x.std()


def of_numpy(rewards):
    rewards = np.array(rewards)
    return (rewards - rewards.mean()) / (rewards.std() + 1e-8)
