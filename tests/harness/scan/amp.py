import torch
from accelerate import Accelerator
from torch import autocast
from torch.amp import GradScaler
from torch.nn.utils import clip_grad_norm_


def clipped_too_soon(model, loader, optimizer, args):
    grad_scaler = torch.cuda.amp.GradScaler(enabled=args.amp)
    for x, y in loader:
        with autocast("cuda"):
            loss = model(x, y)
        optimizer.zero_grad()
        grad_scaler.scale(loss).backward()
        if args.clip > 0:
            torch.nn.utils.clip_grad_norm_(model.parameters(), args.clip)  # finds clip_before_unscale
        grad_scaler.step(optimizer)
        grad_scaler.update()


class Trainer:
    def __init__(self):
        self.scaler = GradScaler("cuda")

    def clipped_by_way_of_a_name(self, loss):
        scaled = self.scaler.scale(loss)
        scaled.backward()
        clip_grad_norm_(self.model.parameters(), 1.0)  # finds clip_before_unscale
        self.scaler.step(self.optimizer)
        self.scaler.update()

    def clipped_after_unscale(self, loss):
        self.scaler.scale(loss).backward()
        self.scaler.unscale_(self.optimizer)
        clip_grad_norm_(self.model.parameters(), 1.0)
        self.scaler.step(self.optimizer)
        self.scaler.update()

    def clipped_in_the_branch_without_amp(self, loss):
        if self.amp:
            self.scaler.scale(loss).backward()
            self.scaler.step(self.optimizer)
            self.scaler.update()
        else:
            loss.backward()
            clip_grad_norm_(self.model.parameters(), 1.0)
            self.optimizer.step()

    def clipped_by_accelerate(self, loss):
        accelerator = Accelerator()
        self.scaler.scale(loss).backward()
        accelerator.clip_grad_norm_(self.model.parameters(), 1.0)
        self.scaler.step(self.optimizer)


def another_backward_after_unscale(scaler, optimizer, first, second):
    scaler.scale(first).backward()
    scaler.unscale_(optimizer)
    scaler.scale(second).backward()  # finds backward_after_unscale
    scaler.step(optimizer)
    scaler.update()


def a_penalty_after_unscale(scaler, optimizer, loss, model):
    with autocast("cuda"):
        scaler.scale(loss).backward(retain_graph=True)
    scaler.unscale_(optimizer)
    penalty = scaler.scale(model.penalty())
    penalty.backward()  # finds backward_after_unscale
    scaler.step(optimizer)


def two_optimizers(scaler, d_optimizer, g_optimizer, d_loss, g_loss):
    scaler.scale(d_loss).backward()
    scaler.unscale_(d_optimizer)
    scaler.step(d_optimizer)
    scaler.scale(g_loss).backward()
    scaler.unscale_(g_optimizer)
    scaler.step(g_optimizer)
    scaler.update()


def never_scaled(model, loader, optimizer):
    scaler = torch.amp.GradScaler("cuda")
    for x in loader:
        loss = model(x)
        loss.backward()
        scaler.step(optimizer)  # finds unscale_before_scale
        scaler.update()


def never_scaled_in_one_line(scaler, model, x, optimizer):
    model(x).sum().backward()
    scaler.step(optimizer)  # finds unscale_before_scale


def scaled_by_a_helper(scaler, model, x, optimizer):
    compute(model(x), scaler=scaler).backward()
    scaler.step(optimizer)


def scaled_or_not(scaler, loss, optimizer, amp):
    if amp:
        scaler.scale(loss).backward()
        scaler.step(optimizer)
    else:
        loss.backward()
        optimizer.step()


def stepped_elsewhere(scaler, loss, optimizer):
    loss.backward()
    scaler.update()


def one_of_two_losses_is_scaled(scaler, first, second, optimizer):
    scaler.scale(first).backward(retain_graph=True)
    second.backward()  # finds unscale_divides_by_65536
    scaler.step(optimizer)
    scaler.update()


def second_loss_of_the_loop_is_not_scaled(scaler, model, loader, optimizer):
    for x in loader:
        optimizer.zero_grad()
        scaled = scaler.scale(model(x))
        scaled.backward()
        model.penalty().backward()  # finds unscale_divides_by_65536
        scaler.step(optimizer)
        scaler.update()


