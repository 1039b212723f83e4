import threading

from tests.diagnose.trainers import trainer

RANKS = 1  # a process of its own, whose threads and timer end with it


def logging_thread():
    threading.Thread(target=threading.Event().wait).start()
    return trainer()


OUTCOMES = [[trainer], [logging_thread]]
