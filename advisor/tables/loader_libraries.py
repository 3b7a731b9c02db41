"""What builds loaders, in torch and in other libraries: a new library is one more entry of :data:`CONSTRUCTORS`, or of
:data:`SETTINGS` where it builds the loader out of sight.

Read in the sources of torch 2.13.0, torchdata 0.11.0, torch_geometric 2.8.1, monai 1.6.1, timm 1.0.31,
litdata 0.2.76, accelerate 1.15.0, lightning 2.6.6, transformers 5.23.0, ignite 0.5.5 and fastai 2.8.12.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Constructor:
    """A callable that builds a loader.

    Attributes:
        name: its full name.
        positional: its parameters by position, under DataLoader's own names.
        default_workers: ``num_workers`` where it is not given; None where the constructor decides by itself, or
            prepares batches in a thread.
        advises: whether the rules about missing arguments hold for it.
        delivers: where its batches come out: ``host``, or ``device`` where it moves them itself.
        shards: whether an iterable data set is divided among workers by it.
        prefix: what its own names for DataLoader's arguments begin with (``dataloader_num_workers``).
        pins: whether it pins its batches unless an argument says otherwise.
    """

    name: str
    positional: tuple[str, ...]
    default_workers: int | None = 0
    advises: bool = True
    delivers: str = "host"
    shards: bool = False
    prefix: str = ""
    pins: bool = False


_TORCH = tuple(
    "dataset batch_size shuffle sampler batch_sampler num_workers collate_fn pin_memory drop_last timeout "
    "worker_init_fn multiprocessing_context generator".split()
)

TORCH_LOADER = "torch.utils.data.DataLoader"
"""The loader that all others are compared with."""

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
        Constructor("monai.data.ThreadDataLoader", ("dataset", "buffer_size", "buffer_timeout", "repeats"), None),
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
"""What builds a loader, by name."""

DELIVERS_ON_DEVICE = frozenset({"fastai", "ffcv", "nvidia", "dgl", "torch_xla"})
"""Packages whose loaders deliver on the device, and which are imported for them."""

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
