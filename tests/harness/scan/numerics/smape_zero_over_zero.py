import numpy as np
import torch


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
