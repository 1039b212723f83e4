import torch
import torch.nn.functional as F
from torch.autograd import Variable


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


class GivenFromItself:
    def step(self, x, labels):
        self.hidden, self.logits = self.net(x)
        self.logits = self.logits.squeeze(1)
        return F.cross_entropy(self.logits, labels)


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
