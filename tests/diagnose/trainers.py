"""A healthy training program. The setups of the steps break one thing in it."""

import torch


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.body = torch.nn.Sequential(
            torch.nn.Linear(8, 32), torch.nn.BatchNorm1d(32), torch.nn.ReLU()
        )
        self.head = torch.nn.Linear(32, 4)

    def forward(self, x):
        return self.head(self.body(x))


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
    names["optimizer"] = torch.optim.Adam(names["model"].parameters(), lr=0.01)
    return names | changes
