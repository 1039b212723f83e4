import torch


def trains(model, path):
    model = torch.compile(model)
    torch.save(model.state_dict(), path)  # finds compiled_model_prefix


class Trainer:
    def __init__(self, model):
        self.bare, self.model = model, torch.compile(model, mode="max-autotune")

    def save(self, epoch, path):
        torch.save({"epoch": epoch, "model": self.model.state_dict()}, path)  # finds compiled_model_prefix

    def saves_the_bare_model(self, path):
        torch.save(self.bare.state_dict(), path)


def compiles_in_place(model, path):
    model.compile()
    torch.save(model.state_dict(), path)
