import torch


def main(model, optimizer, train, validate, epochs, path):
    best_acc, start_epoch = 0.0, 0
    if path.exists():
        checkpoint = torch.load(path)
        start_epoch = checkpoint["epoch"]
        model.load_state_dict(checkpoint["model"])
    for epoch in range(start_epoch, epochs):
        train(model, optimizer).backward()
        acc = validate(model)
        if acc >= best_acc:  # finds best_score_is_forgotten
            best_acc = acc
        print("best accuracy", best_acc)
        if acc >= best_acc:
            torch.save({"epoch": epoch, "acc": acc, "model": model.state_dict()}, path)
