import torch
from torch.utils.data import DataLoader


def loads(train, validation, generator):
    train_loader = DataLoader(train, batch_size=8, shuffle=True)
    val_loader = DataLoader(validation, 8, True)  # finds validation_changes_the_training_order
    validloader = DataLoader(  # finds validation_changes_the_training_order
        validation, batch_size=8, shuffle=True
    )
    return train_loader, val_loader, validloader


def loads_in_order(train, validation, generator):
    val_loader = DataLoader(validation, batch_size=8, shuffle=False)
    dev_loader = DataLoader(validation, shuffle=True, generator=generator)
    test_loader = DataLoader(train, batch_size=8, shuffle=True)
    return val_loader, dev_loader, test_loader


def in_a_dict(data, sampler):
    return {
        "train": DataLoader(data["train"], shuffle=True),
        "val": DataLoader(data["val"], shuffle=True),  # finds validation_changes_the_training_order
        "test": DataLoader(data["test"], shuffle=False),
    }


def predicts_after_each_epoch(model, train, test):
    train_loader = DataLoader(train, shuffle=True)
    test_loader = DataLoader(test, shuffle=True)  # finds validation_changes_the_training_order
    for epoch in range(9):
        for x in train_loader:
            model(x).backward()
        print([model(x) for x in test_loader])


def predicts_at_the_end(model, train, test):
    test_loader = DataLoader(test, shuffle=True)
    for epoch in range(9):
        for x in train:
            model(x).backward()
    print([model(x) for x in test_loader])


def never_validates(train, validation):
    train_loader = DataLoader(train, batch_size=8, shuffle=True)
    valid_rows = DataLoader(validation, batch_size=8, shuffle=True)
    return train_loader


def options_in_a_dict(model, train, test):
    options = {"batch_size": 8, "shuffle": True}
    train_loader = DataLoader(train, **options)
    val_loader = DataLoader(test, **options)  # finds validation_changes_the_training_order
    return train_loader, val_loader


def passes_it_to_the_training(net, train, test):
    train_loader = DataLoader(train, shuffle=True)
    test_loader = DataLoader(test, shuffle=True)  # finds validation_changes_the_training_order
    net.train_and_evaluate(train_loader, test_loader)


def passes_it_to_a_report(net, train, test):
    train_loader = DataLoader(train, shuffle=True)
    test_loader = DataLoader(test, shuffle=True)
    net.fit(train_loader)
    net.report(train_loader, test_loader)


def name_at_the_end(train, test):
    loader_val = DataLoader(test, shuffle=True)  # finds validation_changes_the_training_order
    loader_train_val = DataLoader(train, shuffle=True)
    return loader_val, loader_train_val


class Rows:
    def val_dataloader(self):
        return DataLoader(self.rows, shuffle=True)  # finds validation_changes_the_training_order

    def train_dataloader(self):
        return DataLoader(self.rows, shuffle=True)
