"""Functions of Python and of small libraries: which hand on what they are given, and which give numbers.

From the documentation of Python 3.14 (https://docs.python.org/3/library/) and of the libraries that are named.
"""

from __future__ import annotations

PASS_THROUGH = frozenset(
    {"tqdm.tqdm", "tqdm.auto.tqdm", "tqdm.notebook.tqdm", "tqdm.std.tqdm", "tqdm.asyncio.tqdm", "tqdm.rich.tqdm"}
    | {
        "tqdm.autonotebook.tqdm",
        "tqdm.tqdm_notebook",
        "tqdm.gui.tqdm",
        "tqdm.std.tqdm_notebook",
        "accelerate.utils.tqdm",
    }
    | {"rich.progress.track", "alive_progress.alive_it", "itertools.cycle", "itertools.islice", "itertools.chain"}
    | {"iter", "reversed", "list", "tuple", "sorted", "more_itertools.peekable", "fastprogress.progress_bar"}
    | {"progressbar.progressbar", "torch.utils.data.Subset"}
)
"""Callables that yield what their first argument yields."""

COMPUTES_NUMBERS = frozenset(
    {"min", "max", "abs", "round", "os.cpu_count", "multiprocessing.cpu_count", "torch.multiprocessing.cpu_count"}
    | {"torch.cuda.device_count", "torch.get_num_threads", "psutil.cpu_count", "operator"}
)
"""Callables whose result is a number that a literal can replace; ``operator`` stands for arithmetic."""

GIVES_NUMBERS = COMPUTES_NUMBERS | {"int", "float", "len", "bool", "pow", "sum", "random.random", "random.uniform"}
"""Callables whose result is a number."""

HARMLESS_CALLS = frozenset(
    {"print", "len", "type", "isinstance", "id", "repr", "str", "sum", "any", "all", "hasattr", "dir", "next", "super"}
    | {"torch.save", "torch.nn.init.normal_", "torch.nn.utils.clip_grad_norm_", "torch.nn.utils.clip_grad_value_"}
    | {"torchinfo.summary", "torchsummary.summary", "pprint.pprint", "logging.info", "copy.copy", "range", "vars"}
)
"""Callees that neither keep, move nor wrap what they are given."""

GIVES_NO_TENSORS = tuple(
    f"{name}."
    for name in (
        "torch numpy sklearn scipy pandas matplotlib cv2 PIL math random os sys time json pickle logging wandb mlflow "
        "torchsummary torchinfo fvcore thop tqdm rich operator builtins gc copy inspect types functools itertools"
    ).split()
)
"""Beginnings of the names of functions that give no tensors, whatever they are given, or are known by themselves."""

FEEDS = frozenset(
    "iter enumerate zip map filter reversed sorted list tuple set itertools.chain itertools.islice".split()
)
"""Callables that yield what their arguments yield."""

GIVES_CONTENTS = frozenset(
    "items keys values read readlines split splitlines strip iterrows itertuples glob iterdir".split()
)
"""Methods that give what their receiver holds."""
