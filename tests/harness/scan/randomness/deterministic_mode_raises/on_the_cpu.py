import torch

torch.use_deterministic_algorithms(True)
device = torch.device("cpu")
