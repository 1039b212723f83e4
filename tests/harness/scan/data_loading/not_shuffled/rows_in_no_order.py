from torch.utils.data import DataLoader, random_split


def splits(rows):
    train, test = random_split(rows, [80, 20])
    train_loader = DataLoader(train, batch_size=8)
    return train_loader, test
