"""Ways in which programs decide the number of workers of a loader: in each of these it is 0 for the last loader that is
built."""

from __future__ import annotations

import textwrap

HEAD = """\
import argparse, dataclasses, enum, functools, os, sys, types, typing
import click
from torch.utils.data import DataLoader
"""
PARSER = "p = argparse.ArgumentParser()\n"
OPTION = PARSER + "p.add_argument('--workers', '-j', type=int, default=0)\n"


def program(text: str) -> str:
    """A layout's program, with what it imports."""
    return HEAD + textwrap.dedent(text).lstrip("\n")


CLASSES = {
    "a named tuple": """
        class Config(typing.NamedTuple):
            workers: int = 0
        DataLoader([1], num_workers=Config().workers)
    """,
    "an argument of a named tuple": """
        class Config(typing.NamedTuple):
            workers: int = 9
        DataLoader([1], num_workers=Config(0).workers)
    """,
    "a member of an enum": """
        class Config(enum.Enum):
            WORKERS = 0
        DataLoader([1], num_workers=Config.WORKERS.value)
    """,
    "a simple namespace": """
        config = types.SimpleNamespace(workers=0)
        DataLoader([1], num_workers=config.workers)
    """,
    "a namespace of argparse": """
        config = argparse.Namespace(workers=0)
        DataLoader([1], num_workers=config.workers)
    """,
    "a dataclass with field()": """
        @dataclasses.dataclass
        class Config:
            workers: int = dataclasses.field(default=0)
        DataLoader([1], num_workers=Config().workers)
    """,
    "a dataclass that decides at the end": """
        @dataclasses.dataclass
        class Config:
            workers: int = 5
            def __post_init__(self):
                self.workers = 0
        DataLoader([1], num_workers=Config().workers)
    """,
    "a replaced field": """
        @dataclasses.dataclass
        class Config:
            workers: int = 5
        config = dataclasses.replace(Config(), workers=0)
        DataLoader([1], num_workers=config.workers)
    """,
    "a dataclass as a dict": """
        @dataclasses.dataclass
        class Config:
            num_workers: int = 0
        DataLoader([1], **dataclasses.asdict(Config()))
    """,
    "a class in a class": """
        class Config:
            class loader:
                workers = 0
        DataLoader([1], num_workers=Config.loader.workers)
    """,
    "an inherited attribute": """
        class Base:
            workers = 0
        class Config(Base):
            pass
        DataLoader([1], num_workers=Config().workers)
    """,
    "a class method": """
        class Factory:
            workers = 0
            @classmethod
            def make(cls):
                return DataLoader([1], num_workers=cls.workers)
        Factory.make()
    """,
    "a static method": """
        class Factory:
            @staticmethod
            def make(workers=0):
                return DataLoader([1], num_workers=workers)
        Factory.make()
    """,
    "a property": """
        class Config:
            @property
            def workers(self):
                return 0
        DataLoader([1], num_workers=Config().workers)
    """,
    "a data module": """
        class Data:
            def __init__(self, num_workers: int = 0):
                self.num_workers = num_workers
            def setup(self):
                self.train = [1]
            def train_dataloader(self):
                return DataLoader(self.train, num_workers=self.num_workers)
        data = Data()
        data.setup()
        data.train_dataloader()
    """,
    "a subclass with a parameter": """
        class Mine(DataLoader):
            def __init__(self, data, workers=0):
                super().__init__(data, num_workers=workers)
        Mine([1])
    """,
    "a subclass that decides": """
        class Mine(DataLoader):
            def __init__(self, data):
                super().__init__(data, num_workers=0)
        Mine([1])
    """,
    "a subclass with a default of its own": """
        class Mine(DataLoader):
            def __init__(self, data, **kw):
                kw.setdefault("num_workers", 0)
                super().__init__(data, **kw)
        Mine([1], batch_size=2)
    """,
    "a subclass that is built twice": """
        class Mine(DataLoader):
            def __init__(self, data, workers):
                super().__init__(data, num_workers=workers)
        first = Mine([1], 0)
        second = Mine([1], 0)
    """,
}

