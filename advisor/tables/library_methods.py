"""Names of methods that many objects have whose class is in no project: they say little of what is called.

Python's own types are asked; the others are from the documentation of torch 2.13
(https://docs.pytorch.org/docs/stable/nn.html, https://docs.pytorch.org/docs/stable/optim.html), of NumPy 2.4
(https://numpy.org/doc/stable/reference/arrays.ndarray.html) and of the logging module.
"""

from __future__ import annotations

import io

from accel_advisor.tables.tensor_methods import TENSOR_METHODS

_OF_PYTHON = (str, bytes, list, dict, set, int, float, io.TextIOWrapper, io.BytesIO)
_OF_MODULES = frozenset(
    "train eval to cuda cpu half float double bfloat16 apply parameters named_parameters modules named_modules "
    "children named_children buffers named_buffers state_dict load_state_dict zero_grad requires_grad_ "
    "register_buffer register_parameter add_module forward".split()
)
_OF_OPTIMIZERS = frozenset("step zero_grad backward scale unscale_ get_last_lr add_param_group".split())
_OF_ARRAYS = frozenset("item tolist numpy astype fill dot save load tobytes".split())
_OF_RECORDERS = frozenset(
    "info debug warning error exception critical log add_scalar add_scalars add_image add_images add_histogram "
    "add_text add_graph add_figure set_description set_postfix put send recv start stop run wait submit result".split()
)

LIBRARY_METHODS = TENSOR_METHODS.union(*map(dir, _OF_PYTHON), _OF_MODULES, _OF_OPTIMIZERS, _OF_ARRAYS, _OF_RECORDERS)
"""Names of methods that objects of Python, of NumPy and of torch have, and those of loggers, pools and queues."""
