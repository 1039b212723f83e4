"""Texts that people paste, for the tests of explain and of its copy on the website."""

INFERENCE = "rnn/inference_mode_caches_a_table"
WRAPPED = [
    "RuntimeError: Inference tensors cannot be",
    "saved for backward. Please do not use",
    "Tensors created in inference mode",
]
LAYOUTS = {
    "a box": "\n".join(f"│ {line:<50} │" for line in WRAPPED),
    "a box of ASCII": "+----+\n" + "\n".join(f"| {line:<50} |" for line in WRAPPED) + "\n+----+",
    "a heavy box": "\n".join(f"┃ {line:<50} ┃" for line in WRAPPED),
    "colours": "\x1b[31mRuntimeError\x1b[0m: Inference tensors \x1b[1;38;5;9mcannot\x1b[0m be saved for backward",
    "the rest of a line erased": "RuntimeError: Inference tensors\x1b[K cannot be \x1b[Ksaved for backward",
    "a link": "Inference \x1b]8;id=1;https://pytorch.org\x1b\\tensors\x1b]8;;\x1b\\ cannot be saved for backward",
    "a link that ends in a bell": "Inference \x1b]8;;file:///x\x07tensors\x1b]8;;\x07 cannot be saved for backward",
    "lines of Windows": "\r\n".join(WRAPPED),
    "a progress bar": " 10%|#    | 1/10\r 20%|##   | 2/10\r" + "\r".join(WRAPPED),
    "one rank": "\n".join(f"[rank0]: {line}" for line in WRAPPED),
    "two ranks, line by line": "\n".join(
        f"[rank{rank}]: {line}" for line in WRAPPED for rank in (0, 1)
    ),
    "ranks with a progress bar": "\r".join(
        f"[rank{rank}]: {line}" for line in WRAPPED for rank in (0, 1)
    ),
    "ranks and an unmarked line": "\n".join(
        f"[rank1]: {line}\nW1121 other.py:1] elsewhere" for line in WRAPPED
    ),
    "ranks with colours": "\n".join(
        f"\x1b[31m[rank{rank}]: {line}\x1b[0m" for line in WRAPPED for rank in (3, 12)
    ),
    "torchrun --tee": "\n".join(
        f"[default{rank}]:[rank{rank}]: {line}" for line in WRAPPED for rank in (1, 0)
    ),
    "mpirun": "\n".join(f"[1,{rank}]<stderr>:{line}" for line in WRAPPED for rank in (1, 0)),
    "Ray": "\n".join(
        f"(RayTrainWorker pid={pid}, ip=10.0.0.1) {line}" for line in WRAPPED for pid in (41, 42)
    ),
    "srun --label": "\n".join(f"{rank}: {line}" for line in WRAPPED for rank in (10, 2)),
    "a box in every rank": "\n".join(
        f"[rank{rank}]: | {line:<50} |" for line in WRAPPED for rank in (0, 1)
    ),
    "blanks of a browser": "Inference\xa0tensors\u3000cannot be saved for backward",
    "a box with a rule below its first line": "\n".join(
        f"| {line:<50} |\n+{'-' * 52}+" for line in WRAPPED
    ),
    "a box of Unicode with rules": "\n".join(f"{'─' * 40}\n│ {line:<50} │" for line in WRAPPED),
    "a group of exceptions": "\n".join(
        ["  + Exception Group Traceback:", "  +-+---------- 1 ----------"]
        + [f"    | {line}" for line in WRAPPED]
        + ["    +------------------------------------"]
    ),
    "a quotation": "\n".join(f"> {line}" for line in WRAPPED),
    "a quotation in another": "\n".join(f">> > {line}" for line in WRAPPED),
    "a quotation of a rank": "\n".join(
        f"> [rank{rank}]: {line}" for line in WRAPPED for rank in (0, 1)
    ),
    "a quotation of a box": "\n".join(f"> | {line:<50} |" for line in WRAPPED),
    "a fence": "```pytb\n" + "\n".join(WRAPPED) + "\n```",
    "a fence within a message": "```\n" + "\n```\n```\n".join(WRAPPED) + "\n```",
    "a quotation with a fence": "> ```\n" + "\n".join(f"> {line}" for line in WRAPPED) + "\n> ```",
    "pytest": "\n".join(f"E       {line}" for line in WRAPPED),
    "pytest in a quotation": "\n".join(f"> E   {line}" for line in WRAPPED),
}