COMMAND_LINES = {
    "dest": PARSER
    + """
p.add_argument('-j', dest='workers', type=int, default=0)
DataLoader([1], num_workers=p.parse_args().workers)
""",
    "parents": """
        base = argparse.ArgumentParser(add_help=False)
        base.add_argument("--workers", type=int, default=0)
        args = argparse.ArgumentParser(parents=[base]).parse_args()
        DataLoader([1], num_workers=args.workers)
    """,
    "a subcommand": PARSER
    + """
train = p.add_subparsers().add_parser('train')
train.add_argument('--workers', type=int, default=0)
DataLoader([1], num_workers=p.parse_args(['train']).workers)
""",
    "a group of options": PARSER
    + """
p.add_argument_group('data').add_argument('--workers', type=int, default=0)
DataLoader([1], num_workers=p.parse_args().workers)
""",
    "defaults set afterwards": PARSER
    + """
p.add_argument('--workers', type=int)
p.set_defaults(workers=0)
DataLoader([1], num_workers=p.parse_args().workers)
""",
    "a constant as the default": "WORKERS = 0\n"
    + PARSER
    + """
p.add_argument('--workers', type=int, default=WORKERS)
DataLoader([1], num_workers=p.parse_args().workers)
""",
    "vars()": OPTION + "args = vars(p.parse_args())\nDataLoader([1], num_workers=args['workers'])\n",
    "getattr()": OPTION + "args = p.parse_args()\nDataLoader([1], num_workers=getattr(args, 'workers', 2))\n",
    "a class built from the arguments": OPTION
    + """
class Config:
    def __init__(self, args):
        self.workers = args.workers
DataLoader([1], num_workers=Config(p.parse_args()).workers)
""",
    "a dataclass built from the arguments": OPTION
    + """
@dataclasses.dataclass
class Config:
    workers: int = 7
DataLoader([1], num_workers=Config(**vars(p.parse_args())).workers)
""",
    "a function that parses": """
        def options():
            p = argparse.ArgumentParser()
            p.add_argument("--workers", type=int, default=0)
            return p.parse_args()
        def main():
            args = options()
            DataLoader([1], num_workers=args.workers)
        main()
    """,
    "click": """
        @click.command()
        @click.option("--workers", "-j", default=0)
        def main(workers):
            DataLoader([1], num_workers=workers)
        main([], standalone_mode=False)
    """,
    "a command of a group of click": """
        @click.group()
        def cli():
            pass
        @cli.command()
        @click.option("--workers", "count", default=0, type=int)
        def train(count):
            DataLoader([1], num_workers=count)
        cli(["train"], standalone_mode=False)
    """,
    "the environment": "DataLoader([1], num_workers=int(os.environ.get('WORKERS', 0)))\n",
    "text from the environment": "workers = int(os.getenv('WORKERS', '0'))\nDataLoader([1], num_workers=workers)\n",
}

