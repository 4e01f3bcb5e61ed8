"""Cross entropy of wide rows with an ignored label and label smoothing; the gradient overwrites the scores."""

import torch
import triton
import triton.language as tl

META = {
    "covers": ("cross entropy", "early return with a store", "in place", "scalar loads"),
    "outcome": {"entropy": "converted"},
    "rtol": 1e-5,
}


@triton.jit
def entropy(scores, labels, loss, width, ignored, smooth, TILE: tl.constexpr):
    row = tl.program_id(0)
    scores += row * width
    label = tl.load(labels + row)
    if label == ignored:
        tl.store(loss + row, 0.0)
        for start in range(0, width, TILE):
            at = start + tl.arange(0, TILE)
            tl.store(scores + at, 0.0, mask=at < width)
        return
    top = -float("inf")
    total = 0.0
    plain = 0.0
    for start in range(0, width, TILE):
        at = start + tl.arange(0, TILE)
        x = tl.load(scores + at, mask=at < width, other=-float("inf"))
        plain += tl.sum(tl.where(at < width, x, 0.0), 0)
        higher = tl.maximum(top, tl.max(x, 0))
        total = total * tl.exp(top - higher) + tl.sum(tl.exp(x - higher), 0)
        top = higher
    lse = top + tl.log(total)
    tl.store(loss + row, lse - (1 - smooth) * tl.load(scores + label) - smooth * plain / width)
    for start in range(0, width, TILE):
        at = start + tl.arange(0, TILE)
        x = tl.load(scores + at, mask=at < width, other=-float("inf"))
        wanted = tl.where(at == label, 1 - smooth, 0.0) + smooth / width
        tl.store(scores + at, tl.exp(x - lse) - wanted, mask=at < width)


def make_inputs(device):
    return {
        "scores": torch.randn(7, 90, device=device),
        "labels": torch.tensor([3, 89, -100, 0, 31, -100, 64], device=device),
    }


def launch(scores, labels):
    scores = scores.clone()
    loss = scores.new_full((len(labels),), float("nan"))
    entropy[(len(labels),)](scores, labels, loss, scores.shape[1], -100, 0.1, TILE=32)
    return loss, scores


def reference(scores, labels):
    leaf = scores.double().requires_grad_()
    loss = torch.nn.functional.cross_entropy(leaf, labels, reduction="none", label_smoothing=0.1)
    loss.sum().backward()
    return loss.detach().float(), leaf.grad.float()
