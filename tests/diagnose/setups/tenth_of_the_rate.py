import torch

from tests.diagnose.setups.first_module_with_a_nan import all_labels_are_ignored, inputs_are_nan
from tests.diagnose.trainers import rows, trainer


def rate_is_too_large():
    dataset = rows()
    dataset.tensors = (dataset.tensors[0], dataset.tensors[0])
    model = torch.nn.Linear(8, 8)
    return trainer(
        model=model,
        loader=torch.utils.data.DataLoader(dataset, batch_size=4),
        loss_fn=torch.nn.MSELoss(reduction="sum"),
        optimizer=torch.optim.SGD(model.parameters(), lr=0.05),
    )


OUTCOMES = [[trainer], [rate_is_too_large], [all_labels_are_ignored, inputs_are_nan]]
