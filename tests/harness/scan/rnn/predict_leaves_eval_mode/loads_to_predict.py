import torch


def load():
    model = torch.load("model.pt", weights_only=False)
    model.eval()
    return model


def fit(model, loader):
    optimizer = torch.optim.Adam(model.parameters())
    for x in loader:
        optimizer.zero_grad()
        model(x).sum().backward()
        optimizer.step()


def predicts(x):
    model = load()
    with torch.no_grad():
        return model(x)
