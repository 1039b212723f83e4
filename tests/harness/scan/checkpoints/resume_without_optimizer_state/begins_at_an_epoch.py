import torch


class Trainer:
    def __init__(self, model, args):
        self.model, self.start_epoch = model, args.start_epoch
        self.optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
        if self.start_epoch:
            self.model.load_state_dict(torch.load("last.pt"))  # finds resume_without_optimizer_state

    def train(self, loader, criterion):
        for epoch in range(self.start_epoch, 9):
            for x, y in loader:
                criterion(self.model(x), y).backward()
                self.optimizer.step()
                self.optimizer.zero_grad()
