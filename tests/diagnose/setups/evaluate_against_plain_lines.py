import torch

from tests.diagnose.trainers import rows, trained


def _evaluate(model, loader, count):
    model.eval()
    with torch.no_grad():
        return sum(map(float, [count(model(x).argmax(1), y) for x, y in loader])) / len(loader)


def labels_in_a_column():
    x, y = rows().tensors
    dataset = torch.utils.data.TensorDataset(x, y.unsqueeze(1))
    names = trained(val_loader=torch.utils.data.DataLoader(dataset, batch_size=16))

    def evaluate(model, loader):
        return _evaluate(model, loader, lambda predicted, y: (predicted == y).float().mean())

    return names | {"evaluate": evaluate}


def other_data():
    names = trained()
    x, y = names["val_loader"].dataset.tensors
    other = torch.utils.data.TensorDataset(x, (y + (torch.arange(64) < 32)) % 4)
    return (
        names
        | {"val_loader": torch.utils.data.DataLoader(other, batch_size=16)}
        | {"evaluate": lambda model, loader: names["evaluate"](model, names["val_loader"])}
    )


OUTCOMES = [[trained], [labels_in_a_column], [other_data]]