CHECKPOINT = "None of the inputs have requires_grad=True. Gradients will be None"
NO_GRAD = "element 0 of tensors does not require grad and does not have a grad_fn"
# Texts that contain the warning of one of several causes.
NAMED = [
    f"train.py:3: UserWarning: {CHECKPOINT}\nRuntimeError: {NO_GRAD}",
    f"RuntimeError: {NO_GRAD}\n[rank0]: UserWarning: {CHECKPOINT}",
]

CURLY = "cannot pin \u2018torch.FloatTensor\u2019 only dense CPU tensors can be pinned"
HTML = "cannot pin&nbsp;&#39;torch.FloatTensor&#39; only dense CPU tensors&nbsp;can be pinned"
FP16 = "ValueError: Attempting to unscale FP16 gradients."
LIBRARY = '  File "/opt/conda/lib/python3.10/site-packages/torch/optim/sgd.py", line 7, in step\n    x()\n'
EPOCHS = "epoch 1\n" * 200
HEAD = "Traceback (most recent call last):\n"
# (text, the line in the user's own code)
TRACEBACKS = [
    (f'{HEAD}  File "train.py", line 12, in <module>\n    main()\n{LIBRARY}{FP16}', "train.py:12"),
    (f'{HEAD}  File "a.py", line 1, in f\n  File "b c.py", line 22, in g\n{FP16}', "b c.py:22"),
    (f"{HEAD}{LIBRARY}{FP16}", ""),
    (f'{HEAD}  File "<string>", line 1, in f\n{LIBRARY}{FP16}', ""),
    (f'{HEAD}  File "/usr/lib/python3.11/runpy.py", line 1, in f\n{LIBRARY}{FP16}', ""),
    (f'{HEAD}  File "C:\\Python311\\Lib\\runpy.py", line 1, in f\n{FP16}', ""),
    (f'{HEAD}  File "C:\\me\\train.py", line 1, in f\n{FP16}', "C:\\me\\train.py:1"),
    # an unrelated traceback before the relevant text
    (f'{HEAD}  File "old.py", line 1, in f\nKeyError: 1\n\n{HEAD}{LIBRARY}{FP16}', ""),
    (f'{HEAD}  File "old.py", line 1, in f\nKeyError: 1\n{EPOCHS}{FP16}', ""),
    # two processes
    (
        f'[rank0]: {HEAD}[rank1]: {HEAD}[rank0]:   File "a.py", line 1, in f\n'
        f'[rank1]:   File "b.py", line 2, in g\n[rank1]: {FP16}',
        "b.py:2",
    ),
    # rich, IPython, a notebook, a warning
    (
        f"╭── {HEAD[:-1]} ──╮\n│ /home/me/train.py:12 in main │\n│ ❱ 12   main() │\n╰───╯\n{FP16}",
        "/home/me/train.py:12",
    ),
    (f"{HEAD}File ~/proj/train.py:12, in fit(x)\n---> 12 step()\n{FP16}", "~/proj/train.py:12"),
    (f"{HEAD}Cell In[5], line 3\n      1 import torch\n----> 3 step()\n{FP16}", "Cell In[5]:3"),
    (f"train.py:31: UserWarning: {CHECKPOINT}", "train.py:31"),
    (f"/venv/lib/python3.11/site-packages/torch/x.py:31: UserWarning: {CHECKPOINT}", ""),
    (FP16, ""),
]

