import torch

from tests.diagnose.trainers import trainer


class Masked(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.words = torch.nn.Embedding(10, 8)
        self.head = torch.nn.Linear(8, 4)

    def forward(self, x):
        real = (x != 0).unsqueeze(2)
        return self.head((self.words(x) * real).sum(1) / real.sum(1))


class PerWord(Masked):
    def forward(self, x):
        return self.head(self.words(x))


class Mean(Masked):
    def forward(self, x):
        return self.head(self.words(x).mean(1))


class LastStep(Masked):
    def __init__(self):
        super().__init__()
        self.lstm = torch.nn.LSTM(8, 8, batch_first=True)

    def forward(self, x):
        return self.head(self.lstm(self.words(x))[0][:, -1])


class Attention(Masked):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.TransformerEncoderLayer(8, 2, 16, batch_first=True)

    def forward(self, x):
        return self.head(self.layer(self.words(x))[:, 0])


def _trainer(model):
    x = torch.arange(96).reshape(16, 6) % 9 + 1
    x[1::2, 3:] = 0  # every other sentence is shorter
    dataset = torch.utils.data.TensorDataset(x, torch.arange(16) % 4)
    return trainer(model=model, loader=torch.utils.data.DataLoader(dataset, batch_size=16))


def masked():
    return _trainer(Masked())


def per_word():
    return _trainer(PerWord())


def mean_over_all_steps():
    return _trainer(Mean())


def last_step():
    return _trainer(LastStep())


def attention_without_a_mask():
    return _trainer(Attention())


OUTCOMES = [[masked, per_word], [mean_over_all_steps, last_step, attention_without_a_mask]]
