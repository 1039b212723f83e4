from sklearn.model_selection import train_test_split
from torch.utils.data import DataLoader


def splits(rows):
    train, test = train_test_split(rows, test_size=0.2, shuffle=False)
    train_loader = DataLoader(train, batch_size=8)  # finds not_shuffled
    return train_loader, test
