from torch.utils.data import DataLoader


def trains_on_one_batch(rows, train):
    loader = DataLoader(rows, batch_size=8)
    for _ in range(100):
        train(next(iter(loader)))  # finds next_iter_restarts_the_loader


def trains_on_one_batch_in_order(rows, train):
    loader = DataLoader(rows, batch_size=8, shuffle=False)
    while True:
        batch = next(iter(loader))  # finds next_iter_restarts_the_loader
        train(batch)


def trains_on_shuffled_batches(rows, train):
    loader = DataLoader(rows, batch_size=8, shuffle=True)
    for _ in range(100):
        train(next(iter(loader)))


def looks_at_one_batch(rows):
    loader = DataLoader(rows, batch_size=8)
    return next(iter(loader))


def shows_the_same_rows(rows, train, show):
    val_loader = DataLoader(rows, batch_size=8)
    for _ in range(100):
        train()
        show(next(iter(val_loader)))


def looks_at_each_loader(several):
    for rows in several:
        loader = DataLoader(rows, batch_size=8)
        print(next(iter(loader)))
