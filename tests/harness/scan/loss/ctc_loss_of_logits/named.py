import torch.nn.functional as F
from torch import nn


class Task(nn.Module):
    def add_ctc_loss(self, frame_logits, y, frames, lengths, losses):
        frame_logits = frame_logits.permute(1, 0, 2)
        losses["ctc"] = F.ctc_loss(frame_logits, y, frames, lengths)  # finds ctc_loss_of_logits

    def training_step(self, x, y, frames, lengths):
        logits = self.model(x)
        loss = F.ctc_loss(logits.transpose(0, 1), y, frames, lengths)  # finds ctc_loss_of_logits
        return loss

    def of_probabilities(self, x, y, frames, lengths):
        log_probs = self.model(x)
        logits = (log_probs.exp() + 1e-8).log()
        return F.ctc_loss(log_probs, y, frames, lengths), F.ctc_loss(logits, y, frames, lengths)
