"""ACC419 channels-last, silent cases first."""

from __future__ import annotations

from pathlib import Path

import pytest

from ..checks import Pair, check_one, check_pair, check_since, findings_of, fixed
from ..programs import IMPORTS

LAYERS = "nn.Conv2d(3, 8, 3), nn.ReLU(), nn.Conv2d(8, 8, 3), nn.Conv2d(8, 8, 3), nn.Conv2d(8, 8, 3)"
LOADER = "import conf\nloader = DataLoader(TensorDataset(torch.zeros(64, 3, 8, 8)), batch_size=16)\n"
NET = f"net = nn.Sequential({LAYERS})\n"
LOOP = """
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for (x,) in loader:
    net(x.cuda()).sum().backward()
    optimizer.step()
"""
CAST = "with torch.autocast('cuda'):\n    pass\n"


def program(move: str = "net.cuda()", before: str = "", net: str = NET, loader: str = LOADER, loop: str = LOOP) -> str:
    """A network that is trained on images, with lines before it is moved to the GPU."""
    return f"{IMPORTS}{loader}{net}{before}{move}\n{loop}"


def own(forward: str, layers: str = LAYERS, more: str = "") -> str:
    """A network of a class of its own, with these lines in its ``forward``."""
    body = "\n        ".join(forward.splitlines())
    return (
        f"class Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
        f"        self.body = nn.Sequential({layers})\n{more}    def forward(self, x):\n        {body}\nnet = Net()\n"
    )


SILENT = {
    "on the host": program("", loop=LOOP.replace(".cuda()", "")),
    "no training": program(loop="for (x,) in loader:\n    net(x.cuda())\n"),
    "three convolutions": program(net=NET.replace("nn.Conv2d(3, 8, 3)", "nn.Identity()")),
    "of a pixel": program(net=NET.replace("8, 3)", "8, 1)")),
    "no convolution": program(net="net = nn.Linear(8, 2)\n"),
    "mostly over single channels": program(net=NET.replace("(8, 8, 3)", "(8, 8, 3, groups=8)", 2)),
}


@pytest.mark.parametrize("source", SILENT.values(), ids=SILENT.keys())
def test_silent(source: str, tmp_path: Path) -> None:
    check_one("ACC419", source, tmp_path)


PADDED = "nn.{}(1), nn.Conv2d(3, 8, 3), nn.{}(1), nn.Conv2d(8, 8, 3), nn.Conv2d(8, 8, 3), nn.Conv2d(8, 8, 3)"


@pytest.mark.parametrize("pad", ["ReflectionPad2d", "ReplicationPad2d"])
def test_silent_behind_layers_that_undo_the_layout(pad: str, tmp_path: Path) -> None:
    source = program(net=f"net = nn.Sequential({PADDED.format(pad, pad)})\n", before=CAST)
    check_pair("ACC419", Pair(source, pad, "ZeroPad2d"), tmp_path)
    assert findings_of("ACC419", source.replace(f"nn.{pad}(1), ", "", 1), tmp_path)


NORMALIZED = "nn.Conv2d(3, 8, 3), nn.{0}(8), nn.Conv2d(8, 8, 3), nn.{0}(8), nn.Conv2d(8, 8, 3), nn.Conv2d(8, 8, 3)"


def test_silent_where_instance_normalization_undoes_the_layout(tmp_path: Path) -> None:
    norm = "InstanceNorm2d"
    source = program(net=f"net = nn.Sequential({NORMALIZED.format(norm)})\n", before=CAST)
    check_pair("ACC419", Pair(source, norm, "BatchNorm2d"), tmp_path)
    assert findings_of("ACC419", source.replace(f"nn.{norm}(8), ", "", 1), tmp_path)


def test_instance_normalization_undoes_the_layout_and_that_of_batches_keeps_it() -> None:
    torch = pytest.importorskip("torch")
    images = torch.zeros(2, 8, 4, 4).to(memory_format=torch.channels_last)
    assert torch.nn.InstanceNorm2d(8)(images).is_contiguous()
    assert torch.nn.BatchNorm2d(8)(images).is_contiguous(memory_format=torch.channels_last)


