"""What best_state_is_an_alias of rules/numerics.py finds in a script: not what it never comes by."""

import torch


def fit(model, epochs, train):
    for _ in range(epochs):
        if train(model) < 1:
            best_state = model.state_dict()  # finds best_state_is_an_alias
    model.load_state_dict(best_state)


def fit_as_before(model, epochs, train):
    for _ in range(epochs):
        if train(model) < 1:
            best_state = model.state_dict()
    return older(best_state)


def older(best_state):
    return fit_as_before(best_state, 1, print)


def main():
    fit(torch.nn.Linear(3, 3), 10, print)


if __name__ == "__main__":
    main()
    # fit_as_before(torch.nn.Linear(3, 3), 10, print)
