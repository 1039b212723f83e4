from torch.optim.lr_scheduler import CosineAnnealingLR


def cosine_in_steps(model, train_loader, optimizer, args):
    steps = args.epochs * len(train_loader)
    scheduler = CosineAnnealingLR(optimizer, steps)
    for epoch in range(args.epochs):
        for x in train_loader:
            optimizer.zero_grad()
            model(x).sum().backward()
            optimizer.step()
        if epoch >= 10:
            scheduler.step()  # finds cosine_hardly_moves


def one_epoch(model, loader, optimizer):
    for x in loader:
        optimizer.zero_grad()
        model(x).sum().backward()
        optimizer.step()


def cosine_in_batches(model, train_loader, optimizer, epochs):
    scheduler = CosineAnnealingLR(optimizer, T_max=len(train_loader) * epochs, eta_min=1e-6)
    for epoch in range(epochs):
        one_epoch(model, train_loader, optimizer)
        scheduler.step()  # finds cosine_hardly_moves


def cosine_of_a_part(model, loader, optimizer, epochs, share):
    scheduler = CosineAnnealingLR(optimizer, T_max=epochs * share)
    for epoch in range(epochs):
        one_epoch(model, loader, optimizer)
        scheduler.step()