LINES = {
    "channels last": "net = net.to(memory_format=torch.channels_last)\n",
    "the images only": "zeros = torch.zeros(2, 3, 8, 8).to(memory_format=torch.channels_last)\n",
    "an option": "layout = conf.channels_last\n",
    "kernels of its own": "from torch.utils.cpp_extension import load_inline\nkernel = load_inline('k', [])\n",
    "kernels that were built": "import correlation_cuda\n",
    "a framework": "import lightning as L\ntrainer = L.Trainer()\n",
    "einops": "from einops import rearrange\n",
    "volumes": "other = nn.Conv3d(3, 8, 3)\n",
    "rows": "other = nn.Conv1d(3, 8, 3)\n",
    "attention": "other = nn.MultiheadAttention(8, 2)\n",
    "recurrent layers": "other = nn.LSTM(8, 2)\n",
    "small images": "import torchvision\nimages = torchvision.datasets.CIFAR10('.')\n",
    "small images by their name": "name = 'cifar100'\n",
    "reinforcement learning": "import gym\nworld = gym.make('Pong-v0')\n",
}


@pytest.mark.parametrize("line", LINES.values(), ids=LINES.keys())
def test_silent_for_one_reason(line: str, tmp_path: Path) -> None:
    check_pair("ACC419", Pair(program(before=CAST + line), line), tmp_path)


WORDS = {
    "channels last, by an option": ("layout = conf.use_channels_last", "channels_last"),
    "a layout": ("zeros = conf.zeros(memory_format=conf.layout)", "memory_format"),
    "a setting": ("wanted = conf.of('channels_last')", "'channels_last'"),
    "a setting in a text": ("wanted = conf.of(f'{conf.prefix}.channels_last')", "channels_last"),
    "einops": ("from einops import rearrange", "einops"),
    "einops in parts": ("from einops.layers.torch import *", "einops"),
    "a kernel": ("from ops import roi_cuda as roi", "roi_cuda"),
    "a kernel in a package": ("import conf, ops._ext.roi", "_ext"),
    "a kernel beside it": ("from ._C import roi", "_C"),
    "copies of an old torch": ("zeros = conf.zeros.cuda(async = True)", "async"),
    "small images by their name": ("name = f'{conf.root}/CIFAR10'", "CIFAR10"),
    "small images by their class": ("from data import MNIST_M", "MNIST_M"),
}


@pytest.mark.parametrize(("line", "word"), WORDS.values(), ids=WORDS.keys())
def test_silent_for_what_the_code_says(line: str, word: str, tmp_path: Path) -> None:
    check_pair("ACC419", Pair(program(before=f"{CAST}{line}\n"), word, "other"), tmp_path)
    beside = f'{CAST}# {line}\ndef show():\n    """{line}"""\n'
    assert len(findings_of("ACC419", program(before=beside), tmp_path)) == 1


ALIKE = {
    "einops in a text": "print('as einops does')",
    "a package called alike": "from conf import einops_free",
    "torch's own kernels": "from torch._C import device",
    "copies that do not wait": "zeros = conf.zeros.cuda(non_blocking=True)",
    "async in a text": "print('was: async=True')",
    "an import in a text": "print('import roi_cuda')",
}


@pytest.mark.parametrize("line", ALIKE.values(), ids=ALIKE.keys())
def test_what_looks_alike_is_no_reason(line: str, tmp_path: Path) -> None:
    assert len(findings_of("ACC419", program(before=f"{line}\n"), tmp_path)) == 1


def test_a_function_of_the_program_is_no_kernel(tmp_path: Path) -> None:
    line = "from moves import batch_to_gpu\n"
    others = {"moves.py": "def another(x):\n    return x.cuda()\n"}
    check_pair("ACC419", Pair(program(before=line), "def another", "def batch_to_gpu", others), tmp_path)


FORWARDS = {
    "a permutation": ("return self.body(x.permute(0, 3, 2, 1))", "x.permute(0, 3, 2, 1)", "x"),
    "a shuffle of channels": ("return self.body(x.view(len(x), 2, -1, 8, 8))", "x.view(len(x), 2, -1, 8, 8)", "x"),
    "a permutation in a tuple": ("return self.body(x.permute((0, 3, 2, 1)))", "x.permute((0, 3, 2, 1))", "x"),
    "tokens": ("return self.body(x).reshape(2, 4, 2, 8)", ".reshape(2, 4, 2, 8)", ""),
}


