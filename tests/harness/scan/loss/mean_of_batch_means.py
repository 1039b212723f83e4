import torch
from torch.utils.data import DataLoader


def validates(model, loader, criterion):
    total = 0.0
    for x, y in loader:
        loss = criterion(model(x), y)
        total += loss.item()
    return total / len(loader)  # finds mean_of_batch_means


def trains(model, criterion, optimizer, rows):
    train_loader = DataLoader(rows, batch_size=8, shuffle=True)
    for epoch in range(3):
        running = 0.0
        for i, (x, y) in enumerate(train_loader):
            loss = criterion(model(x), y)
            loss.backward()
            optimizer.step()
            running += loss.item()
        print(running / len(train_loader))  # finds mean_of_batch_means


def counts_rows(model, loader, criterion):
    total, rows = 0.0, 0
    for x, y in loader:
        total += criterion(model(x), y).item() * len(y)
        rows += len(y)
    return total / rows


def counts_other_things(model, loader, criterion):
    correct, total = 0, 0.0
    for x, y in loader:
        correct += (model(x).argmax(1) == y).sum().item()
        total += criterion(model(x), y).item() * x.size(0)
    return correct / len(loader.dataset), total / len(loader.dataset)


def keeps_lists(model, loader, criterion, np):
    losses, others = [], []
    for x, y in loader:
        loss = criterion(model(x), y)
        losses.append(loss.item())
        others.append(x.mean().item())
    print(np.mean(others))
    print(np.mean(losses))  # finds mean_of_batch_means
    return sum(losses) / len(losses)  # finds mean_of_batch_means


def divides_in_place(model, train_loader, criterion, bar, np):
    total, losses = 0.0, []
    batches = bar(enumerate(train_loader)) if bar is None else enumerate(train_loader)
    for x, y in train_loader:
        total += criterion(model(x), y).item()
    total /= len(train_loader)  # finds mean_of_batch_means
    for i, (x, y) in enumerate(train_loader):
        losses += [criterion(model(x), y).item()]
    rows = 0.0
    for x, y in train_loader:
        rows += criterion(model(x), y).item() * len(y)
    rows /= len(train_loader.dataset)
    return total, batches, rows, np.mean(losses)  # finds mean_of_batch_means


def drops_the_last_batch(model, criterion, rows, np):
    whole_loader = DataLoader(rows, batch_size=8, drop_last=True)
    total, losses = 0.0, []
    for i, (x, y) in enumerate(whole_loader):
        loss = criterion(model(x), y)
        total += loss.item()
        losses.append(loss.item())
    return total / len(whole_loader), np.mean(losses)


def counts_the_batches(model, loader, criterion, tqdm):
    total, other, batches, rows = 0.0, 0.0, 0, 0
    for x, y in tqdm(loader):
        loss = criterion(model(x), y)
        total += loss.detach().cpu().item()
        other += loss * len(y)
        batches += 1
        rows += len(y)
    print(total / max(batches, 1))  # finds mean_of_batch_means
    print(other / rows, total / 3)
    for i, (x, y) in enumerate(loader):
        total += float(criterion(model(x), y))
        print(total / (i + 1))
    return total / (i + 1)  # finds mean_of_batch_means


def names_the_number(model, other_loader, criterion, tqdm):
    steps = len(other_loader)
    bar = tqdm(other_loader)
    total = again = 0.0
    for x, y in bar:
        loss = criterion(model(x), y)
        total += loss.item()
        again += loss.item()
    return total / len(other_loader), again / steps  # finds mean_of_batch_means


def sums_the_rows(model, loader, torch=torch):
    criterion = torch.nn.MSELoss(reduction="sum")
    total = 0.0
    for x, y in loader:
        loss = criterion(model(x), y)
        total += loss.item()
    return total / len(loader)


class AverageMeter:
    def update(self, value, n=1):
        self.total += value * n
        self.count += n

    @property
    def avg(self):
        return self.total / self.count


def meters(model, loader, criterion, metric_monitor, bar):
    losses, rows, ema = AverageMeter(), AverageMeter(), bar
    for x, y in loader:
        loss = criterion(model(x), y)
        losses.update(loss.item())  # finds mean_of_batch_means
        losses.update(loss.item(), 1)  # finds mean_of_batch_means
        metric_monitor.update("Loss", loss.item())  # finds mean_of_batch_means
        rows.update(loss.item(), x.size(0))
        bar.update(1)
        ema.update(loss.item())
    return losses.avg, rows.avg


class Trainer:
    def validates(self, losses, loader):
        for x, y in loader:
            loss = self.step(x, y)
            losses.append(loss.item())
        return losses

    def others(self, loader):
        rows = []
        for x, y in loader:
            rows.append(x.mean())
        return rows

    def fits(self, loader, np):
        losses = self.validates([], loader)
        rows = self.others(loader)
        return np.average(losses), np.mean(rows)  # finds mean_of_batch_means


def averages_metrics(model, loader, measure, np):
    psnr_total, ssims, right, accuracies = 0.0, [], 0, []
    for x, y in loader:
        psnr, ssim = measure(model(x), y)
        psnr_total += psnr
        ssims.append(ssim)
        acc = (model(x).argmax(1) == y).sum().item()
        right += acc
        accuracy = (model(x).argmax(1) == y).float().mean()
        accuracies.append(accuracy.item())
    print(right / len(loader.dataset), right / len(loader))
    print(psnr_total / len(loader))  # finds mean_of_batch_means
    print(np.mean(ssims))  # finds mean_of_batch_means
    return np.mean(accuracies)  # finds mean_of_batch_means


def keeps_a_dict(model, loader, criterion):
    totals = {"loss": 0.0, "rows": 0}
    for x, y in loader:
        totals["loss"] += criterion(model(x), y).item()
        totals["rows"] += len(y)
    print(totals["rows"] / len(loader))
    return totals["loss"] / len(loader)  # finds mean_of_batch_means


def keeps_meters(model, train_dl, criterion, Mean):
    metrics = {"loss": Mean(), "rows": Mean()}
    total = torch.zeros(())
    for x, y in train_dl:
        loss = criterion(model(x), y)
        total = total + loss
        metrics["loss"].update(loss)  # finds mean_of_batch_means
        metrics["rows"].update(len(y))
    print(metrics["loss"].get_value(), metrics["rows"].get_value())
    return total.item() / len(train_dl)  # finds mean_of_batch_means


def has_single_rows(model, criterion, rows):
    single_loader = DataLoader(rows, batch_size=1)
    other_loader = DataLoader(rows)
    total = other = 0.0
    for x, y in single_loader:
        total += criterion(model(x), y).item()
    for x, y in other_loader:
        other += criterion(model(x), y).item()
    return total / len(single_loader), other / len(other_loader)


def averages_over_loaders(loaders, validate, np):
    losses = []
    for name, loader in loaders.items():
        losses.append(validate(name, loader).loss)
    return np.mean(losses)