DICTS = {
    "two dicts in one": "a, b = {'batch_size': 2}, {'num_workers': 0}\nDataLoader([1], **{**a, **b})\n",
    "two dicts merged": "a, b = {'batch_size': 2}, {'num_workers': 0}\nDataLoader([1], **(a | b))\n",
    "a dict with one more entry": "a = {'batch_size': 2}\nDataLoader([1], **dict(a, num_workers=0))\n",
    "a dict in a dict": "c = {'loader': {'num_workers': 0}}\nDataLoader([1], num_workers=c['loader']['num_workers'])\n",
    "a splatted dict in a dict": "c = {'loader': {'num_workers': 0}}\nDataLoader([1], **c['loader'])\n",
    "a dict on a condition": "kw = {'num_workers': 0} if sys.argv else {}\nDataLoader([1], **kw)\n",
    "an entry of its own": "kw = dict(batch_size=2)\nkw['num_workers'] = 0\nDataLoader([1], **kw)\n",
    "get() with a default": "c = {}\nDataLoader([1], num_workers=c.get('workers', 0))\n",
    "a dict that another one updates": """
        kwargs = {"batch_size": 2}
        if sys.argv:
            more = {"num_workers": 0, "shuffle": True}
            kwargs.update(more)
        DataLoader([1], **kwargs)
    """,
    "a dict that a function returns": """
        def config():
            return {"train": {"workers": 0}}
        DataLoader([1], num_workers=config()["train"]["workers"])
    """,
    "a dict that a wrapper fills": """
        def wrap(x, workers=0, **kw):
            kw.setdefault("num_workers", workers)
            return DataLoader(x, **kw)
        wrap([1])
    """,
    "a partial without the key": "make = functools.partial(DataLoader, batch_size=2)\nmake([1], shuffle=True)\n",
}

EXPRESSIONS = {
    "a conditional expression": "DataLoader([1], num_workers=0 if sys.argv else 4)\n",
    "a constant that is a formula": "N = min(0, os.cpu_count())\nDataLoader([1], num_workers=N)\n",
    "arithmetic": "N = os.cpu_count() * 0\nDataLoader([1], num_workers=N)\n",
    "a formula as an argument": "def make(n):\n    return DataLoader([1], num_workers=n)\nmake(max(0, 0))\n",
    "a formula in an attribute": """
        class Trainer:
            def __init__(self):
                self.workers = min(0, os.cpu_count())
            def loader(self):
                return DataLoader([1], num_workers=self.workers)
        Trainer().loader()
    """,
    "a loop over splits": "for one in ('train', 'val'):\n    DataLoader([1], num_workers=0, shuffle=one == 'train')\n",
    "a lambda": "make = lambda x, n=0: DataLoader(x, num_workers=n)\nmake([1])\n",
    "names bound together": "N, B = 0, 2\nDataLoader([1], num_workers=N, batch_size=B)\n",
    "a global name": "N = 4\ndef setup():\n    global N\n    N = 0\nsetup()\nDataLoader([1], num_workers=N)\n",
    "a name bound again": "N = 4\nN = 0\nDataLoader([1], num_workers=N)\n",
    "a positional argument": "DataLoader([1], 2, False, None, None, 0)\n",
    "a list": "c = [0, 2]\nDataLoader([1], num_workers=c[0], batch_size=c[1])\n",
    "a function's value": "def workers():\n    return 0\nDataLoader([1], num_workers=workers())\n",
    "a fallback": "def make(n=None):\n    return DataLoader([1], num_workers=n or 0)\nmake()\n",
    "a fallback by a condition": """
        def make(n=None):
            if n is None:
                n = 0
            return DataLoader([1], num_workers=n)
        make()
    """,
    "the second of two on a line": "a, b = DataLoader([1], num_workers=0), DataLoader([2], num_workers=0)\n",
}

FILES = {
    "a wrapper of another file": {
        "train.py": "from loading import build\nbuild([1], num_workers=0)\n",
        "loading.py": """
            def build(x, **kw):
                return inner(x, **kw)
            def inner(x, **kw):
                return DataLoader(x, **kw)
        """,
    },
    "a star import": {
        "train.py": "from conf import *\nDataLoader([1], num_workers=WORKERS)\n",
        "conf.py": "WORKERS = 0\n",
    },
    "an object of another file": {
        "train.py": "from conf import config\nDataLoader([1], num_workers=config.workers)\n",
        "conf.py": "class Config:\n    workers = 0\nconfig = Config()\n",
    },
}

EVERY: dict[str, dict[str, str]] = {
    **{
        name: {"train.py": program(text)}
        for some in (CLASSES, COMMAND_LINES, DICTS, EXPRESSIONS)
        for name, text in some.items()
    },
    **{name: {file: program(text) for file, text in files.items()} for name, files in FILES.items()},
}
