import torch
from models import Net


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
