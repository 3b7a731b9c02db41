"""What data sets call for each sample, and what of it workers must not share.

From the documentation of the libraries that are named, and of torch 2.13 (https://docs.pytorch.org/docs/stable/data.html).
"""

from __future__ import annotations

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

DECODERS = frozenset(
    {
        "PIL.Image.open",
        "cv2.imread",
        "cv2.imdecode",
        "cv2.VideoCapture",
        "imageio.imread",
        "imageio.v2.imread",
        "imageio.v3.imread",
        "skimage.io.imread",
        "matplotlib.image.imread",
        "torchvision.io.read_image",
        "torchvision.io.decode_jpeg",
        "torchvision.io.read_video",
        "torchaudio.load",
        "librosa.load",
        "soundfile.read",
    }
)
"""Those that decode a picture, a recording or a video, which takes more than to read it."""

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
"""Handles that forked workers would share."""

OBJECT_LISTS = frozenset({"list", "sorted", "dict", "set", "glob.glob", "os.listdir", "json.load", "json.loads"})
"""Callables that return many Python objects, each with a reference count of its own."""

RANDOM_STATES = frozenset(
    {"numpy.random.default_rng", "numpy.random.RandomState", "numpy.random.Generator", "random.Random"}
    | {"torch.Generator"}
)
"""Generators that every worker would get the same copy of."""

LOCKS = frozenset(
    f"{module}.{name}"
    for module in ("threading", "multiprocessing")
    for name in ("Lock", "RLock", "Condition", "Semaphore", "Event", "local")
)
"""Locks and the like, which cannot be pickled."""

SAME_IN_EVERY_WORKER = (
    "open",
    "range",
    "io.",
    "gzip.",
    "bz2.",
    "csv.",
    "json.",
    "glob.",
    "os.",
    "pathlib.",
    "numpy.",
    "pandas.",
)
"""Library callables whose result is the same in every worker."""

HOST_LIBRARIES = frozenset(
    "torchvision torchaudio numpy pandas PIL cv2 sklearn scipy albumentations librosa h5py "
    "glob os pathlib json csv random collections re math itertools functools".split()
)
"""Libraries whose functions and objects put nothing onto an accelerator by themselves."""
