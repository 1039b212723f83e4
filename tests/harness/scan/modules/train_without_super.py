import torch.nn as nn


class Frozen(nn.Module):
    def train(self, mode=True):  # finds train_without_super
        self.training = mode
        self.norm.eval()
        return self


class Half(nn.Module):
    def train(self, mode: bool = True):  # finds train_without_super
        self.head.train(mode)


class Right(nn.Module):
    def train(self, mode=True):
        super().train(mode)
        self.norm.eval()
        return self


class Old(nn.Module):
    def train(self, mode=True):
        nn.Module.train(self, mode)
        self.norm.eval()


class Parts(nn.Module):
    def train(self, mode=True):
        self.training = mode
        for module in self.children():
            module.train(mode)
        return self


class Trainer:
    def train(self, verbose=True):
        self.model.fit()


class Fits(nn.Module):
    def train(self, loader, epochs=3):
        pass


class OwnMode(nn.Module):
    def train(self, mode=True):
        self.long_run = mode

    def eval(self):
        self.train(False)