def both_are_scaled(scaler, first, second, optimizer):
    scaler.scale(first).backward()
    scaler.scale(second).backward()
    scaler.step(optimizer)


def another_optimizer_without_scaler(scaler, d_loss, g_loss, d_optimizer, g_optimizer):
    g_loss.backward()
    g_optimizer.step()
    scaler.scale(d_loss).backward()
    scaler.step(d_optimizer)


def last_window(model, loader, optimizer, args):
    for epoch in range(args.epochs):
        for step, (x, y) in enumerate(loader):
            loss = model(x, y) / args.accumulation
            loss.backward()
            if (step + 1) % args.accumulation == 0:
                optimizer.step()  # finds last_window_is_dropped
                optimizer.zero_grad()


def last_window_by_a_counter_of_its_own(model, loader, optimizer, k):
    for epoch in range(10):
        count = 0
        for x in loader:
            model(x).backward()
            count += 1
            if not count % k:
                optimizer.step()  # finds last_window_is_dropped
                optimizer.zero_grad()


def last_window_at_the_end(model, loader, optimizer, k):
    for step, x in enumerate(loader):
        model(x).backward()
        if (step + 1) % k == 0 or step + 1 == len(loader):
            optimizer.step()
            optimizer.zero_grad()


def last_window_after_the_loop(model, loader, optimizer, k):
    for step, x in enumerate(loader):
        model(x).backward()
        if (step + 1) % k == 0:
            optimizer.step()
            optimizer.zero_grad()
    optimizer.step()


def counter_runs_across_epochs(model, loader, optimizer, k):
    count = 0
    for epoch in range(10):
        for x in loader:
            model(x).backward()
            count += 1
            if count % k == 0:
                optimizer.step()
                optimizer.zero_grad()


def steps_of_the_whole_training(model, batches, optimizer, k):
    for step in range(100_000):
        model(next(batches)).backward()
        if (step + 1) % k == 0:
            optimizer.step()
            optimizer.zero_grad()


def generator_trained_every_fifth_time(critic, generator, loader, d_optimizer, g_optimizer):
    for step, x in enumerate(loader):
        critic(x).backward()
        d_optimizer.step()
        if step % 5 == 0:
            generator(x).backward()
            g_optimizer.step()


def leaves_the_last_window_out(model, loader, optimizer, k, windows):
    for number, x in enumerate(loader):
        window = number // k
        if window >= windows:
            continue
        model(x).backward()
        if (number + 1) % k == 0:
            optimizer.step()


def divided_and_reported(model, loader, optimizer, accumulation_steps):
    total = 0.0
    for step, x in enumerate(loader):
        loss = model(x)
        loss = loss / accumulation_steps
        loss.backward()
        total += loss.item()  # finds accumulated_loss_is_divided
        if (step + 1) % accumulation_steps == 0 or step + 1 == len(loader):
            optimizer.step()
    return total / len(loader)


def divided_in_place_and_kept(model, loader, optimizer, k):
    history = []
    for step, x in enumerate(loader):
        loss = model(x)
        loss /= k
        loss.backward()
        history.append(loss.detach().cpu())  # finds accumulated_loss_is_divided
        if (step + 1) % k == 0 or step + 1 == len(loader):
            optimizer.step()


def reported_before_it_is_divided(model, loader, optimizer, k):
    for step, x in enumerate(loader):
        loss = model(x)
        log(loss.item())
        loss = loss / k
        loss.backward()
        if (step + 1) % k == 0 or step + 1 == len(loader):
            optimizer.step()


def multiplied_again(model, loader, optimizer, k):
    total = 0.0
    for step, x in enumerate(loader):
        loss = model(x)
        loss = loss / k
        loss.backward()
        total += loss.item() * k
        if (step + 1) % k == 0 or step + 1 == len(loader):
            optimizer.step()


def summed_over_the_window(model, batches, optimizer, k):
    total = 0.0
    for _ in range(k):
        loss = model(next(batches))
        loss = loss / k
        loss.backward()
        total += loss.item()
    optimizer.step()
    return total


def multiplied_when_it_is_shown(model, loader, optimizer, k):
    running = 0.0
    for step, x in enumerate(loader):
        loss = model(x)
        loss = loss / k
        loss.backward()
        running += loss.item()
        if (step + 1) % k == 0 or step + 1 == len(loader):
            optimizer.step()
            print(running * k / (step + 1))


