import argparse
import torch
from torch import nn, optim


def steps_every_fourth(model, loader, optimizer, accumulation_steps=4):
    for i, (x, y) in enumerate(loader):
        optimizer.zero_grad()  # finds zero_grad_in_every_micro_batch
        loss = nn.functional.mse_loss(model(x), y) / accumulation_steps
        loss.backward()
        if (i + 1) % accumulation_steps == 0 or i + 1 == len(loader):
            optimizer.step()


def with_a_scaler(model, loader, scaler, n):
    opt = optim.AdamW(model.parameters(), lr=1e-4)
    for step, batch in enumerate(loader):
        model.zero_grad()  # finds zero_grad_in_every_micro_batch
        with torch.autocast("cuda"):
            loss = model(**batch).loss
        scaler.scale(loss).backward()
        if step % n == n - 1 or step + 1 == len(loader):
            scaler.step(opt)
            scaler.update()


def steps_after_the_chunks(model, chunks, optimizer):
    for chunk in chunks:
        optimizer.zero_grad()  # finds zero_grad_in_every_micro_batch
        model(chunk).sum().backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()


def a_window_that_someone_asks_for(model, loader, optimizer, accum=1):
    for i, x in enumerate(loader):
        optimizer.zero_grad()  # finds zero_grad_in_every_micro_batch
        model(x).sum().backward()
        if (i + 1) % accum == 0 or i + 1 == len(loader):
            optimizer.step()


def with_a_larger_window(model, loader, optimizer):
    a_window_that_someone_asks_for(model, loader, optimizer, accum=4)


def a_window_that_nobody_asks_for(model, loader, optimizer, verbose=False, accum_steps=1):
    for i, x in enumerate(loader):
        optimizer.zero_grad()
        model(x).sum().backward()
        if (i + 1) % accum_steps == 0 or i + 1 == len(loader):
            optimizer.step()


def with_the_smallest_window(model, loader, optimizer):
    a_window_that_nobody_asks_for(model, loader, optimizer)
    a_window_that_nobody_asks_for(model, loader, optimizer, True, 1)


def options():
    parser = argparse.ArgumentParser()
    parser.add_argument("--grad-accum", type=int, default=1)
    parser.add_argument("--parts", type=int, default=1)
    parser.add_argument("--window", type=int, default=8)
    return parser.parse_args()


def an_option_of_1(model, loader, optimizer, args):
    for i, x in enumerate(loader):
        optimizer.zero_grad()
        model(x).sum().backward()
        if (i + 1) % args.grad_accum == 0 or i + 1 == len(loader):
            optimizer.step()


def an_option_above_1(model, loader, optimizer, args):
    for i, x in enumerate(loader):
        optimizer.zero_grad()  # finds zero_grad_in_every_micro_batch
        model(x).sum().backward()
        if (i + 1) % args.window == 0 or i + 1 == len(loader):
            optimizer.step()


def one_part(model, x, optimizer, args):
    for _ in range(args.parts):
        optimizer.zero_grad()
        model(x).sum().backward()
    optimizer.step()


class Trainer:
    def __init__(self, model, optimizer, *, every=1):
        self.model, self.optimizer = model, optimizer
        self.every = every

    def fit(self, loader):
        for i, x in enumerate(loader):
            self.optimizer.zero_grad()
            self.model(x).sum().backward()
            if (i + 1) % self.every == 0 or i + 1 == len(loader):
                self.optimizer.step()


def clears_with_the_step(model, loader, optimizer):
    for i, x in enumerate(loader):
        model(x).sum().backward()
        if i % 4 == 3 or i == len(loader) - 1:
            optimizer.step()
            optimizer.zero_grad()


def clears_at_the_start_of_a_window(model, loader, optimizer):
    for i, x in enumerate(loader):
        if i % 4 == 0:
            optimizer.zero_grad()
        model(x).sum().backward()
        if i % 4 == 3 or i == len(loader) - 1:
            optimizer.step()


def generator_every_fifth(generator, critic, loader, optimizer_g, optimizer_d):
    for i, real in enumerate(loader):
        optimizer_g.zero_grad()
        optimizer_d.zero_grad()
        (critic(generator(real)).mean() - critic(real).mean()).backward()
        optimizer_d.step()
        if i % 5 == 0:
            (-critic(generator(real)).mean()).backward()
            optimizer_g.step()


def one_gradient_per_sample(model, samples, optimizer):
    gradients = []
    for sample in samples:
        optimizer.zero_grad()
        model(sample).sum().backward()
        gradients.append([p.grad.clone() for p in model.parameters()])
    for p, several in zip(model.parameters(), zip(*gradients)):
        p.grad = sum(several)
    optimizer.step()


def a_warmup_and_a_step_of_its_own(model, loader, optimizer):
    for x in loader:
        optimizer.zero_grad()
        model(x).sum().backward()
    optimizer.zero_grad()
    model(x).sum().backward()
    optimizer.step()


def steps_under_a_name(model, loader, optimizer, k):
    for i, x in enumerate(loader):
        optimizer.zero_grad()  # finds zero_grad_in_every_micro_batch
        model(x).backward()
        should_step = (i + 1) % k == 0
        if should_step:
            optimizer.step()
