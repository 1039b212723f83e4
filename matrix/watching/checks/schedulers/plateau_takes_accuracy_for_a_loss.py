from __future__ import annotations

import linecache
import re
from typing import Any

from ...check import Check

SCORES = r"acc|f1|auc|iou|dice|\bmap\b|score|psnr|ssim|bleu|recall|precision"


class PlateauTakesAccuracyForALoss(Check):
    level = "error"
    change = "Pass mode='max' for a score that should rise"

    def before_schedule(self, scheduler: Any, metric: Any) -> str | None:
        if type(scheduler).__name__ != "ReduceLROnPlateau" or scheduler.mode != "min":
            return None
        call = linecache.getline(*self.run.place()).partition(".step(")[2]
        if re.search(SCORES, call, re.IGNORECASE) and "-" not in call and "loss" not in call:
            return "the metric is a score that should rise, but mode is 'min'"
        return None
