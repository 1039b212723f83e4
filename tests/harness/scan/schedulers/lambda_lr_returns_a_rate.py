import math

from torch.optim import SGD, Adam
from torch.optim.lr_scheduler import LambdaLR


def decays(model, args):
    optimizer = SGD(model.parameters(), lr=args.lr, momentum=0.9)
    return LambdaLR(optimizer, lambda x: args.lr * (1 + 10 * x) ** -0.75)  # finds lambda_lr_returns_a_rate


def with_a_function(model, epochs):
    base_lr = 1e-3
    optimizer = Adam(model.parameters(), lr=base_lr)

    def schedule(epoch):
        if epoch < 5:
            return base_lr * (epoch + 1) / 5
        return max(1e-6, 0.5 * base_lr * (1 + math.cos(epoch / epochs * math.pi)))

    return LambdaLR(optimizer, schedule)  # finds lambda_lr_returns_a_rate


def factors(model, args):
    optimizer = SGD(model.parameters(), lr=args.lr)
    return LambdaLR(optimizer, lambda x: (1 + 10 * x) ** -0.75)


def from_one(model, args):
    optimizer = SGD(model.parameters(), lr=1.0)
    return LambdaLR(optimizer, lambda x: args.lr * 0.9**x)


def relative_to_the_rate(model, args):
    optimizer = SGD(model.parameters(), lr=args.lr)
    return LambdaLR(optimizer, lambda x: max(args.min_lr, 0.9**x * args.lr) / args.lr)
