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
