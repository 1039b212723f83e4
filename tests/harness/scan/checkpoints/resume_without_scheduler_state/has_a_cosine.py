import torch
from torch.optim.lr_scheduler import CosineAnnealingLR


class Trainer:
    def __init__(self, model, args):
        self.model, self.resume = model, args.resume
        self.optimizer = torch.optim.AdamW(model.parameters())
        self.lr_scheduler = CosineAnnealingLR(self.optimizer, 100)
        if self.resume:
            state = torch.load(self.resume)
            self.model.load_state_dict(state["model"])
            self.optimizer.load_state_dict(state["opt"])  # finds resume_without_scheduler_state

    def train(self, loader, criterion):
        for x, y in loader:
            criterion(self.model(x), y).backward()
            self.optimizer.step()
            self.optimizer.zero_grad()
        self.lr_scheduler.step()
