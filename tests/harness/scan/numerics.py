# Read as text by the tests of the rules, never run.
import copy
from itertools import chain

import numpy as np
import torch
import torch.nn.functional as F
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


def smape(prediction, target):
    error = 2 * torch.abs(prediction - target)
    ratio = error / (torch.abs(prediction) + torch.abs(target))  # finds smape_zero_over_zero
    return ratio.mean()


def smape_of_methods(prediction, target):
    size = (target.abs() + prediction.abs()) / 2
    return ((target - prediction).abs() / size).mean()  # finds smape_zero_over_zero


def smape_with_epsilon(prediction, target):
    size = prediction.abs() + target.abs() + 1e-8
    return (2 * (prediction - target).abs() / size).mean()


def smape_with_a_mask(prediction, target):
    size = np.abs(prediction) + np.abs(target)
    size[size == 0] = 1
    return np.mean(2 * np.abs(prediction - target) / size)


def smape_without_nan(prediction, target):
    ratio = (prediction - target).abs() / (prediction.abs() + target.abs())
    return torch.nan_to_num(ratio).mean()


def smape_of_chosen_rows(prediction, target):
    keep = (prediction != 0) | (target != 0)
    prediction, target = prediction[keep], target[keep]
    return (2 * (prediction - target).abs() / (prediction.abs() + target.abs())).mean()


def size_of_something_else(prediction, target, scale):
    return (prediction - target).abs() / (scale.abs() + target.abs())


def keeps_an_alias(model, epochs, train, validate):
    lowest, best_weights = 9.0, None
    for _ in range(epochs):
        train(model)
        loss = validate(model)
        if loss < lowest:
            lowest, best_weights = loss, model.state_dict()  # finds best_state_is_an_alias
    model.load_state_dict(best_weights)


class Stopping:
    def __call__(self, loss, model):
        if loss < self.lowest:
            self.best_state = model.state_dict().copy()  # finds best_state_is_an_alias

    def restore(self, model):
        model.load_state_dict(self.best_state)


class Patience:
    def step(self, loss, model):
        if loss < self.lowest:
            self.lowest, self.weights_of_best = loss, model.state_dict()  # finds best_state_is_an_alias
        elif self.count > 3:
            model.load_state_dict(self.weights_of_best)


class Saver:
    def step(self, loss, model):
        if loss < self.lowest:
            self.best_model = model.state_dict()
        torch.save(self.best_model, "best.pt")


def from_stage_to_stage(model, stages, train):
    best_weights = None
    for stage in stages:
        if best_weights is not None:
            model.load_state_dict(best_weights)
        for _ in range(stage):
            train(model)
            best_weights = model.state_dict()  # finds best_state_is_an_alias


def saves_after_the_branch(model, epochs, train):
    for _ in range(epochs):
        if train(model) < 1:
            best_weights = model.state_dict()
        else:
            best_weights = model.module.state_dict()
        torch.save(best_weights, "best.pt")
        print(len(best_weights))


def one_model_for_each_rate(rates, build, train):
    best_state = None
    for rate in rates:
        model = build(rate)
        if train(model) < 1:
            best_state = model.state_dict()
    return best_state


def keeps_the_best_schedule(model, scheduler, epochs, train):
    best_schedule = None
    for _ in range(epochs):
        if train(model) < 1:
            best_schedule = scheduler.state_dict()
    scheduler.load_state_dict(best_schedule)


def one_annotated_model_for_each_rate(rates, build, train):
    best_state = None
    for rate in rates:
        model: nn.Module = build(rate)
        if train(model) < 1:
            best_state = model.state_dict()
    return best_state


def one_opened_model_for_each_rate(rates, build, train):
    best_state = None
    for rate in rates:
        with build(rate) as model:
            if train(model) < 1:
                best_state = model.state_dict()
    return best_state


def one_of_several_models(models, score):
    for model in models:
        if score(model) > 1:
            best_state = model.state_dict()
    return best_state


def stops_at_once(model, epochs, train):
    for _ in range(epochs):
        if train(model) < 1:
            best_state = model.state_dict()
            break
    return best_state


