"""Places that rules/loss.py finds, as marked, and places that it has to leave alone."""

import torch
import torch.nn.functional as F
from scipy.special import kl_div
from torch import nn
from torch.autograd import Variable
from torch.nn import CrossEntropyLoss

# --- softmax_before_cross_entropy, sigmoid_before_bce_with_logits ---------------------------------


def by_name(logits, labels):
    scores = F.softmax(logits, dim=1)
    loss = F.cross_entropy(scores, labels)  # finds softmax_before_cross_entropy
    return loss


def in_place_of_the_logits(model, images, masks):
    masks_pred = model(images)
    masks_pred = torch.sigmoid(masks_pred)
    criterion = nn.BCEWithLogitsLoss().to("cuda")
    return criterion(masks_pred, masks)  # finds sigmoid_before_bce_with_logits


def in_the_call(logits, labels):
    return nn.CrossEntropyLoss()(logits.softmax(-1), labels)  # finds softmax_before_cross_entropy


def bce_in_the_call(out, y):
    loss = F.binary_cross_entropy_with_logits(  # finds sigmoid_before_bce_with_logits
        input=out.sigmoid(), target=y
    )
    return loss


class Digits(nn.Module):
    def __init__(self):
        super().__init__()
        self.head = nn.Sequential(nn.Linear(784, 10), nn.Softmax(dim=1))

    def forward(self, x):
        x = x.flatten(1)
        return self.head(x)


