import torch
from torch.nn.utils import clip_grad_norm_


def unscaled_for_every_batch_of_a_window(model, loader, optimizer, scaler, args):
    for step, x in enumerate(loader):
        scaler.scale(model(x)).backward()
        if args.clip:
            scaler.unscale_(optimizer)  # finds unscale_twice
            clip_grad_norm_(model.parameters(), args.clip)
        if (step + 1) % args.window == 0 or step + 1 == len(loader):
            scaler.step(optimizer)
            scaler.update()


class InMicroBatches:
    def fit(self):
        for epoch in range(self.epochs):
            for i, x in enumerate(self.loader):
                self.scaler.scale(self.model(x) / self.k).backward()
                self.scaler.unscale_(self.optimizer)  # finds unscale_twice
                if (i + 1) % self.k == 0:
                    self.scaler.step(self.optimizer)  # finds last_window_is_dropped
                    self.scaler.update()

    def unscaled_once_in_a_window(self):
        for i, x in enumerate(self.loader):
            self.scaler.scale(self.model(x) / self.k).backward()
            if (i + 1) % self.k == 0:
                self.scaler.unscale_(self.optimizer)
            if (i + 1) % self.k == 0 or i + 1 == len(self.loader):
                self.scaler.step(self.optimizer)
                self.scaler.update()

    def a_window_or_not(self, step):
        for i, x in enumerate(self.loader):
            self.scaler.scale(self.model(x)).backward()
            if self.k > 1:
                if (i + 1) % self.k == 0 or i + 1 == len(self.loader):
                    self.scaler.unscale_(self.optimizer)
                    self.scaler.step(self.optimizer)
                    self.scaler.update()
            else:
                self.scaler.unscale_(self.optimizer)
                self.scaler.step(self.optimizer)
                self.scaler.update()

    def a_step_for_each(self):
        for x in self.loader:
            self.scaler.scale(self.model(x)).backward()
            self.scaler.unscale_(self.optimizer)
            self.scaler.step(self.optimizer)
            self.scaler.update()


def with_two_kinds_of_amp(model, optimizer, scaler, loss, native):
    if native:
        scaler.scale(loss).backward()
    else:
        loss.backward()
    if native:
        scaler.unscale_(optimizer)
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    else:
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    if native:
        scaler.step(optimizer)
        scaler.update()
    else:
        optimizer.step()


def one_after_the_other(scaler, first, second, a, b, x):
    scaler.scale(a(x).mean()).backward()
    scaler.unscale_(first)
    scaler.scale(b(x).mean()).backward()
    scaler.unscale_(second)
    scaler.step(first)
    scaler.step(second)
    scaler.update()


class WithHelpers:
    def unscale(self):
        self.scaler.unscale_(self.optimizer)

    def step(self, loss):
        self.scaler.scale(loss).backward()
        self.unscale()
        torch.nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
        self.scaler.step(self.optimizer)
        self.scaler.update()

    def flush(self):
        self.optimizer.step()
        self.optimizer.zero_grad()

    def epoch(self, loader):
        for i, x in enumerate(loader):
            self.model(x).mean().backward()
            if (i + 1) % self.accum == 0:
                self.optimizer.step()
                self.optimizer.zero_grad()
        if (i + 1) % self.accum:
            self.flush()


class ClippedLoop(WithHelpers):  # update() is in the class above, or in another file
    def before_step(self):
        self.scaler.unscale_(self.optimizer)
