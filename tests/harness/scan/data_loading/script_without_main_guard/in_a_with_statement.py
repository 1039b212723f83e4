import torch
from torch.utils.data import DataLoader

batches = DataLoader(  # finds script_without_main_guard
    list(range(9)), num_workers=4
)
with torch.no_grad():
    for x in batches:
        print(x)
