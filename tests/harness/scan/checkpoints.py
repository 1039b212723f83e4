# ruff: noqa
import os
from pathlib import Path

import pytest
import torch
import torch.nn as nn
from models import Net, build
from utils import loading

# --- strict_false_loads_nothing -------------------------------------------------------------------


def restore(model, args, path, other):
    state = torch.load(args.weights, map_location="cpu")
    model.load_state_dict(state, strict=False)  # finds strict_false_loads_nothing
    state = torch.load(path, map_location="cpu")
    model.load_state_dict(state["state_dict"], strict=False)  # finds strict_false_loads_nothing
    result = model.load_state_dict(torch.load(path, map_location="cpu"), strict=False)
    print(result)
    model.load_state_dict(other.state_dict(), strict=False)
    model.load_state_dict(torch.load("weights/lpips.pth", map_location="cpu"), strict=False)
    model.load_state_dict(torch.load(path, map_location="cpu"), strict=True)


def renamed(model, path):
    state = torch.load(path, map_location="cpu")
    for key in list(state):
        state[key.removeprefix("module.")] = state.pop(key)
    model.load_state_dict(state, strict=False)


def chosen(model, path):
    state = torch.load(path, map_location="cpu")
    state = {key: value for key, value in state.items() if key in model.state_dict()}
    model.load_state_dict(state, strict=False)


def whole(path):
    saved = torch.load(path, map_location="cpu")
    model = Net(**saved["config"])
    model.load_state_dict(saved["model"], strict=False)


def asks_for_a_key(model, path):
    state = torch.load(path, map_location="cpu")
    name = "fc" if model.old else "head"
    if state[f"{name}.weight"].shape[0] == model.classes:
        model.load_state_dict(state, strict=False)


def takes_some_away(model, path):
    state = torch.load(path, map_location="cpu")
    state.pop("head.weight", None)
    model.load_state_dict(state, strict=False)


def with_its_optimizer(model, optimizer, path):
    saved = torch.load(path, map_location="cpu")
    optimizer.load_state_dict(saved["optimizer"])
    model.load_state_dict(saved["model"], strict=False)


def with_an_optimizer_at_times(model, optimizer, path, again):
    saved = torch.load(path, map_location="cpu")
    model.load_state_dict(saved["model"], strict=False)  # finds strict_false_loads_nothing
    if again:
        optimizer.load_state_dict(saved["optimizer"])
        lr_scheduler.load_state_dict(torch.load(args.schedule))


def each(model, paths):
    for path in paths:
        model.load_state_dict(torch.load(path, map_location="cpu"), strict=False)


def best(model, path):
    model.load_state_dict(torch.load(path, map_location="cpu"), strict=False)


def compare(model, args, seed):
    best(model, f"runs/{seed}.pt")
    latest(model, args)


def latest(model, args):
    state = torch.load(args.latest, map_location="cpu")
    model.load_state_dict(state, strict=False)


def keep(model, args):
    torch.save(model.state_dict(), args.latest)


# --- load_state_dict_of_a_path --------------------------------------------------------------------


def given(path, folder, state, step):
    model = Net()
    model.load_state_dict("model.pt")  # finds load_state_dict_of_a_path
    model.load_state_dict(f"model_{step}.pt")  # finds load_state_dict_of_a_path
    model.load_state_dict(path)  # finds load_state_dict_of_a_path
    file = os.path.join(folder, "model.pt")
    Net().load_state_dict(file)  # finds load_state_dict_of_a_path
    model.load_state_dict(torch.load(path, map_location="cpu"))
    model.load_state_dict(state)
    model.load_state_dict(loading.load_state_dict(path))
    path = torch.load(path, map_location="cpu")
    model.load_state_dict(path)
    with pytest.raises(TypeError):
        model.load_state_dict("model.pt")


# --- whole_model_needs_its_class ------------------------------------------------------------------


class Small(nn.Module):
    def forward(self, x):
        return x


def finish(args):
    model = Small().to(args.device)
    torch.save(model, args.out)  # finds whole_model_needs_its_class
    net = build(args)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    torch.save(net, args.out)  # finds whole_model_needs_its_class
    torch.save(net.state_dict(), args.out)
    torch.save({"model": net.state_dict(), "optimizer": optimizer.state_dict()}, args.out)


def weights(args):
    model = Small()
    model = model.state_dict()
    torch.save(model, args.out)
    scripted = torch.jit.script(Small())
    torch.save(scripted, args.out)
    data = build(args)
    torch.save(data, args.out)


def test_pickles(tmp_path):
    model = Small()
    torch.save(model, tmp_path / "model.pt")


# --- cuda_checkpoint_needs_map_location -----------------------------------------------------------


def resume(model, optimizer, args):
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    if args.resume:
        model.load_state_dict(torch.load(args.resume))  # finds cuda_checkpoint_needs_map_location
        saved = torch.load(args.state)  # finds cuda_checkpoint_needs_map_location
        optimizer.load_state_dict(saved["optimizer"])
        model.load_state_dict(torch.load(args.resume, map_location=device))
        model.load_state_dict(torch.load(args.resume, "cpu"))
        model.head.load_state_dict(torch.load(args.head))
        model.net.load_state_dict(torch.load(args.net))  # finds cuda_checkpoint_needs_map_location
    scores = torch.load(args.scores)
    if device == "cuda" and torch.cuda.is_available():
        optimizer.load_state_dict(torch.load(args.state))
    return scores


def train(model, loss, optimizer):
    loss.backward()
    torch.save(model.state_dict(), "best.pt")
    model.load_state_dict(torch.load("best.pt"))


def fit(model, args, optimizer):
    path = train(model, args.loss, optimizer)
    model.load_state_dict(torch.load(path))


def another_class_may_load_it_itself(predictor):
    predictor.load_state_dict("weights/predictor.pth")


def of_another_name(discriminator):
    discriminator.load_state_dict("discriminator.bin")  # finds load_state_dict_of_a_path


def nothing_in_the_other_branch(model, path):
    if os.path.isfile(path):
        state = torch.load(path, map_location="cpu")
    else:
        state = ""
    if state:
        model.load_state_dict(state)
