import torch
import torch.nn as nn
from models import build


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


def keep(net, path):
    torch.save(net, path)  # finds whole_model_needs_its_class


def keep_state(state, path):
    torch.save(state, path)


def fit(net, path):
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    keep(net, path)
    keep_state(net.state_dict(), path)
    return optimizer


def in_a_dict(wrapped, optimizer, path):
    model = wrapped.module if hasattr(wrapped, "module") else wrapped
    state = {"model": model, "weights": model.state_dict(), "optimizer": optimizer.state_dict()}
    torch.save(state, path)  # finds whole_model_needs_its_class
    torch.save({"weights": model.state_dict(), "optimizer": optimizer}, path)


def best_of_a_run(encoder, score, path):
    best, scores = {}, {}
    encoder.train()
    best["encoder"] = encoder
    scores["encoder"] = score
    torch.save(best["encoder"], path)  # finds whole_model_needs_its_class
    torch.save(scores["encoder"], path)


def moved_first(path):
    net = Net()
    torch.save(net.cpu(), path)  # finds whole_model_needs_its_class


class Agent:
    def __init__(self, policy, device):
        self.net = policy.to(device)
        self.rows = policy.rows.to(device)
        self.optimizer = torch.optim.Adam(self.net.parameters())

    def save(self, path):
        torch.save(self.net, path)  # finds whole_model_needs_its_class
        torch.save(self.rows, path)
