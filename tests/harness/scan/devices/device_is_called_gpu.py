import torch


def moves(model, x):
    device = torch.device("gpu" if torch.cuda.is_available() else "cpu")  # finds device_is_called_gpu
    model.to("gpu:0")  # finds device_is_called_gpu
    x = x.to("cuda")  # finds gpu_is_missing
    return device, x, torch.device("cuda" if device == "gpu" else "cpu")
