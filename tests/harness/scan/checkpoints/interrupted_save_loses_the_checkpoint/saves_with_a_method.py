import torch


class Trainer:
    def fit(self, loader):
        for epoch in range(self.start_epoch, 10):
            for x in loader:
                self.optimizer.zero_grad()
                self.model(x).backward()
                self.optimizer.step()
            self.save(f"epoch{epoch}.pt", epoch)
            self.save("last.pt", epoch)  # finds interrupted_save_loses_the_checkpoint

    def save(self, path, epoch):
        state = {"model": self.model.state_dict(), "optimizer": self.optimizer.state_dict()}
        torch.save({**state, "epoch": epoch}, path)
