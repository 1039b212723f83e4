from torch.utils.data import DataLoader


def loaders(train_rows, test_rows):
    made = []
    for rows in [train_rows, test_rows]:
        loader = DataLoader(rows, batch_size=8)  # finds not_shuffled
        made.append(loader)
    for rows in [test_rows]:
        loader = DataLoader(rows, batch_size=8)
        made.append(loader)
    return made
