import torch
from torch.cuda.amp import GradScaler


class Trainer:
    def __init__(self, model):
        self.model, self.scaler = model, GradScaler()
        self.optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

    def step(self, loss):
        self.scaler.scale(loss).backward()
        self.scaler.step(self.optimizer)
        self.scaler.update()

    def save(self):
        torch.save(  # finds scaler_state_is_not_saved
            {"model": self.model.state_dict(), "optimizer": self.optimizer.state_dict()}, "last.pt"
        )
