from itertools import chain
from torch import nn, optim
from torch.nn.utils import clip_grad_norm_


def clips_what_the_optimizer_has_read(model, batches):
    trainable = filter(lambda p: p.requires_grad, model.parameters())
    optimizer = optim.AdamW(trainable, lr=1e-4)
    for batch in batches:
        model(batch).sum().backward()
        clip_grad_norm_(trainable, 1.0)  # finds clip_exhausted_generator
        optimizer.step()
        optimizer.zero_grad()


def clips_by_another_name(generator, encoder, batches):
    both = chain(generator.parameters(), encoder.parameters())
    optimizer = optim.SGD([{"params": both}], lr=0.1)
    for batch in batches:
        encoder(generator(batch)).sum().backward()
        to_clip = both
        nn.utils.clip_grad_value_(to_clip, 0.5)  # finds clip_exhausted_generator
        optimizer.step()


def clips_in_the_first_pass_only(model, optimizer, batches):
    weights = (p for name, p in model.named_parameters() if "bias" not in name)
    for batch in batches:
        model(batch).sum().backward()
        clip_grad_norm_(weights, 1.0)  # finds clip_exhausted_generator
        optimizer.step()


def averages_in_the_first_pass_only(model, ema, batches):
    weights = model.parameters()
    for batch in batches:
        model(batch).sum().backward()
        ema.step(weights)  # finds clip_exhausted_generator


class Clipped:
    def __init__(self, model):
        self.model = model
        self.weights = model.parameters()
        self.optimizer = optim.SGD(self.weights, lr=0.1)
        self.kept = list(model.parameters())
        self.other = optim.SGD(self.kept, lr=0.1)

    def step(self, batch):
        self.model(batch).sum().backward()
        clip_grad_norm_(self.weights, 1.0)  # finds clip_exhausted_generator
        clip_grad_norm_(self.kept, 1.0)
        self.optimizer.step()


def clips_after_a_look_at_the_first(model):
    weights = model.parameters()
    for weight in weights:
        print(weight.device)
        break
    clip_grad_norm_(weights, 1.0)


def clips_a_list(model, batches):
    trainable = list(filter(lambda p: p.requires_grad, model.parameters()))
    optimizer = optim.AdamW(trainable, lr=1e-4)
    for batch in batches:
        model(batch).sum().backward()
        clip_grad_norm_(trainable, 1.0)
        optimizer.step()


def clips_a_new_iterator_in_each_pass(model, optimizer, batches):
    for batch in batches:
        model(batch).sum().backward()
        weights = model.parameters()
        clip_grad_norm_(weights, 1.0)
        optimizer.step()


def clips_after_making_a_list(model, batches):
    weights = model.parameters()
    weights = list(weights)
    optimizer = optim.SGD(weights, lr=0.1)
    for batch in batches:
        model(batch).sum().backward()
        clip_grad_norm_(weights, 1.0)
        optimizer.step()


def clips_in_the_other_branch(model, fused):
    weights = model.parameters()
    if fused:
        return optim.SGD(weights, lr=0.1)
    else:
        clip_grad_norm_(weights, 1.0)


class Agent:
    def __init__(self, net, make_optimizer):
        self.parameters_of_net = net.parameters()
        self.optimizer = make_optimizer(self.parameters_of_net)
        self.weights = list(net.parameters())

    def step(self, loss):
        loss.backward()
        for p in self.parameters_of_net:  # finds clip_exhausted_generator
            p.grad.data.clamp_(-1, 1)
        for p in self.weights:
            p.grad.data.clamp_(-1, 1)
        self.optimizer.step()

    def steps(self, loss):
        self.clamp(loss, self.parameters_of_net)
        self.clamp_all(loss, self.weights)

    def clamp(self, loss, parameters):
        for p in parameters:  # finds clip_exhausted_generator
            p.grad.data.clamp_(-1, 1)

    def clamp_all(self, loss, parameters):
        for p in parameters:
            p.grad.data.clamp_(-1, 1)