class Gate(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear, self.activation = nn.Linear(3, 1), nn.Sigmoid()

    def forward(self, x):
        return self.activation(self.linear(x))


def fit_digits(device, loader):
    model = Digits().to(device)
    model = nn.DataParallel(model)
    criterion = CrossEntropyLoss()
    for x, y in loader:
        out = model(x)
        criterion(out, y).backward()  # finds softmax_before_cross_entropy
        criterion(model(x), y).backward()  # finds softmax_before_cross_entropy


def fit(model, loader, criterion, optimizer):
    for x, y in loader:
        loss = criterion(model(x), y)  # finds sigmoid_before_bce_with_logits
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def main(loader):
    gate = Gate()
    optimizer = torch.optim.Adam(gate.parameters())
    fit(gate, loader, nn.BCEWithLogitsLoss(), optimizer)


def fit_one_of_two(model, loader, criterion):
    for x, y in loader:
        criterion(model(x), y).backward()


def main_of_two(loader):
    fit_one_of_two(Gate(), loader, nn.BCEWithLogitsLoss())
    fit_one_of_two(nn.Linear(3, 1), loader, nn.BCEWithLogitsLoss())


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


class OfThisProject(nn.Module):
    def forward(self, probabilities, labels):
        return -probabilities.log().gather(1, labels).mean()


def with_its_own_loss(logits, labels):
    criterion = OfThisProject()
    return criterion(logits.softmax(1), labels)


# --- kl_div_mean_divides_by_the_classes, kl_div_of_probabilities ----------------------------------


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


def of_probabilities(p, q):
    p = torch.softmax(p, dim=-1)
    return F.kl_div(p, q.softmax(-1), reduction="sum")  # finds kl_div_of_probabilities


def with_options(p, q, how):
    a = F.kl_div(p, q, None, None, "sum")
    b = F.kl_div(p, q, reduction=how)
    c = F.kl_div(p, q, False)
    return a, b, c


def multiplied_again(p, q):
    return F.kl_div(p, q, reduction="mean") * p.size(1)


def logarithm_of_probabilities(p, q):
    p = torch.softmax(p, dim=-1)
    return F.kl_div((p + 1e-8).log(), q, reduction="sum")


def of_scipy(p, q):
    return kl_div(p.softmax(1), q).sum()


def overwritten_by_logarithms(p, q):
    p = p.softmax(1)
    p = (p + 1e-8).log()
    return F.kl_div(p, q, reduction="batchmean")


# --- bce_of_raw_outputs ---------------------------------------------------------------------------


class Raw(nn.Module):
    def __init__(self):
        super().__init__()
        self.hidden = nn.Linear(8, 8)
        self.out = nn.Linear(8, 1)

    def forward(self, x):
        x = torch.relu(self.hidden(x))
        x = self.out(x)
        return x


def raw(loader, device):
    net = Raw().to(device)
    criterion = nn.BCELoss()
    for x, y in loader:
        pred = net(x)
        criterion(pred.squeeze(1), y).backward()  # finds bce_of_raw_outputs


def raw_of_a_sequence(x, y):
    model = nn.Sequential(nn.Linear(8, 8), nn.ReLU(), nn.Linear(8, 1))
    output = model(x).view(-1)
    return F.binary_cross_entropy(output, y)  # finds bce_of_raw_outputs


def with_the_sigmoid(x, y):
    model = Raw()
    output = torch.sigmoid(model(x))
    return F.binary_cross_entropy(output, y)


def ends_in_a_sigmoid(x, y):
    model = nn.Sequential(nn.Linear(8, 1), nn.Sigmoid())
    return F.binary_cross_entropy(model(x), y) + F.binary_cross_entropy(Gate()(x), y)


def of_a_model_from_elsewhere(model, x, y):
    return nn.BCELoss()(model(x), y)


def clamped(x, y):
    model = Raw()
    return F.binary_cross_entropy(model(x).clamp(0, 1), y)


# --- rewrapped_in_a_tensor ------------------------------------------------------------------------


def rewrapped(model, x, y, optimizer):
    loss = F.mse_loss(model(x), y)
    loss = torch.tensor(loss, requires_grad=True)  # finds rewrapped_in_a_tensor
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()


def rewrapped_as_it_was_done(model, x, y, loss_of):
    loss = loss_of(model(x), y)
    Variable(loss.data, requires_grad=True).backward()  # finds rewrapped_in_a_tensor


def a_leaf_of_numbers():
    loss = torch.tensor(3.0, requires_grad=True)
    loss.backward()
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    x.backward(torch.ones(2))


def nothing_to_learn_from(loss, empty):
    if empty:
        loss = torch.tensor(0.0, requires_grad=True)
    loss.backward()


def a_copy_beside_it(model, x, y):
    loss = F.mse_loss(model(x), y)
    copy = torch.tensor(loss, requires_grad=True)
    (copy**2).backward()
    loss.backward(copy.grad)


def a_leaf_inside(weights, x):
    values = Variable(weights.data, requires_grad=True)
    (values * x).sum().backward()
    return values.grad


# --- what a name may hold -------------------------------------------------------------------------


class TwoKindsOfOutput:
    def predict(self, x):
        self.output = F.softmax(self.net(x), dim=1)
        return self.output

    def train_step(self, x, labels):
        self.output, self.hidden = self.rnn(x)
        return F.cross_entropy(self.output, labels)


class GivenFromItself:
    def step(self, x, labels):
        self.hidden, self.logits = self.net(x)
        self.logits = self.logits.squeeze(1)
        return F.cross_entropy(self.logits, labels)


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


def captured(batch, labels):
    out = F.softmax(batch.first, 1)
    match batch:
        case Distiller(kl=out):
            return F.cross_entropy(out, labels)


def replaced_from_inside(model, x, labels):
    out = F.softmax(x, 1)

    def refresh():
        nonlocal out
        out = model(x)

    refresh()
    return F.cross_entropy(out, labels)


shared = F.softmax(torch.ones(2, 2), 1)


def replaces_it_for_all(model, x):
    global shared
    shared = model(x)


def of_the_shared_one(labels):
    return F.cross_entropy(shared, labels)


def maps(fn, x):
    return maps_a_list(fn, x) if isinstance(x, list) else F.cross_entropy(fn(x), fn)


def maps_a_list(fn, values):
    return [maps(fn, x) for x in values]


class SigmoidInPlace(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(8, 1)

    def forward(self, x, y):
        out = self.fc(x)
        out.sigmoid_()
        return F.binary_cross_entropy(out, y)


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
