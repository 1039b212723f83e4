from tests.diagnose.trainers import Net, trainer


def on_another_device():
    return trainer(model=Net().to("meta"))  # like a GPU, not on the CPU


def head_was_added_later():
    model = Net().to("meta")
    model.head = Net().head
    return trainer(model=model)


OUTCOMES = [[on_another_device], [trainer], [head_was_added_later]]
