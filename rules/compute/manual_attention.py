"""Attention that is computed step by step."""

from __future__ import annotations

from collections.abc import Iterator

from accel_advisor.finding import Finding, Severity
from accel_advisor.records.facts import Facts
from accel_advisor.records.queries.written_out.attention import attentions
from accel_advisor.records.queries.written_out.attention_layout import fused_call, reshapes
from accel_advisor.rule import Rule

_SINCE = (2, 0)
_FUSED = ("scaled_dot_product_attention", "memory_efficient_attention", "flash_attn", "flex_attention")
"""Words in a file that knows of fused attention, and computes it step by step on purpose, or where it has to."""


class ManualAttention(Rule):
    """Attention is computed step by step.

    What it does
        Finds `softmax(q @ k.transpose(-2, -1) * s, -1) @ v` and the same written with `matmul`, `bmm` or `einsum`, in
        one expression or several, with a mask, casts and dropout in between or not.

    Why it costs time
        Scores and weights, which grow with the square of the sequence, are written to memory and read again by each
        step. One fused kernel computes the same and keeps them on the chip. On an H200 attention in bfloat16 over
        1,024 positions took 4.1 times as long when written out, forward and backward (docs/costs.md).

    Example
        import math
        import torch
        from torch import nn
        from torch.nn import functional as F

        class Attention(nn.Module):
            def __init__(self):
                super().__init__()
                self.qkv = nn.Linear(64, 192)

            def forward(self, x):
                b, n, c = x.shape
                q, k, v = self.qkv(x).reshape(b, n, 3, 4, 16).permute(2, 0, 3, 1, 4).unbind(0)
                weights = F.softmax(q @ k.transpose(-2, -1) / math.sqrt(16), dim=-1)
                return (weights @ v).transpose(1, 2).reshape(b, n, c)

        attention = Attention()
        print(attention(torch.zeros(2, 8, 64)).shape)

    Use instead
        import torch
        from torch import nn
        from torch.nn import functional as F

        class Attention(nn.Module):
            def __init__(self):
                super().__init__()
                self.qkv = nn.Linear(64, 192)

            def forward(self, x):
                b, n, c = x.shape
                q, k, v = self.qkv(x).reshape(b, n, 3, 4, 16).permute(2, 0, 3, 1, 4).unbind(0)
                return F.scaled_dot_product_attention(q, k, v).transpose(1, 2).reshape(b, n, c)

        attention = Attention()
        print(attention(torch.zeros(2, 8, 64)).shape)

    When to ignore it
        Where results must stay the same to the last digit. The fused function scales by the root of the last dimension
        unless it is given `scale`, takes a mask as `attn_mask` or `is_causal`, and drops weights in evaluation too
        unless `dropout_p` is 0 there; its kernels take batches of heads: four dimensions, the last two of them the
        length and the channels. The message says how the factors of an equation are moved to lie so, as they are where
        the equation reshapes them. The rule is silent where the scores or weights are used for anything else (what is
        done where an option asks for it does not count, nor that they are returned to callers that drop them, or use
        them where an option asks for it), where something else than a mask or a bias is added to them, where there is
        one query, and in files that mention fused attention. Weights that are returned beside the result are reported
        with `--minor`: other callers may need them.

    References
        - https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.scaled_dot_product_attention.html
    """

    code = "ACC430"
    name = "manual-attention"
    severity = Severity.INFO

    def check(self, facts: Facts) -> Iterator[Finding]:
        """Reports each attention at the product of its queries and keys."""
        if any(word in facts.document.text for word in _FUSED):
            return
        for attention in attentions(facts):
            mask = ", attn_mask" if attention.masked else ""
            why, where = (" to return them", " where no caller needs them") if attention.returned else ("", "")
            claim = (
                f"the attention that begins with `{facts.document.code(attention.scores)}` writes all its weights to "
                f"memory{why}"
            )
            call, fits = fused_call(attention.equation, attention.values, mask)
            order = "" if fits else " with q, k and v brought to (batch, heads, length, channels)"
            if attention.turned:
                order = f" with `{attention.turned}` as they are before the transpose"
            elif attention.flat and fits:
                order = " with a dimension of heads, which its kernels ask for"
            if fits and reshapes(attention.scores):
                order = f" of q, k and v as they are reshaped there{',' if order else ''}{order}"
            remedy = f"compute it in one kernel{where}: `{call}`{order}"
            yield self.finding(facts, attention.scores, claim, remedy, since=_SINCE, minor=attention.returned)