@pytest.mark.parametrize(("forward", "what", "instead"), FORWARDS.values(), ids=FORWARDS.keys())
def test_silent_where_a_network_takes_images_apart(forward: str, what: str, instead: str, tmp_path: Path) -> None:
    check_pair("ACC419", Pair(program(net=own(forward)), what, instead), tmp_path)


OTHER = """
class Other(nn.Module):
    def forward(self, x):
        return self.split(x)
    def split(self, x):
        return x.view(2, 2, 2, 2)
other = Other()
"""
SHOWN = OTHER + "def show(x):\n    return other(x)\nshow(conf.x)\n"


def test_what_another_network_takes_apart_is_no_reason(tmp_path: Path) -> None:
    check_one("ACC419", program("net.cuda()  # -> info unsafe", SHOWN, net=own("return self.body(x)")), tmp_path)


REACHED = {
    "a part": program(before=OTHER, net=own("return other(self.body(x))")),
    "beside it in the loop": program(before=OTHER, loop=LOOP.replace("net(x.cuda())", "other(net(x.cuda()))")),
    "a part of a part, which another network calls": program(
        before=SHOWN, net="def made():\n    return [Other()]\n" + own("return self.body(x)", LAYERS + ", *made()")
    ),
    "a part of a sequence, which another network calls": program(
        before=SHOWN, net=f"net = nn.Sequential({LAYERS}, Other())\n"
    ),
    "nothing is seen to call it": program(before=OTHER),
    "a network that is not known": program(before=OTHER + "other(conf.x)\n", net=NET + "net = conf.wrap(net)\n"),
}


@pytest.mark.parametrize("source", REACHED.values(), ids=REACHED.keys())
def test_what_the_network_may_reach_is_a_reason(source: str, tmp_path: Path) -> None:
    check_pair("ACC419", Pair(source, "x.view(2, 2, 2, 2)", "x"), tmp_path)


FREE = {
    "to the layout itself": "return self.body(x).permute(0, 2, 3, 1)",
    "a head": "return self.body(x).permute(0, 2, 3, 1).contiguous().view(len(x), -1, 2, 4)",
    "to the layout itself, in a tuple": "return self.body(x).permute((0, 2, 3, 1))",
    "of rows": "return self.body(x).flatten(2).permute(0, 2, 1)",
    "weights of channels": "return self.body(x) * x.mean((2, 3)).view(len(x), -1, 1, 1)",
}


@pytest.mark.parametrize("forward", FREE.values(), ids=FREE.keys())
def test_what_the_layout_makes_free_is_no_reason(forward: str, tmp_path: Path) -> None:
    check_one("ACC419", program("net.cuda()  # -> info unsafe", net=own(forward)), tmp_path)


def test_what_sets_weights_up_is_no_reason(tmp_path: Path) -> None:
    more = "    def init_weights(self):\n        self.bias = torch.zeros(16).view(2, 2, 2, 2)\n"
    check_one("ACC419", program("net.cuda()  # -> info unsafe", net=own("return self.body(x)", more=more)), tmp_path)
    method = more.replace("init_weights", "shuffle")
    check_one("ACC419", program(net=own("return self.body(x)", more=method)), tmp_path)


@pytest.mark.parametrize("size", [1, 2])
def test_silent_about_a_few_images_in_full_precision(size: int, tmp_path: Path) -> None:
    few = LOADER.replace("batch_size=16", f"batch_size={size}")
    check_one("ACC419", program(loader=few), tmp_path)
    check_one("ACC419", program("net.cuda()  # -> info unsafe", before=CAST, loader=few), tmp_path)


def test_silent_before_torch_had_it(tmp_path: Path) -> None:
    check_since("ACC419", program(), (1, 5), tmp_path)


MOVES = {
    "cuda": ("net.cuda()", "net.cuda().to(memory_format=torch.channels_last)"),
    "to": ("net = net.to('cuda')", "net.to('cuda', memory_format=torch.channels_last)"),
}


@pytest.mark.parametrize(("move", "after"), MOVES.values(), ids=MOVES.keys())
@pytest.mark.parametrize("before", ["", CAST], ids=["float32", "autocast"])
def test_reported(move: str, after: str, before: str, tmp_path: Path) -> None:
    check_one("ACC419", program(f"{move}  # -> info unsafe", before), tmp_path)
    assert after in fixed("ACC419", program(move, before + "# ACC419\n"), tmp_path)


