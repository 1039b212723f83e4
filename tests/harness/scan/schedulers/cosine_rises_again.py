import pytorch_lightning as pl
from torch.optim import SGD
from torch.optim.lr_scheduler import CosineAnnealingLR
from .schedules import train_with


class LitInEpochs(pl.LightningModule):
    def configure_optimizers(self):
        optimizer = SGD(self.parameters(), lr=0.1)
        cosine = CosineAnnealingLR(optimizer, T_max=self.trainer.max_epochs)
        how = {"scheduler": cosine, "interval": "step"}  # finds cosine_rises_again
        return {"optimizer": optimizer, "lr_scheduler": how}


class LitRight(pl.LightningModule):
    def configure_optimizers(self):
        optimizer = SGD(self.parameters(), lr=0.1)
        cosine = CosineAnnealingLR(optimizer, T_max=self.trainer.max_epochs)
        return {"optimizer": optimizer, "lr_scheduler": cosine}


def cosine_in_epochs(model, train_loader, optimizer, num_epochs):
    scheduler = CosineAnnealingLR(optimizer, T_max=num_epochs)
    for epoch in range(num_epochs):
        for i, x in enumerate(train_loader):
            optimizer.zero_grad()
            model(x).sum().backward()
            optimizer.step()
            scheduler.step()  # finds cosine_rises_again


def cosine_right_per_batch(model, train_loader, optimizer, epochs):
    scheduler = CosineAnnealingLR(optimizer, T_max=len(train_loader) * epochs)
    for epoch in range(epochs):
        for x in train_loader:
            optimizer.step()
            scheduler.step()


def cosine_right_per_epoch(model, train_loader, optimizer, epochs):
    scheduler = CosineAnnealingLR(optimizer, T_max=epochs)
    for epoch in range(epochs):
        for x in train_loader:
            optimizer.step()
        scheduler.step()


def cosine_stepped_after_the_last_batch(model, train_loader, optimizer, epochs):
    scheduler = CosineAnnealingLR(optimizer, T_max=epochs)
    for epoch in range(epochs):
        for i, x in enumerate(train_loader):
            optimizer.step()
            if i == len(train_loader) - 1:
                scheduler.step()


def some_iterations(batches, model, optimizer, scheduler, args):
    for i in range(args.iters_per_epoch):
        optimizer.zero_grad()
        model(next(batches)).sum().backward()
        optimizer.step()
        scheduler.step()


def cosine_in_iterations(batches, model, optimizer, args):
    scheduler = CosineAnnealingLR(optimizer, args.epochs * args.iters_per_epoch)
    for epoch in range(args.epochs):
        some_iterations(batches, model, optimizer, scheduler, args)


def cosine_of_whole_batches(model, x, train_loader, optimizer, epochs):
    scheduler = CosineAnnealingLR(optimizer, T_max=len(train_loader) * epochs)
    for epoch in range(epochs * len(train_loader)):
        optimizer.zero_grad()
        model(x).sum().backward()
        optimizer.step()
        scheduler.step()


def cosine_that_others_step_too(model, train_loader, optimizer, epochs):
    scheduler = CosineAnnealingLR(optimizer, T_max=len(train_loader) * epochs)
    for epoch in range(epochs):
        train_with(model, train_loader, optimizer, scheduler)
        scheduler.step()


def cosine_of_the_fraction(model, train_loader, optimizer, epochs):
    scheduler = CosineAnnealingLR(optimizer, T_max=epochs)
    for epoch in range(epochs):
        for i, x in enumerate(train_loader):
            optimizer.step()
            scheduler.step(epoch + i / len(train_loader))


def one_epoch(model, loader, optimizer):
    for x in loader:
        optimizer.zero_grad()
        model(x).sum().backward()
        optimizer.step()


def cosine_over_several_loaders(model, loaders, optimizer, epochs):
    scheduler = CosineAnnealingLR(optimizer, T_max=epochs)
    for loader in loaders:
        one_epoch(model, loader, optimizer)
        scheduler.step()


def cosine_over_the_loader_of_each_epoch(model, loader_per_epoch, optimizer, epochs):
    scheduler = CosineAnnealingLR(optimizer, T_max=epochs)
    for batches in loader_per_epoch:
        one_epoch(model, batches, optimizer)
        scheduler.step()
