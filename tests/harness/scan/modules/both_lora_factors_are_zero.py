import torch
from torch import nn


class Lora(nn.Module):
    def __init__(self, size, rank):
        super().__init__()
        self.lora_A = nn.Parameter(torch.zeros(rank, size))
        self.lora_B = nn.Parameter(torch.zeros(size, rank))  # finds both_lora_factors_are_zero
        self.bias_a = nn.Parameter(torch.zeros(size))
        self.bias_b = nn.Parameter(torch.zeros(size))


class Plain(nn.Module):
    def __init__(self, size, rank):
        super().__init__()
        self.lora_b = nn.Parameter(torch.zeros(rank, size))
        self.lora_a = nn.Parameter(torch.zeros(size, rank))  # finds both_lora_factors_are_zero


class Right(nn.Module):
    def __init__(self, size, rank):
        super().__init__()
        self.lora_a = nn.Parameter(torch.zeros(rank, size))
        self.lora_b = nn.Parameter(torch.zeros(size, rank))
        nn.init.kaiming_uniform_(self.lora_a)
