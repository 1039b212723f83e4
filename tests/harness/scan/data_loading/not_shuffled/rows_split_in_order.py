from sklearn.model_selection import train_test_split
from torch.utils.data import DataLoader
from torchvision.datasets import ImageFolder


def splits(rows, folder):
    first, second = train_test_split(rows, test_size=0.2, shuffle=False)
    train_loader = DataLoader(ImageFolder(folder), batch_size=8)  # finds not_shuffled
    return first, second, train_loader
