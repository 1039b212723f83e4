from tests.diagnose.trainers import Net, trainer


class Detached(Net):
    def forward(self, x):
        return self.head(self.body(x).detach())


def dead():
    model = Net()
    model.body[2].forward = lambda x: (x - 100).relu()
    model.head.bias.requires_grad_(False)
    return trainer(model=model)


def detached():
    return trainer(model=Detached())


OUTCOMES = [[trainer], [detached], [dead]]
