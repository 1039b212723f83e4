from torch.utils.data import DataLoader
from torchvision.datasets import MNIST

train_loader = DataLoader(MNIST("data"), batch_size=64)
