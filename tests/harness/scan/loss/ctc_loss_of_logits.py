import torch
import torch.nn.functional as F
from torch import nn


class Recognizer(nn.Module):
    def __init__(self):
        super().__init__()
        self.rnn = nn.LSTM(40, 64)
        self.head = nn.Linear(64, 30)

    def forward(self, x):
        x, _ = self.rnn(x)
        return self.head(x)


class Normalized(Recognizer):
    def forward(self, x):
        x, _ = self.rnn(x)
        return F.log_softmax(self.head(x), dim=-1)


def trains(loader):
    model, criterion = Recognizer(), nn.CTCLoss(blank=0)
    for x, y, frames, lengths in loader:
        output = model(x)
        loss = criterion(output.permute(1, 0, 2), y, frames, lengths)  # finds ctc_loss_of_logits
        loss.backward()


def computes(head, x, y, frames, lengths):
    head = nn.Linear(64, 30)
    return F.ctc_loss(head(x), y, frames, lengths)  # finds ctc_loss_of_logits


def takes_log_softmax(loader):
    model, normalized, criterion = Recognizer(), Normalized(), nn.CTCLoss()
    for x, y, frames, lengths in loader:
        scores = model(x).log_softmax(2)
        loss = criterion(scores.permute(1, 0, 2), y, frames, lengths)
        loss = loss + criterion(normalized(x).permute(1, 0, 2), y, frames, lengths)
        loss.backward()


def of_an_unknown_model(model, x, y, frames, lengths):
    return F.ctc_loss(model(x), y, frames, lengths)
