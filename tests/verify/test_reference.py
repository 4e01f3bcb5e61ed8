"""The two float64 forms of the gated delta rule give the same outputs and gradients."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")

from tritonport.verify.child import chunked_reference, reference  # noqa: E402


def values(length: int, *, gate: float, initial: bool) -> dict[str, object]:
    rng = torch.Generator().manual_seed(length)

    def draw(*shape: int) -> object:
        return torch.randn(*shape, generator=rng, dtype=torch.float64)

    k = torch.nn.functional.normalize(draw(2, length, 3, 8), dim=-1)
    g = torch.nn.functional.logsigmoid(draw(2, length, 3)) * gate
    found = {"q": draw(2, length, 3, 8), "k": k, "v": draw(2, length, 3, 5), "g": g}
    found |= {"beta": draw(2, length, 3).sigmoid(), "initial": draw(2, 3, 8, 5) if initial else None}
    return {n: x if x is None else x.detach().requires_grad_() for n, x in found.items()}


@pytest.mark.parametrize("length", [1, 63, 64, 65, 200])
@pytest.mark.parametrize(("gate", "initial"), [(1.0, True), (20.0, False), (0.0, True)])
def test_block_form_equals_the_token_form(length: int, gate: float, initial: bool) -> None:
    results = []
    for form in (reference._sequence, chunked_reference.sequence):
        given = values(length, gate=gate, initial=initial)
        o, state = form(*(given[n] for n in ("q", "k", "v", "g", "beta")), 0.3, given["initial"])
        (o.sin().sum() + state.cos().sum()).backward()
        results.append([o, state, *(x.grad for x in given.values() if x is not None)])
    for token, block in zip(*results, strict=True):
        assert torch.allclose(token, block, rtol=1e-10, atol=1e-11)


def test_long_sequences_take_the_block_form(monkeypatch: pytest.MonkeyPatch) -> None:
    taken = []
    monkeypatch.setattr(chunked_reference, "sequence", lambda q, *_: taken.append(q.shape[1]) or (q, q))
    given = values(reference.TOKEN_BY_TOKEN + 1, gate=1.0, initial=False)
    reference.gated_delta_rule(*(given[n] for n in ("q", "k", "v", "g", "beta")), 0.3, None, None)
    assert taken == [reference.TOKEN_BY_TOKEN + 1]
