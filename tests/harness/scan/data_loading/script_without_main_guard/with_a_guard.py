from torch.utils.data import DataLoader

loader = DataLoader(list(range(9)), batch_size=3, num_workers=2)
if __name__ == "__main__":
    for x in loader:
        print(x)
