"""Runs programs of other people, each in a fork of this process, which has imported torch.

It makes a program repeatable, gives it generated data in place of downloads, and ends it after some
steps. It calls no function that the watch looks at. Each line of standard input is a job in JSON:
the folder, the file, its arguments, the files for the output and for the state, the number of
steps, and the file that starts the watch, or "". The answer to each line is the exit status.
"""

from __future__ import annotations

import atexit
import hashlib
import importlib.util
import json
import os
import random
import runpy
import signal
import sys
import time
import traceback
import weakref
from pathlib import Path
from typing import Any, cast

samples = 256  # of a data set, as the job says
SMALL = 2_000_000  # numbers; a larger model is read in every SPARSE-th step only
SPARSE = 10


def main() -> None:
    import matplotlib.pyplot
    import torch

    if importlib.util.find_spec("torchvision"):
        images()
    if importlib.util.find_spec("gymnasium"):
        environments()
    if importlib.util.find_spec("torch_geometric"):
        graphs()
    assert torch, matplotlib
    for line in sys.stdin:
        print(serve(json.loads(line)), flush=True)


def serve(job: dict[str, Any]) -> int:
    """Runs a job in a fork, and returns its status: 124 if it took too long."""
    child = os.fork()
    if not child:
        try:
            begin(job)
        except BaseException:
            traceback.print_exc()
        os._exit(70)
    end = time.monotonic() + job["seconds"]
    while time.monotonic() < end:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.02)
    os.killpg(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return 124


def begin(job: dict[str, Any]) -> None:
    """Becomes the program."""
    os.setsid()
    output = os.open(job["output"], os.O_CREAT | os.O_WRONLY)
    for stream in (1, 2):
        os.dup2(output, stream)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.chdir(job["folder"])
    atexit._clear()  # of this process, not of the program
    if job["watch"]:
        start_watch(job["watch"], job["findings"])
    prepare(job)
    sys.argv = [job["file"], *job["arguments"]]
    sys.path[0:1] = [job["folder"], job["root"]]
    status = 0
    try:
        runpy.run_path(job["file"], run_name="__main__")
    except SystemExit as error:
        status = error.code if isinstance(error.code, int) else int(error.code is not None)
    except BaseException:
        traceback.print_exc()
        status = 1
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)


def start_watch(startup: str, findings: str) -> None:
    """Starts the watch as `exec --watch` does."""
    os.environ["TORCH_REPROS_WATCH"] = findings
    spec = importlib.util.spec_from_file_location("startup", startup)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    module.start()


def prepare(job: dict[str, Any]) -> None:
    global samples
    import numpy
    import torch

    samples = job["samples"]
    torch.set_num_threads(1)
    torch.default_generator.manual_seed(0)
    random.seed(0)
    numpy.random.seed(0)
    Steps(job["steps"], Path(job["state"])).start()


class Steps:
    """Counts the steps of all optimizers, and digests the parameters after each step."""

    def __init__(self, limit: int, file: Path) -> None:
        self.limit, self.file, self.process = limit, file, os.getpid()
        self.steps: Any = weakref.WeakKeyDictionary()
        self.most, self.digest = 0, hashlib.blake2b(digest_size=16)

    def start(self) -> None:
        from torch.optim.optimizer import register_optimizer_step_post_hook

        register_optimizer_step_post_hook(self.stepped)
        atexit.register(self.save)

    def stepped(self, optimizer: Any, args: Any, kwargs: Any) -> None:
        steps = self.steps[optimizer] = self.steps.get(optimizer, 0) + 1
        parameters = [each for group in optimizer.param_groups for each in group["params"]]
        size = sum(each.numel() for each in parameters)
        if size < SMALL or steps % SPARSE == 0:
            for each in parameters:
                self.digest.update(each.detach().cpu().contiguous().numpy().tobytes())
        self.most = max(self.most, steps)
        if steps >= self.limit and os.getpid() == self.process:
            raise SystemExit(0)

    def save(self) -> None:
        if os.getpid() == self.process and self.most:
            state = {"steps": self.most, "digest": self.digest.hexdigest()}
            self.file.write_text(json.dumps(state), encoding="utf-8")


