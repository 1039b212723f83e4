import torch

from tests.diagnose.setups.first_module_with_a_nan import (
    all_labels_are_ignored,
    gradient_of_sqrt_at_zero,
    inputs_are_nan,
)
from tests.diagnose.trainers import rows, trainer


def training_diverges():
    dataset = rows()
    dataset.tensors = (100 * dataset.tensors[0], dataset.tensors[0] * 100)
    model = torch.nn.Linear(8, 8)
    return trainer(
        model=model,
        loader=torch.utils.data.DataLoader(dataset, batch_size=8),
        loss_fn=torch.nn.MSELoss(),
        optimizer=torch.optim.SGD(model.parameters(), lr=0.1),
    )


OUTCOMES = [
    [trainer],
    [training_diverges],
    [gradient_of_sqrt_at_zero, inputs_are_nan, all_labels_are_ignored],
]