NETS = {
    "of torchvision": "import torchvision\nnet = torchvision.models.resnet18()\n",
    "by its name": (
        "import torchvision.models as models, argparse\nparser = argparse.ArgumentParser()\n"
        "parser.add_argument('--arch', default='resnet18')\nnet = models.__dict__[parser.parse_args().arch]()\n"
    ),
    "by its name, of another": (
        "from torchvision import models as zoo\nimport os\nnet = getattr(zoo , os.environ.get('ARCH', 'resnet18'))()\n"
    ),
}


@pytest.mark.parametrize("net", NETS.values(), ids=NETS.keys())
def test_networks_of_torchvision(net: str, tmp_path: Path) -> None:
    assert len(findings_of("ACC419", program(net=net), tmp_path)) == 1
    assert findings_of("ACC419", program(net=net.replace("resnet18", "vit_b_16")), tmp_path) == []


def test_another_zoo_is_not_that_of_torchvision(tmp_path: Path) -> None:
    taken = "net = models.__dict__[conf.of('resnet18')]()\nnet.cuda()  # models.__dict__['resnet18']\n"
    assert len(findings_of("ACC419", program(net=f"from torchvision import models\n{taken}"), tmp_path)) == 1
    assert findings_of("ACC419", program(net=f"import models\n{taken}"), tmp_path) == []


def test_a_model_that_is_not_known_is_reported_at_the_loop(tmp_path: Path) -> None:
    """Without a fix: which of the program's modules is trained is evident, not proven."""
    source = program("net = conf.wrap(net)").replace("for (x,) in loader:", "for (x,) in loader:  # -> info none")
    (found,) = check_one("ACC419", source, tmp_path)
    assert "this loop trains convolutions with their channels first, assuming that" in found.message


def test_a_program_is_reported_once(tmp_path: Path) -> None:
    check_one("ACC419", program("net.cuda()  # -> info unsafe\nnet.cuda()", loop=LOOP + LOOP), tmp_path)


def test_the_loss_is_not_what_moves(tmp_path: Path) -> None:
    check_one("ACC419", program("loss = nn.MSELoss().cuda()\nnet.cuda()  # -> info unsafe"), tmp_path)


def test_what_moves_is_the_network_of_convolutions(tmp_path: Path) -> None:
    net = f"{NET}head = nn.Linear(8, 2)\n"
    loop = LOOP.replace("net(x.cuda())", "conf.both(net, head, x.cuda())")
    check_one("ACC419", program("head.cuda()\nnet.cuda()  # -> info none", net=net, loop=loop), tmp_path)


def test_what_a_loss_takes_apart_is_no_reason(tmp_path: Path) -> None:
    loss = "class {}(nn.Module):\n    def forward(self, x):\n        return x.view(2, 2, 2, 2)\n"
    check_one("ACC419", program("net.cuda()  # -> info unsafe", loss.format("BoxLoss")), tmp_path)
    check_one("ACC419", program(before=loss.format("Boxes")), tmp_path)


def test_views_of_images_are_named(tmp_path: Path) -> None:
    (found,) = findings_of("ACC419", program(net=own("x = self.body(x)\nreturn x.view(len(x), -1)")), tmp_path)
    assert [one.message for one in found.related] == [
        "the loop that trains",
        "a `view` of images may raise then: `flatten(1)` does not",
    ]
    pooled = own("x = self.body(x).mean((2, 3), keepdim=True)\nreturn x.view(x.size(0), x.size(1))")
    (found,) = findings_of("ACC419", program(net=pooled), tmp_path)
    assert [one.message for one in found.related] == ["the loop that trains"]


def test_such_a_view_raises_and_flatten_does_not() -> None:
    torch = pytest.importorskip("torch")
    images = torch.zeros(2, 3, 4, 4).to(memory_format=torch.channels_last)
    with pytest.raises(RuntimeError, match="view size is not compatible"):
        torch.nn.Conv2d(3, 8, 3)(images).contiguous(memory_format=torch.channels_last).view(2, -1)
    assert images.flatten(1).shape == (2, 48)
