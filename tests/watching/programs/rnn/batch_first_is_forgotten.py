import torch


class Model(torch.nn.Module):
    def __init__(self, batch_first):
        super().__init__()
        self.layer = torch.nn.LSTM(8, 8, batch_first=batch_first)
        self.head = torch.nn.Linear(8, 3)

    def forward(self, x):  # [batch, time, features]
        return self.head(self.layer(x)[0][:, -1])


def run(device, batch_first):
    model = Model(batch_first).to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(3):
        x, y = torch.randn(6, 5, 8, device=device), torch.randint(3, (6,), device=device)
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(model(x), y).backward()
        optimizer.step()


def reproduce(device):
    run(device, batch_first=False)


def control(device):
    run(device, batch_first=True)
