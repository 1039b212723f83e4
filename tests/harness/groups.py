"""Messages with several causes to test with."""

from matrix import causes
from matrix.causes import Group


def group_of(title, *listed, **changed):
    path = causes.MESSAGES / causes.TRAINING
    return Group(
        **{"name": "listed", "title": title, "causes": listed, "path": path, "line": 1, **changed}
    )