NEW_OOM = (
    "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate {}. GPU 0 has a total capacity of {} of which"
    " {} is free. Including non-PyTorch memory, this process has 5.86 GiB memory in use. Of the allocated memory {} is"
    " allocated by PyTorch, and {} is reserved by PyTorch but unallocated. If reserved but unallocated memory is large"
)
OLD_OOM = (
    "RuntimeError: CUDA out of memory. Tried to allocate {} (GPU 0; {} total capacity; {} already allocated;"
    " {} free; {} reserved in total by PyTorch)"
)
MULTIPLIED = "RuntimeError: mat1 and mat2 shapes cannot be multiplied ({} and {})"
TARGET = "UserWarning: Using a target size (torch.Size([{}])) that is different to the input size (torch.Size([{}]))."
LOADING = (
    "RuntimeError: Error(s) in loading state_dict for Net:\n\tsize mismatch for {}: copying a param with shape"
    " torch.Size([{}]) from checkpoint, the shape in current model is torch.Size([{}])."
)
STACK = "RuntimeError: stack expects each tensor to be equal size, but got [{}] at entry 0 and [{}] at entry 13"
CONV = "RuntimeError: Given groups=1, weight of size [{}], expected input[{}] to have {} channels, but got {} channels instead"
BATCH = "ValueError: Expected input batch_size ({}) to match target batch_size ({})."
VIEW = "RuntimeError: shape '[{}]' is invalid for input of size {}"
# (text, a part of the sentence)
READ = [
    (NEW_OOM.format("1.70 GiB", "6.00 GiB", "0 bytes", "2.93 GiB", "2.30 GiB"), "fragmentation: "),
    (
        NEW_OOM.replace("capacity", "capacty").format(
            "1.70 GiB", "6.00 GiB", "0 bytes", "2.93 GiB", "2.30 GiB"
        ),
        "fragmentation: ",
    ),
    (
        NEW_OOM.replace(
            ", and {}", ", with 1.00 GiB allocated in private pools (e.g., CUDA Graphs), and {}"
        ).format("1.70 GiB", "6.00 GiB", "0 bytes", "2.93 GiB", "2.30 GiB"),
        "fragmentation: ",
    ),
    (
        NEW_OOM.format("20.00 MiB", "23.69 GiB", "8.69 MiB", "23.02 GiB", "367.57 MiB"),
        "tensors hold 23.02 GiB of 23.69 GiB",
    ),
    (
        NEW_OOM.format("3.00 GiB", "6.00 GiB", "0 bytes", "2.93 GiB", "2.30 GiB"),
        "it is not fragmentation",
    ),
    (
        NEW_OOM.format("20.00 MiB", "79.10 GiB", "5.88 MiB", "1.20 GiB", "10.00 MiB"),
        "other processes hold most of the GPU",
    ),
    (
        NEW_OOM.format("60.00 GiB", "79.10 GiB", "50.00 GiB", "1.20 GiB", "10.00 MiB"),
        "it is not fragmentation",
    ),
    (
        NEW_OOM.format("149.01 GiB", "79.10 GiB", "50.00 GiB", "1.20 GiB", "10.00 MiB"),
        "one allocation of 149.01 GiB is more than the 79.10 GiB of the GPU",
    ),
    (
        OLD_OOM.format("2.00 GiB", "23.70 GiB", "5.00 GiB", "1.20 GiB", "20.00 GiB"),
        "fragmentation: ",
    ),
    (
        OLD_OOM.format("20.00 MiB", "10.76 GiB", "9.71 GiB", "5.25 MiB", "9.72 GiB"),
        "it is not fragmentation",
    ),
    (
        OLD_OOM.replace("reserved in total by PyTorch", "cached").format(
            "20.00 MiB", "10.76 GiB", "9.71 GiB", "5.25 MiB", "21.50 MiB"
        ),
        "it is not fragmentation",
    ),
    (MULTIPLIED.format("3584x7", "25088x4096"), "If the batch size is 1, x.flatten(1) is missing"),
    (MULTIPLIED.format("7168x7", "25088x4096"), "If the batch size is 2, x.flatten(1) is missing"),
    (MULTIPLIED.format("32x32768", "25088x4096"), "32768 = 512 x 8 x 8 and 25088 = 512 x 7 x 7"),
    (
        MULTIPLIED.format("32x400", "120x84"),
        "each row has 400 numbers, but the layer was made for 120",
    ),
    (
        MULTIPLIED.format("32x400", "100x10"),
        "each row has 400 numbers, but the layer was made for 100",
    ),
    (MULTIPLIED.format("3583x7", "25088x4096"), "each row has 7 numbers"),
    (MULTIPLIED.format("4x0", "10x5"), "each row has 0 numbers"),
    ("RuntimeError: size mismatch, m1: [3584 x 7], m2: [25088 x 4096]", "x.flatten(1) is missing"),
    (TARGET.format("32", "32, 1"), "input.squeeze(1) or target.unsqueeze(1)"),
    (TARGET.format("32, 1", "32"), "target.squeeze(1) or input.unsqueeze(1)"),
    (TARGET.format("8, 1, 5", "8, 5"), "target.squeeze(1)"),
    (TARGET.format("", "1"), "input.squeeze(0)"),
    (TARGET.format("32", "32, 10"), "If the target contains class indices"),
    (
        "ValueError: Target size (torch.Size([32])) must be the same as input size (torch.Size([32, 1]))",
        "input.squeeze(1)",
    ),
    (
        LOADING.format("fc.weight", "1000, 512", "10, 512"),
        "fc.weight is [1000, 512] in the checkpoint and [10, 512] in the model: the number of classes",
    ),
    (
        LOADING.format("fc.bias", "1000", "10"),
        "the number of classes or tokens differs. Build the model with 1000",
    ),
    (LOADING.format("up.weight", "64, 32", "64, 48"), "built with different sizes"),
    (LOADING.format("conv.weight", "64, 3, 7, 7", "32, 3, 7, 7"), "built with different sizes"),
    (
        "size mismatch for fc.bias: copying a param of torch.Size([1000]) from checkpoint, where the shape is torch.Size([10]) in current model.",
        "Build the model with 1000",
    ),
    (STACK.format("3, 200, 200", "1, 200, 200"), "3 in sample 0, but 1 in sample 13"),
    (STACK.format("3, 1088, 773", "3, 384, 480"), "differs from sample 0 in dim 1, 2"),
    (STACK.format("17", "9"), "in dim 0"),
    (CONV.format("16, 3, 3, 3", "1, 4, 345, 514", 3, 4), "grayscale or transparent"),
    (CONV.format("16, 3, 3, 3", "1, 345, 514, 3", 3, 345), "x.permute(0, 3, 1, 2).contiguous()"),
    (CONV.format("16, 8, 3", "4, 100, 8", 8, 100), "x.permute(0, 2, 1).contiguous()"),
    (BATCH.format(324, 4), "324 = 81 x 4"),
    (VIEW.format("1, 131072", 393216), "3 times as many numbers"),
    (VIEW.format("16, 400", 2000), "5 rows of 400 numbers, but the shape names 16"),
    (VIEW.format("5, 1, -1", 26112), "26112 is not a multiple of 5"),
    (BATCH.format(4, 12), "each sample has 3 targets"),
]
NOT_READ = [  # near misses, whose numbers have no meaning
    VIEW.format("16, 400", 2001),  # not whole rows
    VIEW.format("16, 1", 15),  # rows of one number
    VIEW.format("16, 400", 0),
    VIEW.format("0, 400", 15),
    TARGET.format("32", "16"),
    TARGET.format("32, 2", "32"),
    STACK.format("17", "9, 2"),
    CONV.format("16, 3, 3, 3", "1, 8, 345, 514", 3, 8),
    CONV.format("16, 3, 3, 3", "345, 514, 3", 3, 514),
    BATCH.format(64, 17),
    BATCH.format(0, 4),
    "RuntimeError: CUDA out of memory. Tried to allocate 20.00 MiB",
    "RuntimeError: mat1 and mat2 shapes cannot be multiplied",
    "RuntimeError: mat1 and mat2 must have the same dtype",
]
