import torch

from tests.diagnose.trainers import Net, rows, trained


def batchnorm_never_learns():
    model = Net()
    model.body[1] = torch.nn.BatchNorm1d(32, momentum=0.0)
    names = trained(model=model)
    with torch.no_grad():  # as for inputs far from zero
        model.body[0].bias += 30
    return names


def labels_are_random():
    x, y = rows().tensors
    dataset = torch.utils.data.TensorDataset(x, y[torch.randperm(len(y))])
    return trained(val_loader=torch.utils.data.DataLoader(dataset, batch_size=16))


OUTCOMES = [[trained], [batchnorm_never_learns], [labels_are_random]]
