from models import Net


def predicts(x):
    return Net().eval().forward(x)
