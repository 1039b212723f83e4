from __future__ import annotations

import linecache
import re
from typing import Any

from ...check import Check

SCORES = (
    r"(acc|accuracy)(\b|_|\d)"
    r"|(\b|_)(f1|auc|auroc|m?iou|dice|map|score|psnr|ssim|bleu|recall|precision)(\b|_|\d)"
)
FALLING = r"loss|err|fid|brier|crps|perplexity|-"  # words for a number that should fall


class PlateauTakesAccuracyForALoss(Check):
    level = "error"
    change = "Pass mode='max' for a score that should rise"

    def before_schedule(self, scheduler: Any, metric: Any) -> str | None:
        if type(scheduler).__name__ != "ReduceLROnPlateau" or scheduler.mode != "min":
            return None
        call = linecache.getline(*self.run.place()).partition(".step(")[2]
        falls = re.search(FALLING, call, re.IGNORECASE)
        if re.search(SCORES, call, re.IGNORECASE) and not falls:
            return "the metric is a score that should rise, but mode is 'min'"
        return None
