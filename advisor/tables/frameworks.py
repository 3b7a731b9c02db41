"""Tables of facts about frameworks: which constructor takes which argument where, who moves batches, who makes loaders.

Sources: rules.md 0.1, 0.5 and 6, read in torch 2.13.0, torchdata 0.11.0, torch_geometric 2.8.1, monai 1.6.1, timm
1.0.31, litdata 0.2.76, accelerate 1.15.0, lightning 2.6.6, transformers 5.23.0, ignite 0.5.5, fastai 2.8.12.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Constructor:
    """A callable that builds a loader.

    Attributes:
        name: its full name.
        positional: its parameters by position, under DataLoader's own names.
        default_workers: ``num_workers`` where it is not given; None where the constructor decides by itself.
        advises: whether the rules about missing arguments hold for it.
        delivers: where its batches come out: ``host``, or ``device`` where it moves them itself.
        shards: whether an iterable data set is divided among workers by it.
        prefix: what its own names for DataLoader's arguments begin with (``dataloader_num_workers``).
        pins: whether it pins its batches unless it is told not to.
    """

    name: str
    positional: tuple[str, ...]
    default_workers: int | None = 0
    advises: bool = True
    delivers: str = "host"
    shards: bool = False
    prefix: str = ""
    pins: bool = False


_TORCH = (
    "dataset",
    "batch_size",
    "shuffle",
    "sampler",
    "batch_sampler",
    "num_workers",
    "collate_fn",
    "pin_memory",
    "drop_last",
    "timeout",
    "worker_init_fn",
    "multiprocessing_context",
    "generator",
)

TORCH_LOADER = "torch.utils.data.DataLoader"

CONSTRUCTORS: dict[str, Constructor] = {
    one.name: one
    for one in (
        Constructor(TORCH_LOADER, _TORCH),
        Constructor("torchdata.stateful_dataloader.StatefulDataLoader", _TORCH),
        Constructor("torch_geometric.loader.DataLoader", ("dataset", "batch_size", "shuffle")),
        *(
            Constructor(f"torch_geometric.loader.{name}", positional)
            for name, positional in (
                ("DataListLoader", ("dataset", "batch_size", "shuffle")),
                ("DenseDataLoader", ("dataset", "batch_size", "shuffle")),
                ("TemporalDataLoader", ("data", "batch_size", "neg_sampling_ratio")),
                ("NodeLoader", ("data", "node_sampler", "input_nodes")),
                ("NeighborLoader", ("data", "num_neighbors", "input_nodes")),
                ("HGTLoader", ("data", "num_samples", "input_nodes")),
                ("LinkLoader", ("data", "link_sampler", "edge_label_index")),
                ("LinkNeighborLoader", ("data", "num_neighbors", "edge_label_index")),
                ("ClusterLoader", ("cluster_data",)),
                ("RandomNodeLoader", ("data", "num_parts")),
                ("ShaDowKHopSampler", ("data", "depth", "num_neighbors", "node_idx")),
            )
        ),
        Constructor("torch_geometric.loader.PrefetchLoader", ("loader", "device"), None, False, "device"),
        Constructor("torch_geometric.loader.CachedLoader", ("loader", "device"), None, False, "device"),
        Constructor("monai.data.DataLoader", ("dataset", "num_workers")),
        Constructor("monai.data.ThreadDataLoader", ("dataset", "buffer_size", "buffer_timeout", "repeats")),
        Constructor("torchio.SubjectsLoader", ("dataset", "collate_fn")),
        Constructor("litdata.StreamingDataLoader", ("dataset",), shards=True),
        Constructor("webdataset.WebLoader", _TORCH, shards=True),
        Constructor("streaming.StreamingDataLoader", _TORCH, shards=True),
        Constructor("dgl.dataloading.GraphDataLoader", ("dataset", "collate_fn", "use_ddp", "ddp_seed")),
        Constructor(
            "timm.data.create_loader",
            ("dataset", "input_size", "batch_size"),
            default_workers=1,
            advises=False,
            delivers="device",
        ),
        Constructor("fastai.data.load.DataLoader", (), None, advises=False, delivers="device"),
        Constructor("dgl.dataloading.DataLoader", (), None, advises=False, delivers="device"),
        Constructor("ignite.distributed.auto_dataloader", ("dataset",), None, advises=False),
        Constructor("torch_xla.distributed.parallel_loader.MpDeviceLoader", (), None, False, "device"),
        *(
            Constructor(f"nvidia.dali.plugin.pytorch.DALI{kind}Iterator", (), None, advises=False, delivers="device")
            for kind in ("Generic", "Classification")
        ),
        Constructor("ffcv.Loader", (), None, advises=False, delivers="device"),
        Constructor("ffcv.loader.Loader", (), None, advises=False, delivers="device"),
    )
}

SETTINGS: dict[str, Constructor] = {
    **{
        name: Constructor(name, (), prefix="dataloader_", pins=True)
        for name in (
            *("transformers.TrainingArguments", "transformers.Seq2SeqTrainingArguments", "trl.SFTConfig"),
            *("trl.DPOConfig", "trl.RewardConfig", "sentence_transformers.SentenceTransformerTrainingArguments"),
        )
    },
    **{
        name: Constructor(name, (), prefix="iterator_train__")
        for name in ("skorch.NeuralNet", "skorch.NeuralNetClassifier", "skorch.NeuralNetRegressor")
    },
}
"""Classes of frameworks that build the loader out of sight, from arguments of theirs."""

FRAMEWORK_CLASSES = {
    "lightning.LightningModule": "lightning",
    "lightning.LightningDataModule": "lightning",
    "lightning.core.LightningModule": "lightning",
    "lightning.core.module.LightningModule": "lightning",
    "lightning.core.datamodule.LightningDataModule": "lightning",
    "lightning.core.LightningDataModule": "lightning",
    "lightning.Trainer": "lightning",
    "lightning.Fabric": "lightning",
    "transformers.Trainer": "transformers",
    "transformers.Seq2SeqTrainer": "transformers",
    "transformers.trainer.Trainer": "transformers",
    **{f"trl.{kind}Trainer": "transformers" for kind in ("SFT", "DPO", "Reward", "GRPO", "KTO")},
    "sentence_transformers.SentenceTransformerTrainer": "transformers",
    "accelerate.Accelerator": "accelerate",
    "mmengine.runner.Runner": "mmengine",
    "skorch.NeuralNet": "skorch",
    "skorch.NeuralNetClassifier": "skorch",
    "skorch.NeuralNetBinaryClassifier": "skorch",
    "skorch.NeuralNetRegressor": "skorch",
    "composer.Trainer": "composer",
    "composer.ComposerModel": "composer",
    "composer.models.ComposerModel": "composer",
    "catalyst.dl.Runner": "catalyst",
}
"""Library classes whose presence means that a framework moves batches (rules.md 0.5)."""

FRAMEWORK_CALLS = {
    "ignite.engine.create_supervised_trainer": "ignite",
    "ignite.engine.create_supervised_evaluator": "ignite",
    "deepspeed.initialize": "deepspeed",
    **{
        f"fastai.{module}.{name}": "fastai"
        for module, names in {
            "learner": "Learner",
            "vision.all": "Learner vision_learner cnn_learner unet_learner",
            "vision.learner": "vision_learner cnn_learner unet_learner",
            "text.all": "Learner text_classifier_learner language_model_learner",
            "tabular.all": "Learner tabular_learner",
            "collab": "collab_learner",
            "basics": "Learner",
        }.items()
        for name in names.split()
    },
    "colossalai.booster.Booster": "colossalai",
}

LIBRARIES = frozenset(
    {
        *("torch", "torchvision", "torchaudio", "pytorch_lightning", "lightning_fabric"),
        *(name.partition(".")[0] for name in (*CONSTRUCTORS, *SETTINGS, *FRAMEWORK_CLASSES, *FRAMEWORK_CALLS)),
    }
)
"""The packages that these tables speak of."""

TRAINING_ARGUMENTS = ("transformers.TrainingArguments", "transformers.Seq2SeqTrainingArguments")
"""The classes that a transformers Trainer takes its settings from."""

PREPARES = frozenset({"prepare", "prepare_data_loader", "setup_dataloaders", "setup"})
"""Methods of an Accelerator or a Fabric that return a loader which delivers device batches."""

TAKERS = {
    "composer.Trainer": "composer",
    "mmengine.runner.Runner": "mmengine",
    "fastai.data.core.DataLoaders": "fastai",
    **{f"lightning.Trainer.{name}": "lightning" for name in ("fit", "validate", "test", "predict")},
    **{f"ignite.engine.create_supervised_{name}.run": "ignite" for name in ("trainer", "evaluator")},
}
"""Calls that take loaders whose batches the framework moves, and pins no more than the loader does by itself."""

ON_HOST = (
    *(("lightning.Trainer", "accelerator", "cpu"), ("lightning.Fabric", "accelerator", "cpu")),
    *(("composer.Trainer", "device", "cpu"), ("accelerate.Accelerator", "cpu", True)),
)
"""Arguments with which a framework stays on the host: the callable, the keyword and its value."""
