import torch
from torch.utils.data import DataLoader

loader = DataLoader(list(range(9)), batch_size=3, num_workers=2)  # finds script_without_main_guard
second = DataLoader(list(range(9)), num_workers=4)
alone = DataLoader(list(range(9)), num_workers=0)
unused = DataLoader(list(range(9)), num_workers=2)

for x in loader:
    print(x)
for i, x in enumerate(second):
    print(i, x)
for x in alone:
    print(x)
