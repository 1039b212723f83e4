import warnings

import torch

from tests.diagnose.trainers import Net, rows, trainer


class FallsBack(Net):
    def forward(self, x):
        warnings.warn(
            "The operator 'aten::_linalg_eigh' is not currently supported on the MPS backend and "
            "will fall back to run on the CPU. This may have performance implications.",
            stacklevel=1,
        )
        return super().forward(x)


def operator_falls_back():
    return trainer(model=FallsBack())


def shapes_broadcast():
    x, y = rows().tensors
    dataset = torch.utils.data.TensorDataset(x, y.float().unsqueeze(1))
    loader = torch.utils.data.DataLoader(dataset, batch_size=16)
    return trainer(loader=loader, loss_fn=torch.nn.MSELoss())


OUTCOMES = [[trainer], [operator_falls_back], [shapes_broadcast]]
