import torch


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


def resumes_what_is_not_empty(enabled, saved):
    scaler = torch.amp.GradScaler("cuda", enabled=enabled)
    if len(saved["scaler"]) > 0:
        scaler.load_state_dict(saved["scaler"])


def resumes_what_is_not_none(enabled, saved):
    scaler = torch.amp.GradScaler("cuda", enabled=enabled)
    if saved["scaler"] is not None:
        scaler.load_state_dict(saved["scaler"])  # finds resume_from_disabled_scaler
