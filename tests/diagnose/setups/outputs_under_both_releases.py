from matrix.diagnose import checklists
from tests.diagnose.trainers import Net, trainer

FILES = True


def _under_the_old_release():
    code = checklists.steps()["outputs-under-both-releases"].code
    exec(code, dict(trainer()))


def same_outputs():
    _under_the_old_release()
    return trainer()


class Divides(Net):
    def forward(self, x):
        return self.head(self.body(x) / 2)


def another_operation():
    _under_the_old_release()
    return trainer(model=Divides())


OUTCOMES = [[same_outputs], [another_operation], [trainer]]
