import torch


def trains(model, loader, criterion, pretrained):
    first_epoch, last_epoch = 0, 9
    if pretrained:
        model.load_state_dict(torch.load("trained.pt"))
    optimizer = torch.optim.Adam(model.parameters())
    for epoch in range(first_epoch, last_epoch):
        for x, y in loader:
            criterion(model(x), y).backward()
            optimizer.step()
            optimizer.zero_grad()
