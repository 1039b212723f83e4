import torch
from torch.utils.data import DataLoader


def set_seed(seed):
    torch.manual_seed(seed)


if __name__ == "__main__":
    set_seed(3)  # finds resumed_run_repeats_the_first_epoch
    model = torch.nn.Linear(1, 1)
    loader = DataLoader(range(3), shuffle=True)
    model.load_state_dict(torch.load("last.pt", map_location="cpu"))
    for epoch in range(start_epoch, 10):
        for x in loader:
            model(x).backward()
