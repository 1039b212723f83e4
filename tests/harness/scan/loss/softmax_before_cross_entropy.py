import torch.nn.functional as F
from torch import nn
from torch.nn import CrossEntropyLoss


def by_name(logits, labels):
    scores = F.softmax(logits, dim=1)
    loss = F.cross_entropy(scores, labels)  # finds softmax_before_cross_entropy
    return loss


def in_the_call(logits, labels):
    return nn.CrossEntropyLoss()(logits.softmax(-1), labels)  # finds softmax_before_cross_entropy


class Digits(nn.Module):
    def __init__(self):
        super().__init__()
        self.head = nn.Sequential(nn.Linear(784, 10), nn.Softmax(dim=1))

    def forward(self, x):
        x = x.flatten(1)
        return self.head(x)


def fit_digits(device, loader):
    model = Digits().to(device)
    model = nn.DataParallel(model)
    criterion = CrossEntropyLoss()
    for x, y in loader:
        out = model(x)
        criterion(out, y).backward()  # finds softmax_before_cross_entropy
        criterion(model(x), y).backward()  # finds softmax_before_cross_entropy


def predicted_after_the_loss(logits, labels):
    loss = F.cross_entropy(logits, labels)
    logits = logits.softmax(1)
    return loss, logits


def predicted_in_another_branch(logits, labels, training):
    if not training:
        logits = logits.softmax(1)
    return F.cross_entropy(logits, labels)


def logarithms_twice(logits, labels):
    return F.cross_entropy(F.log_softmax(logits, 1), labels)


def logarithm_of_a_mixture(a, b, labels):
    return F.cross_entropy((a.softmax(1) / 2 + b.softmax(1) / 2).log(), labels)


def probabilities_as_targets(teacher, student):
    return F.cross_entropy(student, teacher.softmax(1))


class SoftInEvaluation(nn.Module):
    def forward(self, x):
        if self.training:
            return x
        return x.softmax(1)

    def training_step(self, batch):
        x, y = batch
        return F.cross_entropy(self(x), y)


class CalledSoftmax(nn.Module):
    def __init__(self):
        super().__init__()
        self.softmax = nn.LogSoftmax(dim=1)

    def training_step(self, batch):
        x, y = batch
        return F.cross_entropy(self.softmax(x), y)


class TwoKindsOfOutput:
    def predict(self, x):
        self.output = F.softmax(self.net(x), dim=1)
        return self.output

    def train_step(self, x, labels):
        self.output, self.hidden = self.rnn(x)
        return F.cross_entropy(self.output, labels)


def in_one_case(out, labels, activation):
    match activation:
        case "softmax":
            out = F.softmax(out, dim=1)
            return out
    return F.cross_entropy(out, labels)


def in_a_loop_that_may_not_run(model, x, labels, calibrated):
    out = model(x)
    while calibrated:
        out = F.softmax(out, 1)
        out, calibrated = labels(out)
    return F.cross_entropy(out, labels)


def replaced_from_inside(model, x, labels):
    out = F.softmax(x, 1)

    def refresh():
        nonlocal out
        out = model(x)

    refresh()
    return F.cross_entropy(out, labels)


def of_a_sigmoid(model, x, y):
    criterion = nn.CrossEntropyLoss()
    output = F.sigmoid(model(x))
    loss = criterion(output, y)  # finds softmax_before_cross_entropy
    return loss + criterion(model(x), y)
