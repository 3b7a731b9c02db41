"""Modules: base classes, wrappers, layers without state, and what their methods do.

From the documentation of torch 2.13 (https://docs.pytorch.org/docs/stable/nn.html).
"""

from __future__ import annotations

import re

MODULE_BASES = frozenset({"torch.nn.Module", "lightning.LightningModule", "torch.jit.ScriptModule"})
"""Classes that modules inherit from."""

CLASSES_OF_MODULES = re.compile(
    r"(?:torch\.nn|torch_geometric\.nn|dgl\.nn|torchvision\.(?:models|ops)|timm\.(?:models|layers)|monai\.networks)\..+"
    r"|(?:transformers|pytorch_transformers|pytorch_pretrained_bert|diffusers)\..*(?:Model|ModelMixin|For[A-Z]\w+)"
)
"""Full names of classes of libraries from which only modules inherit: all that these packages of layers and models
have, and the models of transformers and of what it was called before."""

OUTPUTS = frozenset(
    "loss losses logits sample preds predictions last_hidden_state pooler_output hidden_states image_embeds "
    "text_embeds logits_per_image logits_per_text reconstruction prev_sample".split()
)
"""Attributes of what models of libraries return: each a tensor, or several."""

MODULE_ALIASES = frozenset({"torch.compile", "torch.jit.script", "torch.nn.utils.spectral_norm"})
"""Callables that return a module which lives where their argument lives."""

CHECKPOINTS = frozenset({"torch.utils.checkpoint.checkpoint", "deepspeed.checkpointing.checkpoint"})
"""Functions that call their first argument with the others, and once more in the backward pass."""

WRAPPERS_THAT_MOVE_INPUTS = frozenset(
    {
        "torch.nn.DataParallel",
        "torch.nn.parallel.DataParallel",
        "torch.nn.parallel.DistributedDataParallel",
        "torch.distributed.fsdp.FullyShardedDataParallel",
        "torch.distributed.fsdp.fully_sharded_data_parallel.FullyShardedDataParallel",
    }
)
"""Module wrappers whose forward moves its inputs to the module's device (targets stay where they are)."""

WRAPPERS_THAT_WAIT = WRAPPERS_THAT_MOVE_INPUTS - {"torch.nn.DataParallel", "torch.nn.parallel.DataParallel"}
"""Those that wait for each copy; DataParallel spreads batches asynchronously where their memory is pinned."""

PARALLEL_WRAPPERS = (
    "torch.nn.parallel.DistributedDataParallel",
    "torch.distributed.fsdp.FullyShardedDataParallel",
    "torch.distributed.fsdp.fully_shard",
)
"""What makes several processes train one model, each on its own samples."""

KEEPS = frozenset(
    {"train", "eval", "half", "float", "bfloat16", "double", "requires_grad_", "share_memory", "compile", "type"}
)
"""Methods of a module that return the module and leave it where it is."""

FUNCTION_BASES = frozenset({"torch.autograd.Function", "torch.autograd.function.Function"})
"""The base of functions that come with a gradient of their own."""
CONTAINERS = frozenset({"torch.nn.ModuleList", "torch.nn.ModuleDict", "torch.nn.Sequential"})
"""Modules that hold others, and give them out."""

TAKES_IN = frozenset({"append", "extend", "insert", "update"})
"""Methods with which these take in more."""

PARAMETER_GROUP = "torch.optim.Optimizer.param_groups"
"""What an entry of an optimizer's ``param_groups`` is called."""

PARAMETERS = frozenset({"torch.nn.Parameter", "torch.nn.parameter.Parameter"})
"""What makes a tensor a parameter of the module that it is assigned to."""

REGISTERS = frozenset({"register_buffer", "register_parameter"})
"""Methods with which a module takes in a tensor under a name."""

READS_MODULE = frozenset(
    {"parameters", "named_parameters", "state_dict", "load_state_dict", "zero_grad", "modules", "named_modules"}
    | {"children", "named_children", "buffers", "named_buffers", "register_forward_hook", "apply", "__len__"}
)
"""Methods of a module that neither move nor replace it."""

STATELESS = frozenset(
    "torch.nn." + name
    for name in (
        "ReLU LeakyReLU GELU SiLU Sigmoid Tanh Softmax LogSoftmax Softplus ELU Hardtanh ReLU6 Dropout "
        "Dropout2d Dropout3d Flatten Unflatten Identity MaxPool1d MaxPool2d MaxPool3d AvgPool2d "
        "AdaptiveAvgPool1d AdaptiveAvgPool2d Upsample AdaptiveMaxPool2d PixelShuffle ZeroPad2d "
        "ReflectionPad2d CosineSimilarity UpsamplingBilinear2d Softmax2d"
    ).split()
)
"""Layers without parameters and buffers: nothing of them lies on a device."""

DROPS = frozenset(f"torch.nn.{name}" for name in "Dropout Dropout1d Dropout2d Dropout3d AlphaDropout".split())
"""Layers that drop values while they train."""

DROPS_BY_DEFAULT = frozenset(
    f"torch.nn.{name}" for name in "Transformer TransformerEncoderLayer TransformerDecoderLayer".split()
)
"""Layers that hold such layers, unless they are given a probability of zero."""

NORMALIZES = frozenset(f"torch.nn.{name}" for name in "BatchNorm1d BatchNorm2d BatchNorm3d SyncBatchNorm".split())
"""Layers that normalize by the batch while they train."""

NORMALIZING_NETS = tuple(
    "resne resnext wide_resnet densenet mobilenet efficientnet inception googlenet shufflenet mnasnet regnet".split()
)
"""Beginnings of names of torchvision's models that hold such layers."""

DROPPING_NETS = ("vgg", "alexnet", "squeezenet")
"""Beginnings of names of torchvision's models that drop values."""

ANY_VISION_MODEL = "torchvision.models.?"
"""The model that a program looks up by a name which only the run tells, as ``models.__dict__[args.arch]``."""
