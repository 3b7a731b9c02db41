"""Frameworks: who moves batches, who takes loaders, and which stay on the host.

Read in the sources of torch 2.13.0, torchdata 0.11.0, torch_geometric 2.8.1, monai 1.6.1, timm 1.0.31,
litdata 0.2.76, accelerate 1.15.0, lightning 2.6.6, transformers 5.23.0, ignite 0.5.5 and fastai 2.8.12.
"""

from __future__ import annotations

from accel_advisor.tables.loader_libraries import CONSTRUCTORS, SETTINGS

LEAVES_BATCHES = frozenset({"deepspeed"})
"""Frameworks whose loaders give batches on the host, for the program to copy."""

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
"""Library classes whose presence means that a framework moves batches."""

TRAINING_STEPS = frozenset({"training_step", "compute_loss"})
"""Methods of these classes that a framework calls in each step of a training."""

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
"""Library functions whose presence means the same."""

LIBRARIES = frozenset(
    {
        *("torch", "torchvision", "torchaudio", "pytorch_lightning", "lightning_fabric"),
        *(name.partition(".")[0] for name in (*CONSTRUCTORS, *SETTINGS, *FRAMEWORK_CLASSES, *FRAMEWORK_CALLS)),
    }
)
"""The packages that these tables name."""

TRAINING_ARGUMENTS = ("transformers.TrainingArguments", "transformers.Seq2SeqTrainingArguments")
"""The classes that a transformers Trainer takes its settings from."""

PREPARES = frozenset({"prepare", "prepare_data_loader", "setup_dataloaders", "setup"})
"""Methods of an Accelerator or a Fabric that return a loader which delivers device batches."""

TAKERS = {
    "composer.Trainer": "composer",
    "mmengine.runner.Runner": "mmengine",
    "fastai.data.core.DataLoaders": "fastai",
    **{
        f"monai.engines.{name}": "monai"
        for name in "SupervisedTrainer GanTrainer AdversarialTrainer SupervisedEvaluator EnsembleEvaluator".split()
    },
    **{f"lightning.Trainer.{name}": "lightning" for name in ("fit", "validate", "test", "predict")},
    **{f"ignite.engine.create_supervised_{name}.run": "ignite" for name in ("trainer", "evaluator")},
}
"""Calls that take loaders whose batches the framework moves, and pins no more than the loader does by itself."""

MOVERS = frozenset(
    {"accelerate.utils.send_to_device", "accelerate.utils.operations.send_to_device", "ignite.utils.convert_tensor"}
    | {f"lightning.{part}utilities.move_data_to_device" for part in ("", "fabric.")}
    | {f"lightning.{part}utilities.apply_func.move_data_to_device" for part in ("", "fabric.")}
)
"""Functions that move all tensors of a batch, their first argument, to a device, their second."""

ON_HOST = (
    *(("lightning.Trainer", "accelerator", "cpu"), ("lightning.Fabric", "accelerator", "cpu")),
    *(("composer.Trainer", "device", "cpu"), ("accelerate.Accelerator", "cpu", True)),
)
"""Arguments with which a framework stays on the host: the callable, the keyword and its value."""
