"""Tables of facts about libraries: which constructor takes which argument where, who moves batches, what lives where.

Sources: rules.md 0.1 to 0.9 and 6 (torch 2.13.0, torchdata 0.11.0, torch_geometric 2.8.1, monai 1.6.1, timm 1.0.31,
litdata 0.2.76, accelerate 1.15.0, lightning 2.6.6, transformers 5.23.0).
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
    "torch.nn.utils.clip_grad.clip_grad_value_": "torch.nn.utils.clip_grad_value_",
    "torch.utils.data.distributed.DistributedSampler": "torch.utils.data.DistributedSampler",
    "torch.nn.parallel.distributed.DistributedDataParallel": "torch.nn.parallel.DistributedDataParallel",
    "torch.nn.parallel.DataParallel": "torch.nn.DataParallel",
    "torch.utils.data.sampler.SequentialSampler": "torch.utils.data.SequentialSampler",
    "transformers.training_args.TrainingArguments": "transformers.TrainingArguments",
    "transformers.training_args_seq2seq.Seq2SeqTrainingArguments": "transformers.Seq2SeqTrainingArguments",
    "timm.data.loader.create_loader": "timm.data.create_loader",
    "accelerate.accelerator.Accelerator": "accelerate.Accelerator",
}

PREFIX_ALIASES = (
    ("pytorch_lightning.", "lightning."),
    ("lightning.pytorch.", "lightning."),
    ("lightning.fabric.Fabric", "lightning.Fabric"),
    ("lightning_fabric.", "lightning."),
    ("torch.nn.modules.loss.", "torch.nn."),
    ("torch._tensor.", "torch."),
)


def canonical(name: str) -> str:
    """The one name under which the tables know a library object."""
    for prefix, instead in PREFIX_ALIASES:
        if name.startswith(prefix):
            name = instead + name[len(prefix) :]
            break
    return ALIASES.get(name, name)


STOPS_AUTOGRAD = frozenset(
    {"torch.no_grad", "torch.inference_mode", "torch.set_grad_enabled", "torch.autograd.no_grad"}
    | {"torch.autograd.grad_mode.no_grad", "torch.autograd.inference_mode", "torch.autograd.grad_mode.inference_mode"}
    | {"torch.autograd.set_grad_enabled", "torch.autograd.grad_mode.set_grad_enabled"}
)
"""Context managers and decorators under which autograd records nothing, or perhaps nothing."""

LEAVES_AUTOGRAD = (
    *("torch.", "tqdm.", "functools.", "hydra.", "click.", "abc.", "typing.", "warnings.", "rich.", "time."),
    *("contextlib.nullcontext", "contextlib.suppress", "contextlib.redirect", "contextlib.contextmanager"),
    *("staticmethod", "classmethod", "property", "open", "PIL.", "h5py.", "wandb.", "mlflow.", "numpy."),
)
"""Beginnings of names of context managers and decorators that have nothing to do with autograd otherwise."""

MODULE_BASES = frozenset({"torch.nn.Module", "lightning.LightningModule", "torch.jit.ScriptModule"})

DATASET_BASES = frozenset(
    {"torch.utils.data.Dataset", "torch.utils.data.IterableDataset", "torch.utils.data.TensorDataset"}
)

PASS_THROUGH = frozenset(
    {"tqdm.tqdm", "tqdm.auto.tqdm", "tqdm.notebook.tqdm", "tqdm.std.tqdm", "tqdm.asyncio.tqdm", "tqdm.rich.tqdm"}
    | {"rich.progress.track", "alive_progress.alive_it", "itertools.cycle", "itertools.islice", "itertools.chain"}
    | {"iter", "reversed", "list", "tuple", "sorted", "more_itertools.peekable", "fastprogress.progress_bar"}
    | {"progressbar.progressbar", "torch.utils.data.Subset"}
)
"""Callables that yield what their first argument yields."""

TENSOR_FACTORIES = frozenset(
    f"torch.{name}"
    for name in (
        "zeros ones empty full eye arange linspace logspace rand randn randint randperm tensor as_tensor "
        "range from_numpy scalar_tensor tril_indices triu_indices hann_window"
    ).split()
)

SIZED_FACTORIES = frozenset(f"torch.{name}" for name in "zeros ones empty full eye rand randn randperm".split())
"""Factories whose first argument is the size, or its first dimension."""

TENSOR_FUNCTIONS = frozenset(
    f"torch.{name}"
    for name in (
        "cat stack add sub mul div matmul mm bmm exp log sqrt abs sum mean max min clamp relu sigmoid tanh "
        "softmax log_softmax sin cos pow where sort topk argmax argmin flatten reshape transpose permute "
        "squeeze unsqueeze split chunk zeros_like ones_like rand_like randn_like empty_like full_like "
        "bernoulli normal einsum cumsum logical_and logical_or logical_not isnan isfinite norm outer ger "
        "floor round sign eq ne gt lt ge le isinf any all argsort nonzero argwhere unique masked_select std var prod"
    ).split()
)

TENSOR_METHODS = frozenset(
    [
        "float",
        "double",
        "half",
        "bfloat16",
        "long",
        "int",
        "short",
        "bool",
        "byte",
        "view",
        "reshape",
        "flatten",
        "squeeze",
        "unsqueeze",
        "permute",
        "transpose",
        "contiguous",
        "detach",
        "clone",
        "expand",
        "repeat",
        "view_as",
        "expand_as",
        "t",
        "mean",
        "sum",
        "max",
        "min",
        "argmax",
        "softmax",
        "log_softmax",
        "sigmoid",
        "relu",
        "tanh",
        "exp",
        "log",
        "sqrt",
        "abs",
        "pow",
        "clamp",
        "add",
        "sub",
        "mul",
        "div",
        "matmul",
        "mm",
        "bmm",
        "eq",
        "ne",
        "gt",
        "lt",
        "ge",
        "le",
        "masked_fill",
        "gather",
        "index_select",
        "type_as",
        "requires_grad_",
        "narrow",
        "chunk",
        "split",
        "unbind",
        "roll",
        "flip",
        "cumsum",
        "norm",
        "std",
        "var",
        "prod",
        "any",
        "all",
        "isnan",
        "isfinite",
        "isinf",
        "logical_not",
        "argmin",
        "topk",
        "sort",
        "argsort",
        "nonzero",
        "unique",
        "masked_select",
    ]
)
"""Methods that exist on tensors, and give a tensor that lives where the receiver lives."""

LOSS_FUNCTIONS = frozenset(
    f"torch.nn.functional.{name}"
    for name in (
        "cross_entropy nll_loss mse_loss l1_loss smooth_l1_loss binary_cross_entropy kl_div huber_loss "
        "binary_cross_entropy_with_logits gaussian_nll_loss hinge_embedding_loss margin_ranking_loss"
    ).split()
)

READS_TENSOR = frozenset({"float", "int", "bool", "print"})
"""Builtins that copy a tensor to the host, and wait for it."""

SAVES = frozenset({"torch.save", "safetensors.torch.save_file"})
"""Functions that write their first argument to a file."""

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

PARALLEL_WRAPPERS = (
    "torch.nn.parallel.DistributedDataParallel",
    "torch.distributed.fsdp.FullyShardedDataParallel",
    "torch.distributed.fsdp.fully_shard",
)
"""What makes several processes train one model, each on its own samples."""

SETS_DEFAULT_DEVICE = frozenset({"torch.set_default_device", "torch.set_default_tensor_type"})
"""Calls after which tensors and modules may be made on an accelerator, wherever in the program."""

MODULE_ALIASES = frozenset({"torch.compile", "torch.jit.script", "torch.nn.utils.spectral_norm"})
"""Callables that return a module which lives where their argument lives."""

DISK_DATASETS = frozenset(
    "torchvision.datasets." + name
    for name in (
        "ImageFolder DatasetFolder CocoDetection CocoCaptions VOCDetection VOCSegmentation Cityscapes "
        "ImageNet LSUN Places365 CelebA Flickr8k Flickr30k Kinetics UCF101 HMDB51 OxfordIIITPet Food101 "
        "StanfordCars Flowers102 Caltech101 Caltech256 INaturalist SBDataset WIDERFace GTSRB DTD "
        "SUN397 FGVCAircraft Country211"
    ).split()
)
"""Library data sets that read and decode a file for each sample."""

STORED_DATASETS = frozenset({"litdata.StreamingDataset", "streaming.StreamingDataset", "torchio.SubjectsDataset"})
"""Library data sets that read each sample from files, whatever it is made of."""

MEMORY_DATASETS = frozenset(
    "torchvision.datasets." + name
    for name in ("MNIST FashionMNIST KMNIST EMNIST QMNIST CIFAR10 CIFAR100 SVHN STL10 USPS SEMEION FakeData").split()
)
"""Library vision data sets that are held in memory: only the transform costs time for each sample."""

GRAPHS_IN_FILES = frozenset({"PCQM4Mv2", "TrackMLParticleTrackingDataset"})
"""Data sets of torch_geometric that are not held in memory, as all others are."""

DATASET_LENGTHS = {
    f"torchvision.datasets.{name}": (train, 10_000)
    for names, train in (("MNIST FashionMNIST KMNIST", 60_000), ("CIFAR10 CIFAR100", 50_000))
    for name in names.split()
}
"""How many samples library data sets have for training, and for the test."""

DATASET_WRAPPERS = {
    "torch.utils.data.Subset": 0,
    "torch.utils.data.random_split": 0,
    "torch.utils.data.ConcatDataset": 0,
}
"""Data sets that are as costly as the data set in the given argument."""

SAMPLE_COSTS = {
    "PIL.Image.open": "opens and decodes an image",
    "cv2.imread": "reads and decodes an image",
    "cv2.imdecode": "decodes an image",
    "cv2.VideoCapture": "decodes a video",
    "imageio.imread": "reads and decodes an image",
    "imageio.v2.imread": "reads and decodes an image",
    "imageio.v3.imread": "reads and decodes an image",
    "skimage.io.imread": "reads and decodes an image",
    "matplotlib.image.imread": "reads and decodes an image",
    "torchvision.io.read_image": "reads and decodes an image",
    "torchvision.io.decode_jpeg": "decodes an image",
    "torchvision.io.read_video": "decodes a video",
    "torchaudio.load": "reads and decodes audio",
    "librosa.load": "reads and decodes audio",
    "soundfile.read": "reads and decodes audio",
    "scipy.io.wavfile.read": "reads audio",
    "scipy.io.loadmat": "reads a file",
    "nibabel.load": "reads a volume",
    "SimpleITK.ReadImage": "reads a volume",
    "pydicom.dcmread": "reads a volume",
    "numpy.load": "reads a file",
    "numpy.loadtxt": "parses a file",
    "numpy.genfromtxt": "parses a file",
    "torch.load": "reads a file",
    "pickle.load": "reads a file",
    "json.load": "reads a file",
    "open": "reads a file",
    "io.open": "reads a file",
    "h5py.File": "opens a file",
    "pandas.read_csv": "parses a file",
    "pandas.read_parquet": "parses a file",
    "pandas.read_feather": "parses a file",
    "safetensors.torch.load_file": "reads a file",
}
"""What a call in ``__getitem__`` costs for each sample, in words."""

COMPUTES_NUMBERS = frozenset(
    {"min", "max", "abs", "round", "os.cpu_count", "multiprocessing.cpu_count", "torch.multiprocessing.cpu_count"}
    | {"torch.cuda.device_count", "torch.get_num_threads", "psutil.cpu_count", "operator"}
)
"""Callables whose result is a number that a literal can replace; ``operator`` stands for arithmetic."""

HANDLES = frozenset(
    {
        "open",
        "io.open",
        "h5py.File",
        "zipfile.ZipFile",
        "tarfile.open",
        "lmdb.open",
        "sqlite3.connect",
        "netCDF4.Dataset",
        "rasterio.open",
        "cv2.VideoCapture",
    }
)
"""Handles that forked workers would share (rules.md D10)."""

OBJECT_LISTS = frozenset({"list", "sorted", "dict", "set", "glob.glob", "os.listdir", "json.load", "json.loads"})
"""Callables that return many Python objects, each with a reference count of its own (rules.md D18)."""

RANDOM_STATES = frozenset(
    {"numpy.random.default_rng", "numpy.random.RandomState", "numpy.random.Generator", "random.Random"}
    | {"torch.Generator"}
)
"""Generators that every worker would get the same copy of (rules.md D11)."""

HARMLESS_CUDA = frozenset(
    "torch.cuda." + name for name in ("manual_seed manual_seed_all seed seed_all empty_cache get_device_name").split()
)
"""Calls that are no evidence that a program runs on a GPU (rules.md 0.2)."""

HARMLESS_CALLS = frozenset(
    {"print", "len", "type", "isinstance", "id", "repr", "str", "sum", "any", "all", "hasattr", "dir", "next", "super"}
    | {"torch.save", "torch.nn.init.normal_", "torch.nn.utils.clip_grad_norm_", "torch.nn.utils.clip_grad_value_"}
    | {"torchinfo.summary", "torchsummary.summary", "pprint.pprint", "logging.info", "copy.copy", "range", "vars"}
)
"""Callees that neither keep, move nor wrap what they are given."""
