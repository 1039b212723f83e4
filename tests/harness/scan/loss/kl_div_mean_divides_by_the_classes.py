import torch
import torch.nn.functional as F
from torch import nn


def distil(student, teacher, t):
    soft = F.kl_div(  # finds kl_div_mean_divides_by_the_classes
        F.log_softmax(student / t, dim=1), F.softmax(teacher / t, dim=1)
    )
    return soft * t * t


def distillation_loss(student, teacher, x):
    return distil(student(x), teacher(x), 2.0)


def left_from_another_project(student, teacher):
    return F.kl_div(F.log_softmax(student, dim=1), F.softmax(teacher, dim=1), reduction="mean")


class Distiller(nn.Module):
    def __init__(self):
        super().__init__()
        self.kl = nn.KLDivLoss(reduction="mean")  # finds kl_div_mean_divides_by_the_classes
        self.right = nn.KLDivLoss(reduction="batchmean")
        self.summed = nn.KLDivLoss(size_average=False)

    def forward(self, student, teacher):
        return self.right(student.softmax(1), teacher)  # finds kl_div_of_probabilities

    def weighed(self, student, teacher, labels):
        return F.cross_entropy(student, labels) + 0.5 * self.kl(student.log_softmax(1), teacher)


def alone(student, teacher):
    divergence = F.kl_div(student.log_softmax(1), teacher.softmax(1))
    return (divergence,) + (student, teacher)


def of_the_loss_alone(student, teacher):
    return alone(student, teacher)


def summed_up(student, teacher, total):
    total += F.kl_div(  # finds kl_div_mean_divides_by_the_classes
        student.log_softmax(1), teacher.softmax(1)
    )
    return total


def in_a_sum(student, teacher, x):
    return summed_up(student(x), teacher(x), 0.0)


def with_options(p, q, how):
    a = F.kl_div(p, q, None, None, "sum")
    b = F.kl_div(p, q, reduction=how)
    c = F.kl_div(p, q, False)
    return a, b, c


def multiplied_again(p, q):
    return F.kl_div(p, q, reduction="mean") * p.size(1)


class Raw(nn.Module):
    def __init__(self):
        super().__init__()
        self.hidden = nn.Linear(8, 8)
        self.out = nn.Linear(8, 1)

    def forward(self, x):
        x = torch.relu(self.hidden(x))
        x = self.out(x)
        return x


def clamped(x, y):
    model = Raw()
    return F.binary_cross_entropy(model(x).clamp(0, 1), y)


def captured(batch, labels):
    out = F.softmax(batch.first, 1)
    match batch:
        case Distiller(kl=out):
            return F.cross_entropy(out, labels)


def logarithm_in_place(logits, target):
    p = F.softmax(logits, dim=1)
    p.clamp_(min=1e-8).log_()
    return F.kl_div(p, target, reduction="batchmean")


def in_one_column(student, teacher, loss):
    return loss + F.kl_div(student.reshape(-1, 1), teacher.reshape(-1, 1))


def in_one_column_by_now(y_pred, y_true, weight):
    y_pred = y_pred.view(-1, 1)
    clamped = torch.clamp(y_pred, 1e-7, 1.0)
    return weight * F.kl_div(torch.log(clamped), y_true)


def uses_both(y_pred, y_true):
    return in_one_column_by_now(y_pred, y_true, 0.5)


def uses_one_column(student, teacher):
    return in_one_column(student, teacher, 0.0)


def only_logs_it(student, teacher, loss, total):
    divergence = F.kl_div(student, teacher)
    loss.backward()
    total += divergence.item()
    return total


def uses_the_log(student, teacher, loss):
    return only_logs_it(student, teacher, loss, 0.0)
