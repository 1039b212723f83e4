from torch.optim.lr_scheduler import ReduceLROnPlateau


def trains(optimizer, epochs, validate):
    scheduler = ReduceLROnPlateau(optimizer, patience=3)
    for _ in range(epochs):
        val_acc = validate()
        scheduler.step(val_acc)  # finds plateau_takes_accuracy_for_a_loss


class Trainer:
    def __init__(self, optimizer):
        self.scheduler = ReduceLROnPlateau(optimizer, "min", factor=0.5)
        self.right = ReduceLROnPlateau(optimizer, mode="max")

    def end_of_epoch(self, metrics):
        self.scheduler.step(metrics["val_f1"])  # finds plateau_takes_accuracy_for_a_loss
        self.right.step(metrics["val_f1"])


def falls(optimizer, val_loss, acc_error, accuracy):
    scheduler = ReduceLROnPlateau(optimizer)
    scheduler.step(val_loss)
    scheduler.step(acc_error)
    scheduler.step(1 - accuracy)
    scheduler.step(-accuracy)


def of_lists(optimizer, np, scores):
    scheduler = ReduceLROnPlateau(optimizer)
    for epoch in range(9):
        val_cider, val_accuracy, val_losses = scores()
        scheduler.step(val_cider)  # finds plateau_takes_accuracy_for_a_loss
        scheduler.step(np.mean(val_accuracy))  # finds plateau_takes_accuracy_for_a_loss
        scheduler.step(np.mean(val_losses))
