import torch


class Model(torch.nn.Module):
    def __init__(self, last):
        super().__init__()
        self.last = last
        self.embedding = torch.nn.Embedding(9, 8, padding_idx=0)
        self.lstm = torch.nn.LSTM(8, 6, batch_first=True)
        self.head = torch.nn.Linear(6, 2)

    def forward(self, tokens):
        output, _ = self.lstm(self.embedding(tokens))
        return self.head(self.last(output, tokens))


def run(device, last):
    model = Model(last).to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    tokens = torch.tensor([[1, 2, 3, 0], [4, 5, 0, 0], [6, 7, 8, 1]], device=device)
    for _ in range(3):
        optimizer.zero_grad()
        y = torch.tensor([0, 1, 0], device=device)
        torch.nn.functional.cross_entropy(model(tokens), y).backward()
        optimizer.step()


def reproduce(device):
    run(device, lambda output, tokens: output[:, -1])


def control(device):
    run(device, lambda output, tokens: output[range(3), (tokens != 0).sum(1) - 1])
