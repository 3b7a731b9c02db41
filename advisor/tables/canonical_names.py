"""The names under which the other tables know what libraries export in several places.

Read in the sources of torch 2.13.0, torchdata 0.11.0, torch_geometric 2.8.1, monai 1.6.1, timm 1.0.31,
litdata 0.2.76, accelerate 1.15.0, lightning 2.6.6, transformers 5.23.0, ignite 0.5.5, fastai 2.8.12 and six 1.17.0;
what Python 2 called otherwise, in the documentation of Python 2.7 (https://docs.python.org/2.7/library/).
"""

from __future__ import annotations

ALIASES = {
    "torch.utils.data.dataloader.DataLoader": "torch.utils.data.DataLoader",
    "torch.utils.data.dataset.Dataset": "torch.utils.data.Dataset",
    "torch.utils.data.dataset.IterableDataset": "torch.utils.data.IterableDataset",
    "torch.utils.data.dataset.TensorDataset": "torch.utils.data.TensorDataset",
    "torch.utils.data.dataset.Subset": "torch.utils.data.Subset",
    "torch.utils.data.dataset.random_split": "torch.utils.data.random_split",
    "torch.nn.modules.module.Module": "torch.nn.Module",
    "torch_geometric.data.DataLoader": "torch_geometric.loader.DataLoader",
    "torch_geometric.loader.dataloader.DataLoader": "torch_geometric.loader.DataLoader",
    "monai.data.dataloader.DataLoader": "monai.data.DataLoader",
    "torch.amp.autocast": "torch.autocast",
    "torch.amp.autocast_mode.autocast": "torch.autocast",
    "torch.cuda.amp.autocast_mode.autocast": "torch.cuda.amp.autocast",
    "torch.cuda.amp.grad_scaler.GradScaler": "torch.cuda.amp.GradScaler",
    "torch.amp.grad_scaler.GradScaler": "torch.amp.GradScaler",
    "torch.autograd.anomaly_mode.set_detect_anomaly": "torch.autograd.set_detect_anomaly",
    "torch.autograd.anomaly_mode.detect_anomaly": "torch.autograd.detect_anomaly",
    "torch.nn.utils.clip_grad.clip_grad_norm_": "torch.nn.utils.clip_grad_norm_",
    "torch.nn.utils.clip_grad_norm": "torch.nn.utils.clip_grad_norm_",
    "torch.nn.utils.clip_grad.clip_grad_value_": "torch.nn.utils.clip_grad_value_",
    "torch.utils.data.distributed.DistributedSampler": "torch.utils.data.DistributedSampler",
    "torch.nn.parallel.distributed.DistributedDataParallel": "torch.nn.parallel.DistributedDataParallel",
    "torch.nn.parallel.DataParallel": "torch.nn.DataParallel",
    "torch.nn.parallel.data_parallel.DataParallel": "torch.nn.DataParallel",
    **{
        f"torch.utils.data.sampler.{name}": f"torch.utils.data.{name}"
        for name in (
            "BatchSampler",
            "RandomSampler",
            "SequentialSampler",
            "SubsetRandomSampler",
            "WeightedRandomSampler",
        )
    },
    "transformers.training_args.TrainingArguments": "transformers.TrainingArguments",
    "transformers.training_args_seq2seq.Seq2SeqTrainingArguments": "transformers.Seq2SeqTrainingArguments",
    "timm.data.loader.create_loader": "timm.data.create_loader",
    "accelerate.accelerator.Accelerator": "accelerate.Accelerator",
    "xrange": "range",
    "itertools.izip": "zip",
    "itertools.imap": "map",
    "itertools.ifilter": "filter",
}

PREFIX_ALIASES = (
    ("pytorch_lightning.", "lightning."),
    ("lightning.pytorch.", "lightning."),
    ("lightning.fabric.Fabric", "lightning.Fabric"),
    ("lightning_fabric.", "lightning."),
    ("torch.nn.modules.loss.", "torch.nn."),
    ("torch._tensor.", "torch."),
    ("six.moves.", ""),
)
_PREFIXES = tuple([prefix for prefix, _ in PREFIX_ALIASES])


def canonical(name: str) -> str:
    """The one name under which the tables know a library object."""
    for prefix, instead in PREFIX_ALIASES if name.startswith(_PREFIXES) else ():
        if name.startswith(prefix):
            name = instead + name[len(prefix) :]
            break
    return ALIASES.get(name, name)
