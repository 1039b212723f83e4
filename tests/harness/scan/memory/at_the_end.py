# Read as text by the tests of the rules, never run: the process ends after it.
import gc

import torch
from models import Net


def main():
    model = Net()
    print(model)
    del model
    torch.cuda.empty_cache()
    gc.collect()
    return 0


if __name__ == "__main__":
    main()
