import torch


class Model(torch.nn.Module):
    def __init__(self, deviation):
        super().__init__()
        self.embedding = torch.nn.Embedding(50, 64)
        torch.nn.init.normal_(self.embedding.weight, std=deviation)
        self.head = torch.nn.Linear(64, 50, bias=False)
        self.head.weight = self.embedding.weight

    def forward(self, tokens):
        return self.head(self.embedding(tokens))


def run(device, deviation):
    model = Model(deviation).to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    for _ in range(3):
        tokens = torch.randint(50, (16,), device=device)
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(model(tokens), (tokens + 1) % 50).backward()
        optimizer.step()


def reproduce(device):
    run(device, deviation=1.0)


def control(device):
    run(device, deviation=0.02)
