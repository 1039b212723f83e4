from tests.diagnose.trainers import trainer


def list_of_paths():
    names = trainer()
    names["loader"].dataset.paths = [f"{number}.png" for number in range(60_000)]
    return names


OUTCOMES = [[trainer], [list_of_paths]]
