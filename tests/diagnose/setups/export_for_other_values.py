from tests.diagnose.setups.weights_of_the_export import exported_before_training
from tests.diagnose.trainers import Net, trainer


class Chooses(Net):
    def forward(self, x):
        output = super().forward(x)
        return output if x.sum() > 0 else 1 - output


def branch_is_fixed():
    model = Chooses().eval()
    return trainer(model=model, exported=lambda x: Net.forward(model, x))


OUTCOMES = [[trainer], [branch_is_fixed], [exported_before_training]]