def divided_by_the_number_of_steps(model, loader, optimizer, k):
    running, steps = 0.0, 0
    for number, x in enumerate(loader):
        loss = model(x)
        loss = loss / k
        loss.backward()
        running += loss.item()
        if (number + 1) % k == 0 or number + 1 == len(loader):
            optimizer.step()
            steps += 1
    return running / steps


def summed_and_never_read(model, loader, optimizer, k):
    running = 0.0
    for number, x in enumerate(loader):
        loss = model(x)
        loss = loss / k
        loss.backward()
        running += loss.item()
        if (number + 1) % k == 0 or number + 1 == len(loader):
            optimizer.step()


def summed_for_each_step(model, batches, optimizer, accumulation_steps, steps):
    for _ in range(steps):
        of_the_window = 0.0
        for x in next(batches):
            loss = model(x)
            loss = loss / accumulation_steps
            loss.backward()
            of_the_window += loss.item()
        optimizer.step()
        print(of_the_window)


def mean_over_the_batch(model, loader):
    total = 0.0
    for x in loader:
        loss = model(x)
        loss = loss / len(x)
        loss.backward()
        total += loss.item()


def resumed(checkpoint, args):
    scaler = torch.cuda.amp.GradScaler(enabled=args.amp)
    if "scaler" in checkpoint:
        scaler.load_state_dict(checkpoint["scaler"])  # finds resume_from_disabled_scaler


def resumed_by_a_function(checkpoint, model, grad_scaler):
    model.load_state_dict(checkpoint["model"])
    grad_scaler.load_state_dict(checkpoint["grad_scaler"])  # finds resume_from_disabled_scaler


def resumed_with_what_is_there(checkpoint, scaler):
    if checkpoint["scaler"]:
        scaler.load_state_dict(checkpoint["scaler"])
    if checkpoint.get("scaler"):
        scaler.load_state_dict(checkpoint["scaler"])
    try:
        scaler.load_state_dict(checkpoint["scaler"])
    except RuntimeError:
        print("a new scaler")
    if not checkpoint["scaler"]:
        return
    scaler.load_state_dict(checkpoint["scaler"])


def scaler_of_any_device(device):
    device = device or ("mps" if torch.backends.mps.is_available() else "cpu")
    scaler = torch.amp.GradScaler()  # finds default_scaler_is_off
    half = torch.amp.GradScaler(enabled=device != "cpu")  # finds default_scaler_is_off
    if torch.cuda.is_available():
        scaler = torch.amp.GradScaler()
    return scaler, half, torch.amp.GradScaler(device), torch.amp.GradScaler(device=device)


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


def scaled_by_another(model, x, scaler):
    return scaler.scale(model(x).mean())


def steps_on_it(model, optimizer, scaler, loader):
    for x in loader:
        optimizer.zero_grad()
        loss = scaled_by_another(model, x, scaler)
        loss.backward()
        scaler.step(optimizer)
        scaler.update()


def one_after_the_other(scaler, first, second, a, b, x):
    scaler.scale(a(x).mean()).backward()
    scaler.unscale_(first)
    scaler.scale(b(x).mean()).backward()
    scaler.unscale_(second)
    scaler.step(first)
    scaler.step(second)
    scaler.update()


def in_float32_for_another(scaler, optimizer, auxiliary, model, x):
    scaler.scale(model(x)).backward()
    model.auxiliary_loss().backward()
    scaler.step(optimizer)
    auxiliary_optimizer.step()
    scaler.update()


def a_window_with_a_name(model, optimizer, scaler, loader, accum):
    for i, x in enumerate(loader):
        scaler.scale(model(x).mean() / accum).backward()
        last = (i + 1) % accum == 0
        if last:
            scaler.unscale_(optimizer)
        if (i + 1) % accum == 0:
            scaler.step(optimizer)  # finds last_window_is_dropped
            scaler.update()
            optimizer.zero_grad()


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


def resumes_what_is_not_empty(enabled, saved):
    scaler = torch.amp.GradScaler("cuda", enabled=enabled)
    if len(saved["scaler"]) > 0:
        scaler.load_state_dict(saved["scaler"])


def resumes_what_is_not_none(enabled, saved):
    scaler = torch.amp.GradScaler("cuda", enabled=enabled)
    if saved["scaler"] is not None:
        scaler.load_state_dict(saved["scaler"])  # finds resume_from_disabled_scaler
