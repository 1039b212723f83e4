import torch


class Model(torch.nn.Module):
    def __init__(self, masks):
        super().__init__()
        self.masks = masks
        self.embedding = torch.nn.Embedding(9, 8, padding_idx=0)
        layer = torch.nn.TransformerEncoderLayer(8, 2, 16, batch_first=True)
        self.encoder = torch.nn.TransformerEncoder(layer, 1)
        self.head = torch.nn.Linear(8, 2)

    def forward(self, tokens):
        mask = tokens == 0 if self.masks else None
        hidden = self.encoder(self.embedding(tokens), src_key_padding_mask=mask)
        return self.head(hidden[:, 0])


def run(device, masks):
    model = Model(masks).to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    tokens = torch.tensor([[1, 2, 3, 0], [4, 5, 0, 0], [6, 7, 8, 1]], device=device)
    for _ in range(3):
        optimizer.zero_grad()
        y = torch.tensor([0, 1, 0], device=device)
        torch.nn.functional.cross_entropy(model(tokens), y).backward()
        optimizer.step()


def reproduce(device):
    run(device, masks=False)


def control(device):
    run(device, masks=True)
