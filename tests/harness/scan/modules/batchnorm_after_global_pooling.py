from torch import nn


class Pooling(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.whole = nn.Sequential(
            nn.AdaptiveAvgPool2d(1),
            nn.Conv2d(size, 256, 1, bias=False),
            nn.BatchNorm2d(256),  # finds batchnorm_after_global_pooling
            nn.ReLU(),
        )
        self.pair = nn.Sequential(
            nn.AdaptiveMaxPool2d((1, 1)),
            nn.Flatten(),
            nn.BatchNorm1d(size),  # finds batchnorm_after_global_pooling
        )
        self.grid = nn.Sequential(nn.AdaptiveAvgPool2d((4, 4)), nn.BatchNorm2d(size))
        self.grown = nn.Sequential(
            nn.AdaptiveAvgPool2d(1), nn.Upsample(scale_factor=8), nn.BatchNorm2d(size)
        )
        self.before = nn.Sequential(nn.BatchNorm2d(size), nn.AdaptiveAvgPool2d(1))
        self.other = nn.Sequential(nn.AdaptiveAvgPool2d(1), nn.GroupNorm(4, size))
