"""Trainers that compute in full float32."""

from __future__ import annotations

from collections.abc import Iterator

from accel_advisor.finding import Finding, Severity
from accel_advisor.records.actions import AnyCall, Call, Sets
from accel_advisor.records.facts import Facts
from accel_advisor.records.queries.frameworks.trainer_settings import leaves_out, settings, stays_on_host
from accel_advisor.rule import Rule

REDUCED = ("bf16", "fp16", "tf32", "half_precision_backend", "deepspeed", "fsdp", "bf16_full_eval", "fp16_full_eval")
"""Arguments that decide, or may decide, the precision."""

_LOADED = ("dtype", "torch_dtype", "quantization_config", "load_in_4bit", "load_in_8bit")
"""Arguments of ``from_pretrained`` that decide the precision of a model."""
_PRODUCTS = (
    *(Call("torch.set_float32_matmul_precision"), Sets("torch.backends.cuda.matmul", "allow_tf32")),
    *(Sets("torch.backends.cuda.matmul", "fp32_precision"), Sets("torch.backends", "fp32_precision")),
)
"""What decides the precision of products of matrices."""


class HfArgsPrecision(Rule):
    """A transformers Trainer computes in full float32.

    What it does
        Finds `TrainingArguments` without `bf16`, `fp16` and `tf32`.

    Why it costs time
        GPUs since Ampere have tensor cores, which multiply matrices in bfloat16 or TF32 and stand idle in float32.
        Activations in bfloat16 take half of the memory.

    Example
        from transformers import TrainingArguments

        args = TrainingArguments("o", max_steps=9, dataloader_num_workers=4, accelerator_config={"non_blocking": True})

    Use instead
        from transformers import TrainingArguments

        args = TrainingArguments(
            "o", max_steps=9, bf16=True, dataloader_num_workers=4, accelerator_config={"non_blocking": True}
        )

    When to ignore it
        On GPUs before Ampere, where the numbers must stay as they are, and where the model was loaded in a lower
        precision. The rule is silent with `use_cpu=True`, where the program names the device `mps`, sets the precision
        of matrix products or loads a model with a dtype or quantized, and where the arguments come from a dict or a
        command line.

    References
        - https://huggingface.co/docs/transformers/main_classes/trainer#transformers.TrainingArguments
    """

    code = "ACC605"
    name = "hf-args-precision"
    severity = Severity.INFO
    enabled = False

    def check(self, facts: Facts) -> Iterator[Finding]:
        """Reports each call once."""
        loads = facts.program.operations_of(AnyCall("from_pretrained"))
        reduced = any(not one.lacks(name) for one in loads for name in _LOADED)
        if facts.names_device("mps") or reduced or facts.does(*_PRODUCTS):
            return
        for arguments in settings(facts):
            if not stays_on_host(arguments) and all(leaves_out(facts, arguments, name) for name in REDUCED):
                claim = "the Trainer computes in float32 and leaves the tensor cores of a GPU unused"
                remedy = "pass `bf16=True` if the model bears it"
                yield self.finding(facts, arguments.node, claim, remedy)
