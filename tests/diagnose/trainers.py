"""A healthy training program. The setups of the steps break one thing in it."""

import copy

import torch

# The first step of an optimizer imports more of torch: here, so that forked ranks need not.
torch.optim.SGD([torch.zeros(1)], lr=0.1).zero_grad()


class Clock:
    """Replaces time.perf_counter(). It hardly moves by itself, so that a busy machine is no fault."""

    now = 0.0

    def perf_counter(self):
        self.now += 1e-6
        return self.now

    def sleep(self, seconds):
        self.now += seconds


clock = Clock()


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.body = torch.nn.Sequential(
            torch.nn.Linear(8, 32), torch.nn.BatchNorm1d(32), torch.nn.ReLU()
        )
        self.head = torch.nn.Linear(32, 4)

    def forward(self, x):
        return self.head(self.body(x))


class NewShapes(Net):
    """Needs some seconds more for each new shape of its input."""

    def __init__(self, seconds):
        super().__init__()
        self.seconds, self.shapes = seconds, set()

    def forward(self, x):
        if x.shape not in self.shapes:
            self.shapes.add(x.shape)
            clock.sleep(self.seconds)
        return super().forward(x)


def rows(count=64):
    """Rows of eight features in four classes that the model can tell apart."""
    y = torch.arange(count) % 4
    return torch.utils.data.TensorDataset(
        3 * torch.nn.functional.one_hot(y, 8) + torch.randn(count, 8), y
    )


def trainer(**changes):
    """The names that the code of the steps may use; `changes` replaces some of them."""
    torch.manual_seed(0)
    names = {"torch": torch, "device": "cpu", "loss_fn": torch.nn.CrossEntropyLoss()}
    names["model"] = changes.pop("model", None) or Net()
    names["loader"] = torch.utils.data.DataLoader(rows(), batch_size=16, shuffle=True)
    names["val_loader"] = torch.utils.data.DataLoader(rows(), batch_size=16)
    names["optimizer"] = changes.pop("optimizer", None) or torch.optim.Adam(
        [{"params": names["model"].parameters()}], lr=0.01
    )
    names["scheduler"] = torch.optim.lr_scheduler.LambdaLR(
        names["optimizer"], lambda epoch: 0.5**epoch
    )
    names["exported"] = copy.deepcopy(names["model"]).eval()
    names["make_model"] = Net
    names |= changes

    def train_step(x, y):
        names["optimizer"].zero_grad()
        loss = names["loss_fn"](names["model"](x), y)
        loss.backward()
        names["optimizer"].step()

    def evaluate(model, loader):
        was_training = model.training
        model.eval()
        with torch.no_grad():
            pairs = [(model(x).argmax(1), y) for x, y in loader]
        model.train(was_training)
        right = sum((predicted == y).sum().item() for predicted, y in pairs)
        return right / sum(len(y) for _, y in pairs)

    def save(path):
        parts = [names[name].state_dict() for name in ("model", "optimizer", "scheduler")]
        torch.save([*parts, torch.get_rng_state()], path)

    def load(path):
        *parts, generator = torch.load(path)
        for name, state in zip(("model", "optimizer", "scheduler"), parts):
            names[name].load_state_dict(state)
        torch.set_rng_state(generator)

    functions = {"train_step": train_step, "evaluate": evaluate, "save": save, "load": load}
    return names | functions | changes


def trained(**changes):
    """The same after a few epochs."""
    names = trainer(**changes)
    for _ in range(10):
        for x, y in names["loader"]:
            names["train_step"](x, y)
    return names
