import pytorch_lightning as pl
from torch.optim import SGD
from torch.optim.lr_scheduler import OneCycleLR


class Lit(pl.LightningModule):
    def configure_optimizers(self):
        optimizer = SGD(self.parameters(), lr=0.1)
        scheduler = OneCycleLR(
            optimizer, max_lr=0.1, total_steps=self.trainer.estimated_stepping_batches
        )
        return [optimizer], [scheduler]  # finds one_cycle_stays_in_its_warmup


class LitPerStep(pl.LightningModule):
    def configure_optimizers(self):
        optimizer = SGD(self.parameters(), lr=0.1)
        scheduler = OneCycleLR(
            optimizer, max_lr=0.1, total_steps=self.trainer.estimated_stepping_batches
        )
        return [optimizer], [{"scheduler": scheduler, "interval": "step"}]


def one_cycle_right(model, train_loader, optimizer, epochs):
    scheduler = OneCycleLR(optimizer, 0.1, epochs=epochs, steps_per_epoch=len(train_loader))
    for epoch in range(epochs):
        for x in train_loader:
            optimizer.step()
            scheduler.step()


def one_epoch(model, loader, optimizer):
    for x in loader:
        optimizer.zero_grad()
        model(x).sum().backward()
        optimizer.step()


def one_cycle_in_batches(model, train_loader, optimizer, epochs):
    scheduler = OneCycleLR(optimizer, 0.1, epochs=epochs, steps_per_epoch=len(train_loader))
    for epoch in range(epochs):
        one_epoch(model, train_loader, optimizer)
        scheduler.step()  # finds one_cycle_stays_in_its_warmup


def one_cycle_in_epochs(model, train_loader, optimizer, epochs):
    scheduler = OneCycleLR(optimizer, 0.1, total_steps=epochs)
    for epoch in range(epochs):
        one_epoch(model, train_loader, optimizer)
        scheduler.step()


def step_when_the_loop_has_ended(model, loader, optimizer, epochs):
    scheduler = OneCycleLR(optimizer, 0.1, total_steps=epochs)
    for epoch in range(epochs):
        one_epoch(model, loader, optimizer)
        scheduler.step()
    else:
        optimizer.step()
