import torch


def resumes(path):
    model = torch.load(path)  # finds weights_only_refuses_other_types
    model.eval()
    return model


class Server:
    def __init__(self, path):
        self.net = torch.load(path, map_location="cpu")  # finds weights_only_refuses_other_types
        self.net.train()


def loads_a_state(model, path):
    state = torch.load(path)
    model.load_state_dict(state)
    old = torch.load(path, weights_only=False)
    old.eval()
    tensor = torch.load(path)
    return tensor.mean(), old


def train(args, model, path):
    torch.save({"state": model.state_dict(), "args": args, "lr": args.lr}, path)


def resume(model, path):
    saved = torch.load(path)  # finds weights_only_refuses_other_types
    model.load_state_dict(saved["state"])
    scores = torch.load("scores.pt")
    return scores["mean"]


def edits_the_model(path):
    net = torch.load(path)  # finds weights_only_refuses_other_types
    net.decoder.max_length = 3
    tensor = torch.load(path)
    tensor.requires_grad = True
    return net, tensor
