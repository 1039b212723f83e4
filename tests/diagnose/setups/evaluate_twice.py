import torch

from tests.diagnose.trainers import Net, rows, trained


class Drops(Net):
    def forward(self, x):
        return self.head(torch.nn.functional.dropout(self.body(x), 0.9))


class Augments(torch.utils.data.TensorDataset):
    def __getitem__(self, index):
        x, y = super().__getitem__(index)
        return x + 3 * torch.randn(8), y


def eval_is_forgotten():
    names = trained()

    def evaluate(model, loader):
        with torch.no_grad():
            right = [(model(x).argmax(1) == y).float().mean() for x, y in loader]
        return sum(right) / len(right)

    return names | {"evaluate": evaluate}


def functional_dropout():
    return trained(model=Drops())


def validation_is_augmented():
    dataset = Augments(*rows(4000).tensors)  # two equal results are unlikely
    return trained(val_loader=torch.utils.data.DataLoader(dataset, batch_size=16))


OUTCOMES = [[trained], [eval_is_forgotten], [functional_dropout, validation_is_augmented]]
