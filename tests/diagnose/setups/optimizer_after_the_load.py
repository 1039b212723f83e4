import torch

from tests.diagnose.trainers import Net, trainer


def only_the_model():
    names = trainer()
    model = names["model"]
    return names | {
        "save": lambda path: torch.save(model.state_dict(), path),
        "load": lambda path: model.load_state_dict(torch.load(path)),
    }


def plain_sgd():
    model = Net()
    return trainer(model=model, optimizer=torch.optim.SGD(model.parameters(), lr=0.1))


OUTCOMES = [[trainer], [only_the_model], [plain_sgd]]