def environments() -> None:
    """Seeds each environment of gymnasium whose program does not."""
    from gymnasium.utils import seeding

    made = seeding.np_random
    seeding.np_random = lambda seed=None: made(0 if seed is None else seed)
    sys.modules["gym"] = sys.modules["gymnasium"]  # its old name


def images() -> None:
    """Fills the data sets of torchvision with generated images, without files."""
    import numpy
    import torch

    # The binary part of torchvision needs CUDA. Without it, torchvision looks for these names.
    library: Any = cast(Any, torch.library).Library("torchvision", "DEF")
    for name in ("nms", "qnms"):
        library.define(f"{name}(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")
    images.library = library  # type: ignore[attr-defined]
    import torchvision

    def generated(shape: tuple[int, ...], classes: int) -> tuple[Any, Any]:
        """Noise, with a bright column whose place tells the class."""
        draw = numpy.random.RandomState(0)
        labels = draw.randint(0, classes, samples)
        pixels = draw.randint(0, 100, (samples, *shape)).astype(numpy.uint8)
        for image, label in zip(pixels, labels):
            image[:, 4 + 2 * (label % 10)] += 150
        return pixels, labels

    sets = torchvision.datasets

    def load_data(self: Any) -> tuple[Any, Any]:
        pixels, labels = generated((28, 28), 10)
        return torch.from_numpy(pixels), torch.from_numpy(labels)

    sets.MNIST._check_exists = lambda self: True
    sets.MNIST._load_data = load_data

    def cifar(classes: int) -> Any:
        def __init__(
            self: Any,
            root: Any = None,
            train: bool = True,
            transform: Any = None,
            target_transform: Any = None,
            download: bool = False,
        ) -> None:
            sets.VisionDataset.__init__(
                self, root or ".", transform=transform, target_transform=target_transform
            )
            self.train = train
            self.data, labels = generated((32, 32, 3), classes)
            self.targets = labels.tolist()
            self.classes = [str(each) for each in range(classes)]

        return __init__

    sets.CIFAR10.__init__ = cifar(10)
    sets.CIFAR100.__init__ = cifar(100)


def graphs() -> None:
    """Replaces the citation graphs by a generated one, in which neighbors share their class."""
    import torch
    from torch_geometric.data import Data, InMemoryDataset
    from torch_geometric.datasets import Planetoid

    def __init__(
        self: Any,
        root: str,
        name: str,
        split: str = "public",
        *a: Any,
        transform: Any = None,
        **k: Any,
    ) -> None:
        self.name, self.split = name, split
        InMemoryDataset.__init__(self, None, transform)
        draw = torch.Generator().manual_seed(0)
        nodes, labels = 400, torch.arange(400) % 7
        ends = torch.randint(nodes, (2, 6000), generator=draw)
        same = labels[ends[0]] == labels[ends[1]]
        same |= torch.rand(6000, generator=draw) < 0.02
        ends = ends[:, same & (ends[0] != ends[1])]
        ends = torch.unique(torch.cat([ends, ends.flip(0)], 1), dim=1)
        words = (torch.rand(nodes, 64, generator=draw) < 0.1).float()
        words[torch.arange(nodes), labels * 9 + torch.arange(nodes) % 9] = 1
        third = torch.arange(nodes) // 7 % 3
        masks = {f"{each}_mask": third == i for i, each in enumerate(("train", "val", "test"))}
        self.data, self.slices = self.collate([Data(x=words, edge_index=ends, y=labels, **masks)])

    Planetoid._download = Planetoid._process = lambda self: None
    Planetoid.__init__ = __init__


if __name__ == "__main__":
    main()
