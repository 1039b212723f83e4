"""Cases for torchrl and stable-baselines3: losses through a frozen critic, clipped policies."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn

from reference_fixes import loss, numerics, rnn
from tests.trials.hosts.case import case, expect, modes, raised, same, weights

# ---- torchrl ----


class Critic(nn.Module):
    """An LSTM with dropout that returns a value for each step of [batch, time]."""

    def __init__(self) -> None:
        super().__init__()
        self.lstm = nn.LSTM(4, 8, num_layers=2, dropout=0.5, batch_first=True)
        self.head = nn.Linear(8, 1)

    def forward(self, observation: torch.Tensor, action: torch.Tensor) -> torch.Tensor:
        return self.head(self.lstm(torch.cat([observation, action], -1))[0])


def ddpg() -> tuple[Any, Any]:
    """A DDPGLoss with a recurrent critic, and a batch for it."""
    from tensordict import TensorDict
    from torchrl.data import Bounded
    from torchrl.modules.tensordict_module.actors import Actor, ValueOperator
    from torchrl.objectives import DDPGLoss

    torch.manual_seed(0)
    spec = Bounded(-torch.ones(1), torch.ones(1), (1,))
    actor = Actor(spec=spec, module=nn.Linear(3, 1))
    critic = ValueOperator(module=Critic(), in_keys=["observation", "action"])
    shape = (2, 5)
    following = {
        "observation": torch.randn(*shape, 3),
        "reward": torch.randn(*shape, 1),
        "done": torch.zeros(*shape, 1, dtype=torch.bool),
        "terminated": torch.zeros(*shape, 1, dtype=torch.bool),
    }
    data = {
        "observation": torch.randn(*shape, 3),
        "action": torch.rand(*shape, 1),
        "next": TensorDict(following, shape),
    }
    return DDPGLoss(actor, critic), TensorDict(data, shape)


def actor_gradient(module: Any, data: Any) -> torch.Tensor:
    parameters = list(module.actor_network_params.parameters())
    gradients = torch.autograd.grad(module(data.clone())["loss_actor"], parameters)
    return torch.cat([gradient.flatten() for gradient in gradients])


@case(
    "torchrl",
    "rnn.differentiable_eval",
    "`DDPGLoss`: the actor's gradient through a recurrent critic equals that of eval mode",
    alone="its `eval()` does not reach the critic, so dropout stays on",
)
def torchrl_critic() -> None:
    module, data = ddpg()
    critic = module.value_network  # not included in module.modules()
    with rnn.differentiable_eval(critic):
        found = actor_gradient(module, data)
    expect(all(modes(critic)), "modes changed")
    expect(all(p.grad is None for p in module.parameters()), "weights got gradients")
    module.eval()
    first, second = actor_gradient(module, data), actor_gradient(module, data)
    expect(not torch.allclose(first, second), "alone: both calls give the same")
    critic.eval()
    same("gradient of the actor", found, actor_gradient(module, data))


@case(
    "torchrl",
    "numerics.clip_or_skip, numerics.find_nonfinite, loss.check_gradients",
    "`DDPGLoss`: an inf reward is named, and the critic's step is skipped",
    alone="`clip_grad_norm_` makes the critic NaN",
)
def torchrl_reward() -> None:
    def optimizer_of(module: Any) -> torch.optim.Optimizer:
        return torch.optim.Adam(module.value_network_params.parameters(), lr=0.01)

    module, data = ddpg()
    optimizer = optimizer_of(module)
    module(data)["loss_value"].backward()
    loss.check_gradients(module, ignore=["actor_network_params*", "target*"])
    expect(not numerics.clip_or_skip(optimizer, 1.0).skipped, "a good step was skipped")
    before = weights(module)
    data["next", "reward"][0, 0] = torch.inf
    optimizer.zero_grad()
    module(data)["loss_value"].backward()
    expect(numerics.clip_or_skip(optimizer, 1.0).skipped, "not skipped")
    expect(weights(module).equal(before), "a skipped step moved the weights")
    found = numerics.find_nonfinite(nn.Identity(), data)
    expect(found == "input 0['next']['reward']: 1 of 10 values are inf", f"{found}")
    optimizer = optimizer_of(module)
    torch.nn.utils.clip_grad_norm_(module.value_network_params.parameters(), 1.0)
    optimizer.step()
    expect(weights(module).isnan().any(), "alone: the weights are finite")


# ---- stable-baselines3 ----


class Clipped:
    """An optimizer whose step() is clip_or_skip."""

    def __init__(self, optimizer: Any, max_norm: float) -> None:
        self.optimizer, self.max_norm = optimizer, max_norm
        self.skipped: list[bool] = []

    def step(self) -> None:
        result = numerics.clip_or_skip(self.optimizer, self.max_norm)
        self.skipped.append(bool(result.skipped))

    def __getattr__(self, name: str) -> Any:
        return getattr(self.optimizer, name)


def pendulum(bad: bool = False) -> Any:
    import gymnasium

    class Rewards(gymnasium.RewardWrapper):  # type: ignore[type-arg]
        rewards = 0

        def reward(self, reward: Any) -> float:
            self.rewards += 1
            return float("inf") if bad and self.rewards == 20 else float(reward)

    return Rewards(gymnasium.make("Pendulum-v1"))


def ppo(max_grad_norm: float, bad: bool = False) -> Any:
    from stable_baselines3 import PPO

    options = {"n_steps": 16, "batch_size": 8, "n_epochs": 1, "seed": 0, "device": "cpu"}
    small = {"net_arch": [8]}
    return PPO(
        "MlpPolicy", pendulum(bad), max_grad_norm=max_grad_norm, policy_kwargs=small, **options
    )


@case(
    "stable-baselines3",
    "numerics.clip_or_skip",
    "PPO: the weights equal those with its own clipping; a rollout with an inf reward is skipped",
    alone="the weights become NaN, and the policy raises ValueError",
)
def sb3_ppo() -> None:
    alone = ppo(0.1)
    alone.learn(32)
    model = ppo(float("inf"))
    model.policy.optimizer = clipped = Clipped(model.policy.optimizer, 0.1)
    model.learn(32)
    expect(clipped.skipped == [False] * 4, f"skipped {clipped.skipped}")
    same("weights", weights(model.policy), weights(alone.policy), tolerance=1e-4)

    model = ppo(float("inf"), bad=True)
    model.policy.optimizer = clipped = Clipped(model.policy.optimizer, 0.1)
    model.learn(48)
    expect(any(clipped.skipped) and not all(clipped.skipped), f"skipped {clipped.skipped}")
    expect(weights(model.policy).isfinite().all(), "weights are not finite")
    alone = ppo(0.1, bad=True)
    error = raised(lambda: alone.learn(48))
    expect(error.startswith("ValueError"), f"alone: {error or 'nothing raised'}")
    expect(weights(alone.policy).isnan().any(), "alone: the weights are finite")


@case(
    "stable-baselines3",
    "rnn.differentiable_eval, rnn.input_gradients, numerics.Snapshot",
    "TD3 with dropout in its critic: the actor's loss equals that of eval mode; the policy is restored",
    alone="dropout in the critic makes the loss differ from call to call",
)
def sb3_td3() -> None:
    from stable_baselines3 import TD3

    options = {"learning_starts": 4, "batch_size": 8, "train_freq": 1, "seed": 0, "device": "cpu"}
    model = TD3("MlpPolicy", pendulum(), policy_kwargs={"net_arch": [8]}, **options)
    model.critic.qf0.insert(2, nn.Dropout(0.5))
    optimizers = [model.actor.optimizer, model.critic.optimizer]
    good, before = numerics.Snapshot(model.policy, *optimizers), weights(model.policy)
    model.learn(16)
    expect(not weights(model.policy).equal(before), "nothing was trained")
    good.restore()
    expect(weights(model.policy).equal(before), "the weights did not return")

    rows = model.replay_buffer.sample(8)
    actor, critic = model.actor, model.critic.train()
    actions = actor(rows.observations)

    def gradient() -> torch.Tensor:
        value = critic.q1_forward(rows.observations, actions).sum()
        (found,) = torch.autograd.grad(value, actions, retain_graph=True)
        return found

    expect(not torch.allclose(gradient(), gradient()), "alone: both calls give the same")
    before_modes = modes(critic)
    with rnn.differentiable_eval(critic):
        found = gradient()
    _, by_input = rnn.input_gradients(
        critic, rows.observations, actions, target=lambda values: values[0].sum()
    )
    expect(modes(critic) == before_modes and all(before_modes), "modes changed")
    expect(all(p.grad is None for p in critic.parameters()), "the critic's weights got gradients")
    critic.eval()
    same("differentiable_eval", found, gradient())
    same("input_gradients", by_input, found)
