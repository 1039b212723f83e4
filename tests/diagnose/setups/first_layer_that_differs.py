import torch

from tests.diagnose.trainers import Net, rows, trainer


class Rounds(torch.nn.ReLU):
    def forward(self, x):
        output = super().forward(x)
        return output if x.dtype == torch.float64 else output + 0.1  # as a wrong kernel


class Pair(Net):
    def forward(self, x):
        return (torch.nn.functional.linear(x, self.head.weight[:, :8]),)


def kernel_is_wrong():
    model = Net()
    model.body[2] = Rounds()
    return trainer(model=model)


def output_is_a_tuple():
    loader = torch.utils.data.DataLoader(rows(), batch_size=16)
    return trainer(model=Pair(), loader=loader)


OUTCOMES = [[trainer], [kernel_is_wrong], [output_is_a_tuple]]
