"""The scripts: where each lies, how it is run, what data it needs, and what kind of end is expected of its trial."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import PurePosixPath

import data

EXAMPLES, CIFAR, UNET = "pytorch/examples", "kuangliu/pytorch-cifar", "milesial/Pytorch-UNet"
ANSWER, REFUSAL = "answer", "refusal"


@dataclass(frozen=True, slots=True)
class Case:
    """One script of a repository.

    Attributes:
        repository: its name on GitHub, as ``owner/name``.
        script: its path in the repository; it runs in its own folder unless ``folder`` names another.
        args: its arguments, ``{root}`` standing for the folder of the copied repository.
        expects: ``answer``, or ``refusal`` where there is no loader to tune or the script does not run by itself here.
        why: what the script is expected to be refused for, for people.
        fixture: makes its data.
        environment: variables of its environment, ``{root}`` as in ``args``.
        slowness: by how much the budget is multiplied, for scripts with steps of many seconds on a processor.
        terminal: whether the script wants a terminal as its standard input.
    """

    repository: str
    script: str
    args: tuple[str, ...] = ()
    expects: str = ANSWER
    why: str = ""
    fixture: data.Fixture = data.nothing
    folder: str = ""
    environment: dict[str, str] = field(default_factory=dict)
    slowness: float = 1.0
    terminal: bool = False

    @property
    def name(self) -> str:
        """What the case is called: the path of its script in its repository on GitHub."""
        return f"{self.repository}/{self.script}"

    @property
    def working_folder(self) -> str:
        """The folder that it runs in, in the repository."""
        return self.folder or str(PurePosixPath(self.script).parent)


def _example(script: str, *args: str, fixture: data.Fixture = data.nothing, **environment: str) -> Case:
    return Case(EXAMPLES, script, args, fixture=fixture, environment=environment)


def _refused(script: str, why: str, *args: str, fixture: data.Fixture = data.nothing, **environment: str) -> Case:
    return Case(EXAMPLES, script, args, REFUSAL, why, fixture, environment=environment)


_SHARED_MNIST = data.mnist("data")
_NO_LOADER, _ELSEWHERE = "no loader", "trains in other processes"
_FAILS = "does not run by itself here"
_ENDS = "ends by itself, since it wants accelerators"

CASES = (
    # The examples with a loader that one process iterates
    _example("mnist/main.py", fixture=_SHARED_MNIST),
    _example("mnist_rnn/main.py", fixture=_SHARED_MNIST),
    _example("siamese_network/main.py", fixture=_SHARED_MNIST),
    _example("vae/main.py", fixture=_SHARED_MNIST),
    _example("dcgan/main.py", "--dataset", "folder", "--dataroot", "photos", fixture=data.image_folder("dcgan/photos")),
    Case(EXAMPLES, "imagenet/main.py", ("-b", "8", "photos"), slowness=3.0,
         fixture=data.image_folder("imagenet/photos/train", "imagenet/photos/val")),
    _example("super_resolution/main.py", "--upscale_factor", "3", "--batchSize", "4",
             fixture=data.image_folder("super_resolution/dataset/BSDS300/images/train",
                                       "super_resolution/dataset/BSDS300/images/test",
                                       classes=0, images=100, size=(481, 321))),
    Case(EXAMPLES, "fast_neural_style/neural_style/neural_style.py",
         ("train", "--dataset", "../photos", "--save-model-dir", "../models", "--image-size", "64"),
         fixture=data.every(data.image_folder("photos"), data.vgg16), folder="fast_neural_style",
         environment={"TORCH_HOME": "{root}/torch_home"}),
    Case(CIFAR, "main.py", fixture=data.cifar10("data"), slowness=4.0, terminal=True),
    Case(UNET, "train.py", fixture=data.carvana, environment={"WANDB_MODE": "disabled"}),
    # Those whose training does not wait for a loader, or not in a process that can be measured
    _refused("mnist_forward_forward/main.py", "one batch is read before training", "--train_size", "5000",
             "--test_size", "1000", fixture=data.mnist("mnist_forward_forward/data")),
    _refused("mnist_hogwild/main.py", _ELSEWHERE, "--epochs", "1", fixture=_SHARED_MNIST),
    _refused("word_language_model/main.py", _NO_LOADER, fixture=data.wikitext),
    _refused("gcn/main.py", _NO_LOADER, fixture=data.cora, WILD_DOWNLOADS="{root}/downloads"),
    _refused("gat/main.py", _NO_LOADER, fixture=data.cora, WILD_DOWNLOADS="{root}/downloads"),
    _refused("regression/main.py", _NO_LOADER),
    _refused("reinforcement_learning/reinforce.py", _NO_LOADER),
    _refused("reinforcement_learning/actor_critic.py", _NO_LOADER),
    _refused("time_sequence_prediction/train.py", _FAILS, fixture=data.sine_waves),
    _refused("fx/profiling_tracer.py", _NO_LOADER),
    # Those that do not run here
    _refused("language_translation/main.py", _FAILS),
    _refused("legacy/snli/train.py", _FAILS),
    _refused("distributed/ddp-tutorial-series/single_gpu.py", _FAILS, "5", "1"),
    _refused("distributed/ddp-tutorial-series/multigpu.py", _NO_LOADER, "5", "1"),
    _refused("distributed/ddp-tutorial-series/multigpu_torchrun.py", _FAILS, "5", "1"),
    _refused("distributed/ddp-tutorial-series/multinode.py", _FAILS, "5", "1"),
    _refused("distributed/ddp/example.py", _ENDS),
    _refused("distributed/minGPT-ddp/mingpt/main.py", _ENDS),
    _refused("distributed/FSDP/T5_training.py", _FAILS),
    _refused("distributed/FSDP2/example.py", _ENDS),
    _refused("distributed/tensor_parallelism/fsdp_tp_example.py", _ENDS),
)  # fmt: skip
