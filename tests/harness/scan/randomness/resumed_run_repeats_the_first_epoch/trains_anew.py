import torch
from torch.utils.data import DataLoader


def main(model, rows, args):
    torch.manual_seed(args.seed)
    loader = DataLoader(rows, shuffle=True)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    model.load_state_dict(torch.load(args.pretrained, map_location="cpu"))
    for epoch in range(args.epochs):
        for x in loader:
            optimizer.zero_grad()
            model(x).backward()
            optimizer.step()
