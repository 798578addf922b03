"""Training with products in 16 bits and weights in 32."""

from __future__ import annotations

import copy

import torch


class Halves:
    """A model whose products are in 16 bits and whose weights are kept in 32: `working` is stepped by `model`'s."""

    def __init__(self, model: torch.nn.Module, half: bool) -> None:
        self.model = model
        self.working = copy.deepcopy(model).to(torch.bfloat16) if half else model

    def gather(self) -> None:
        """Gradients to the weights in 32 bits."""
        if self.working is not self.model:
            for kept, one in zip(self.model.parameters(), self.working.parameters(), strict=True):
                kept.grad = one.grad.float() if one.grad is not None else None
                one.grad = None

    @torch.no_grad()
    def spread(self) -> None:
        """Weights to those in 16 bits."""
        if self.working is not self.model:
            for kept, one in zip(self.model.parameters(), self.working.parameters(), strict=True):
                if kept.requires_grad:
                    one.copy_(kept)
