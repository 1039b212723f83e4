"""The targets of a detector: images with several boxes, one box, whole pixels and no box."""

import torch

SETTINGS = ("plain",)


def read(of):
    targets = []
    for boxes in ([[0, 0, 3, 2], [1, 1, 2, 5]], [], [[2.5, 0, 3.0, 1]], []):
        boxes, widths = of(boxes)
        targets.append({"boxes": boxes, "area": widths * (boxes[:, 3] - boxes[:, 1])})
    return [targets, torch.cat([target["boxes"] for target in targets])]


def place(t):
    def of(boxes):
        paste
        return boxes, widths

    return read(of)


def reference(t):
    def of(boxes):
        filled = torch.zeros(len(boxes), 4)
        for row, box in enumerate(boxes):
            for column, value in enumerate(box):
                filled[row, column] = value
        return filled, torch.zeros(len(boxes)) + torch.tensor([box[2] - box[0] for box in boxes])

    return read(of)
