# ruff: noqa
import os
import pytest
import torch
from models import Net
from utils import loading


def given(path, folder, state, step):
    model = Net()
    model.load_state_dict("model.pt")  # finds load_state_dict_of_a_path
    model.load_state_dict(f"model_{step}.pt")  # finds load_state_dict_of_a_path
    model.load_state_dict(path)  # finds load_state_dict_of_a_path
    file = os.path.join(folder, "model.pt")
    Net().load_state_dict(file)  # finds load_state_dict_of_a_path
    model.load_state_dict(torch.load(path, map_location="cpu"))
    model.load_state_dict(state)
    model.load_state_dict(loading.load_state_dict(path))
    path = torch.load(path, map_location="cpu")
    model.load_state_dict(path)
    with pytest.raises(TypeError):
        model.load_state_dict("model.pt")
