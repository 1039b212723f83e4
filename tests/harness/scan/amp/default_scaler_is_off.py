import torch


def scaler_of_any_device(device):
    device = device or ("mps" if torch.backends.mps.is_available() else "cpu")
    scaler = torch.amp.GradScaler()  # finds default_scaler_is_off
    half = torch.amp.GradScaler(enabled=device != "cpu")  # finds default_scaler_is_off
    if torch.cuda.is_available():
        scaler = torch.amp.GradScaler()
    return scaler, half, torch.amp.GradScaler(device), torch.amp.GradScaler(device=device)
