import torch


class Trainer:
    def train(self, start_epoch):
        for epoch in range(start_epoch, 10):
            self.model(torch.ones(1)).backward()
            self.optimizer.step()
            self.optimizer.zero_grad()
            self.save_numbered(epoch)
            self.save_best(epoch, 1)
            self.save_checkpoint(epoch)

    def save_numbered(self, epoch):
        state = {"model": self.model.state_dict(), "epoch": epoch}
        torch.save(state, f"{self.folder}/{epoch}.pt")
        torch.save(state, self.folder + "/" + str(epoch) + ".pt")
        torch.save(state, "%s/%d.pt" % (self.folder, epoch))

    def save_best(self, epoch, score):
        if score > self.score:
            torch.save({"model": self.model.state_dict(), "epoch": epoch}, "top.pt")

    def save_checkpoint(self, epoch):
        state = {"model": self.model.state_dict(), "epoch": epoch}
        if epoch % 10 == 0:
            torch.save(state, f"{epoch}.pt")
        last = f"{self.folder}/last.pt"
        torch.save(state, last)  # finds interrupted_save_loses_the_checkpoint
