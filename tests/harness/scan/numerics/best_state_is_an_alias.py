# Read as text by the tests of the rules, never run.
import copy
import torch
import torch.nn.functional as F
from torch import nn


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


@torch.no_grad()
def score(logits):
    return F.softmax(logits, dim=-1).log()


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


def keeps_the_model(model, encoder, loader, criterion, optimizer, evaluate, train):
    best, best_model, best_models = 0, None, {}
    for epoch in range(9):
        for x, y in loader:
            criterion(model(x), y).backward()
            optimizer.step()
            optimizer.zero_grad()
        score = evaluate(model)
        if score > best:
            best = score
            best_model = model  # finds best_state_is_an_alias
            best_models["encoder"] = encoder  # finds best_state_is_an_alias
            best_epoch = epoch
    return best_model, best_models, best_epoch


def keeps_a_copy_of_the_model(model, loader, optimizer, evaluate):
    best, best_model = 0, model
    for epoch in range(9):
        for x, y in loader:
            model(x).backward()
            optimizer.step()
        score = evaluate(model)
        if score > best:
            best = score
            best_model = copy.deepcopy(model)
    return best_model


def searches(configs, make, train, evaluate):
    best, best_model = 0, None
    for config in configs:
        model = make(config)
        train(model)
        if evaluate(model) > best:
            best = evaluate(model)
            best_model = model
    return best_model


class Stopper:
    def __init__(self):
        self.lowest = None
        self.weights = None

    def __call__(self, loss, model):
        if self.lowest is None:
            self.keep(model)
        elif loss < self.lowest:
            self.keep(model)
        else:
            model.load_state_dict(self.weights)

    def keep(self, model):
        self.weights = model.state_dict().copy()


class BestStopper:
    def __init__(self):
        self.best_weights = None

    def __call__(self, loss, model):
        if loss < self.lowest:
            self.keep(model)
        else:
            model.load_state_dict(self.best_weights)

    def keep(self, model):
        self.best_weights = model.state_dict().copy()  # finds best_state_is_an_alias