def is_only_asked_for(model, epochs, train):
    for _ in range(epochs):
        if train(model) < 1:
            best_state = model.state_dict()
            torch.save(best_state, "best.pt")
    if best_state is not None:
        print(len(best_state))


def keeps_an_alias_where_it_is_better(model, epochs, train):
    best, kept = 9.0, None
    for _ in range(epochs):
        loss = train(model)
        if loss < best:
            best = loss
            kept = model.state_dict()  # finds best_state_is_an_alias
    model.load_state_dict(kept)


def keeps_a_copy(model, epochs, train):
    for _ in range(epochs):
        if train(model) < 1:
            best_weights = copy.deepcopy(model.state_dict())
    model.load_state_dict(best_weights)


def saves_at_once(model, epochs, train):
    best = 9.0
    for _ in range(epochs):
        loss = train(model)
        if loss < best:
            best = loss
            best_weights = model.state_dict()
            torch.save(best_weights, "best.pt")


def takes_it_after_training(model, epochs, train):
    for _ in range(epochs):
        train(model)
    best_weights = model.state_dict()
    return best_weights


def log_of_softmax(logits, labels):
    return -torch.log(F.softmax(logits, dim=-1))[labels].mean()  # finds log_of_a_softmax


def log_of_a_picked_probability(logits, labels):
    probabilities = logits.softmax(-1)
    picked = probabilities.gather(1, labels)
    return -picked.log().mean()  # finds log_of_a_softmax


def log_with_epsilon(logits, labels):
    probabilities = logits.softmax(-1) + 1e-8
    return -probabilities.log()[labels].mean()


def log_of_clamped(logits, labels):
    return -F.softmax(logits, dim=-1).clamp(min=1e-8).log()[labels].mean()


def log_of_clamped_in_place(logits, labels):
    picked = F.softmax(logits, dim=-1).gather(1, labels)
    picked.clamp_(min=1e-8)
    return -torch.log(picked).mean()


@torch.no_grad()
def score(logits):
    return F.softmax(logits, dim=-1).log()


def reported(logits):
    return logits.softmax(-1)[0].log().item()


def beam_search(logits):
    return F.softmax(logits, dim=-1).log().topk(4)


def log_of_close_scores(a, b):
    scores = F.cosine_similarity(a, b)
    return -torch.log(F.softmax(scores, dim=-1)).mean()


def log_where_it_is_finite(logits):
    loss = -torch.log(F.softmax(logits, dim=-1)).mean()
    return loss if torch.isfinite(loss) else None


def entropy_with_a_mask(logits):
    p = F.softmax(logits, dim=-1)
    return -torch.where(p > 0, p * torch.log(p), 0).sum(-1)


def entropy_without_nan(logits):
    p = F.softmax(logits, dim=-1)
    return -torch.nansum(p * p.log(), -1)


def entropy(logits):
    p = F.softmax(logits, dim=-1)
    return -(p * torch.log(p)).sum(-1)  # finds entropy_of_a_sure_class


def entropy_by_method(logits):
    p = logits.softmax(-1)
    return (-p.log() * p).sum(-1)  # finds entropy_of_a_sure_class


def entropy_with_epsilon(logits):
    p = F.softmax(logits, dim=-1)
    return -(p * torch.log(p + 1e-8)).sum(-1)


def entropy_from_logs(logits):
    logp = F.log_softmax(logits, dim=-1)
    return -(logp.exp() * logp).sum(-1)


def entropy_of_clamped(logits):
    p = F.softmax(logits, dim=-1).clamp_min(1e-8)
    return -(p * p.log()).sum(-1)


class SavesAtOnce:
    def train(self):
        best = 0
        for epoch in range(self.epochs):
            accuracy = self.train_one_epoch(epoch)
            if accuracy > best:
                if self.parallel:
                    state = self.model.module.state_dict()
                else:
                    state = self.model.state_dict()
                self.save({"state": state})
            if accuracy > best + 0.1:
                if self.parallel:
                    state = self.model.module.state_dict()
                else:
                    state = self.model.state_dict()
                self.save({"state": state})
