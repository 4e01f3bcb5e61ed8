"""Parts of the tiers with a device: configurations, values that travel, waivers, the corpus of real sizes."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path, PurePosixPath
from types import SimpleNamespace
from typing import Any

import pytest

from tritonport.errors import UserError
from tritonport.resources import corpus_root
from tritonport.sources.tree import SourceTree
from tritonport.verify.cases import load_case_set
from tritonport.verify.device.corpus import device_corpus
from tritonport.verify.device.settings import DeviceSetup, Waiver
from tritonport.verify.messages import Setup, pack_setup, unpack_setup
from tritonport.verify.tolerance import ToleranceSpec

torch = pytest.importorskip("torch")
triton = pytest.importorskip("triton")

from tritonport.verify.child import launches  # noqa: E402
from tritonport.verify.child.device import encode, tuner  # noqa: E402
from tritonport.verify.child.replay import NOT_JUDGED, not_judged  # noqa: E402
from tritonport.verify.model import Check  # noqa: E402

CPU = torch.device("cpu")
WAIVER = Waiver("m", "FLAG", False, ">=3.4,<3.7.1", ("m:k",), "why", (9,))


class TooBigError(Exception):
    pass


class FakeTuner:
    """As much of Triton's tuner as the choice of a configuration sees."""

    def __init__(self, configs: list[Any], too_big: tuple[int, ...] = ()) -> None:
        self.configs, self.too_big, self.arg_names = configs, too_big, ["x"]
        self.base_fn = SimpleNamespace(__module__="m", __name__="k")
        self.fn = SimpleNamespace(run=self.launch)
        self.ran: list[dict[str, Any]] = []

    def prune_configs(self, _kwargs: Any) -> list[Any]:
        return self.configs

    def launch(self, *_args: Any, **kwargs: Any) -> str:
        if kwargs["B"] in self.too_big:
            raise TooBigError
        self.ran.append(kwargs)
        return "ran"


@pytest.fixture
def launch(monkeypatch: pytest.MonkeyPatch) -> Any:
    from triton.runtime.autotuner import Autotuner

    monkeypatch.setattr(Autotuner, "run", Autotuner.run)
    tuner.install((TooBigError,))
    tuner.pin({})
    yield lambda fake: Autotuner.run(fake, 1)
    tuner.pin({})


def config(block: int, warps: int, stages: int = 2) -> Any:
    return triton.Config({"B": block}, num_warps=warps, num_stages=stages)


def test_one_configuration_is_taken_and_told(launch: Any) -> None:
    fake = FakeTuner([config(64, 1), config(64, 4), config(128, 4)])
    assert launch(fake) == "ran"
    assert len(fake.ran) == 1
    assert (fake.ran[0]["B"], fake.ran[0]["num_warps"]) == (64, 4)
    assert tuner.pinned()["m:k"]["num_warps"] == 4


def test_the_other_side_takes_the_same_one_wherever_it_stands(launch: Any) -> None:
    tuner.pin({"m:k": {"B": 128, "num_warps": 8, "num_stages": 3, "num_ctas": 1}})
    fake = FakeTuner([config(128, 8, 2), config(64, 4), config(128, 8, 3)])
    launch(fake)
    assert (fake.ran[0]["B"], fake.ran[0]["num_warps"], fake.ran[0]["num_stages"]) == (128, 8, 3)


def test_tiles_win_over_warps_where_the_pinned_one_is_not_offered(launch: Any) -> None:
    tuner.pin({"m:k": {"B": 128, "num_warps": 8, "num_stages": 3, "num_ctas": 1}})
    fake = FakeTuner([config(64, 4), config(128, 2)])
    launch(fake)
    assert fake.ran[0]["B"] == 128


def test_a_configuration_that_does_not_fit_gives_way_to_the_next(launch: Any) -> None:
    fake = FakeTuner([config(256, 4), config(128, 4)], too_big=(256,))
    launch(fake)
    assert [kwargs["B"] for kwargs in fake.ran] == [128]
    assert tuner.pinned()["m:k"]["B"] == 128
    with pytest.raises(TooBigError):
        launch(FakeTuner([config(256, 4)], too_big=(256,)))


def test_a_refused_launch_is_not_counted() -> None:
    def kernel() -> None: ...

    with launches.Counter() as counter:
        launches._announce(kernel, [], (3,), (), {}, lambda: None)
        with pytest.raises(TooBigError):
            launches._announce(kernel, [], (5,), (), {}, raise_too_big)
    (count,) = counter.kernels.values()
    assert (count.launches, count.programs) == (1, 3)


def raise_too_big() -> None:
    raise TooBigError


def test_values_come_back_on_the_device_and_host_tensors_on_the_host(tmp_path: Path) -> None:
    base = torch.arange(12, dtype=torch.bfloat16)
    values = {"view": base[2:8].view(2, 3).t(), "same": base, "n": 3, "where": CPU, "half": None}
    encode.save_value(tmp_path, "v", values)
    back = encode.load_value(tmp_path, "v", CPU)
    assert torch.equal(back["view"], values["view"]) and back["view"].stride() == values["view"].stride()
    back["same"][2] = 99
    assert back["view"][0, 0] == 99  # two names of one storage stay so
    tree = encode.DeviceEncoder().encode({"t": base, "where": CPU})
    meta = torch.device("meta")
    decoded = encode.DeviceDecoder({"s0": base}, meta).decode(tree)
    assert decoded["t"].device == CPU and decoded["where"] == CPU  # named as host values by the recording
    interpreted = encode.Encoder().encode({"t": base, "where": CPU})
    decoded = encode.DeviceDecoder({"s0": base}, meta).decode(interpreted)
    assert decoded["t"].device == meta and decoded["where"] == meta  # the interpreter's stand for the device


def test_a_tensor_asks_for_a_gradient_again_only_where_a_call_is_replayed() -> None:
    """0.4.1's backward of the recurrent delta rule makes no gradient of a state that asks for none."""
    values = {"state": torch.zeros(3, requires_grad=True), "plain": torch.zeros(3), "n": torch.arange(3)}
    encoder = encode.DeviceEncoder()
    tree = encoder.encode(values)
    replayed = encode.DeviceDecoder(encoder.tensors, CPU, gradients=True).decode(tree)
    assert [name for name, tensor in replayed.items() if tensor.requires_grad] == ["state"]
    compared = encode.DeviceDecoder(encoder.tensors, CPU).decode(tree)
    assert not any(tensor.requires_grad for tensor in compared.values())


def test_unchanged_arguments_are_stored_once_and_equal_ones_stay_apart() -> None:
    a = {"a0": torch.zeros(4), "a1": torch.zeros(4), "r0": torch.zeros(4), "r1": torch.ones(4)}
    tree = {"before": [{"storage": "a0"}, {"storage": "a1"}], "after": [{"storage": "r0"}, {"storage": "r1"}]}
    renamed, kept = encode.without_repeats(tree, a)
    assert renamed["before"] == tree["before"]
    assert renamed["after"] == [{"storage": "a0"}, {"storage": "r1"}]
    assert set(kept) == {"a0", "a1", "r1"}


@pytest.mark.parametrize(
    ("version", "capability", "holds"),
    [("3.6.0", 9, True), ("3.4.0", 9, True), ("3.7.1", 9, False), ("3.3.1", 9, False), ("3.6.0", 8, False)],
)
def test_a_waiver_holds_for_its_versions_and_devices(version: str, capability: int, holds: bool) -> None:
    assert WAIVER.holds(version, capability) is holds
    assert replace(WAIVER, capability=()).holds("3.6.0", None)


def test_a_difference_from_a_wrong_original_is_told_andnot_judged() -> None:
    off = Check("o", "original", False, False, relative=0.5, why="far")
    told = not_judged(off)
    assert told.ok and told.against == NOT_JUDGED and told.relative == 0.5
    equal = Check("o", "original", True, True)
    assert not_judged(equal) is equal
    later = Check("launch 2", "first launch", False, False, why="differs")
    assert not not_judged(later).ok  # a moving result is wrong whatever the original does


def test_settings_survive_the_way_to_a_worker() -> None:
    device = DeviceSetup("cuda", 1, 3, (0, 7), 5, False, {"A": "1"}, (WAIVER,))
    setup = Setup(("p",), ("w",), None, "1.0", {}, _cases(), device=device)
    assert unpack_setup(pack_setup(setup)).device == device
    assert unpack_setup(pack_setup(replace(setup, device=None))).device is None


def _cases() -> Any:
    return load_case_set(corpus_root() / "fla_gdn" / "cases.toml")


@pytest.fixture
def tree(tmp_path: Path) -> SourceTree:
    for name in ("fla/ops/gated_delta_rule/__init__.py", "fla/ops/utils/solve_tril.py"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("")
    return SourceTree(tmp_path, "fla", PurePosixPath("fla/ops/gated_delta_rule"))


def test_the_corpus_has_real_sizes_of_forward_backward_and_decode(tree: SourceTree) -> None:
    corpus = device_corpus(tree, full=False)
    assert corpus.cases is not None
    cases = {case.id: case for case in corpus.cases.cases}
    dense, varlen, decode = cases["real-dense"], cases["real-varlen"], cases["real-decode"]
    assert (dense.batch, dense.length, dense.heads, dense.key_dim, dense.value_dim) == (2, 8192, 16, 128, 128)
    assert dense.dtype == "bf16" and dense.backward
    assert varlen.cu_seqlens is not None and varlen.cu_seqlens[-1] == varlen.length and varlen.backward
    assert decode.length == 1 and decode.operator == "recurrent"
    assert {case.operator for case in corpus.cases.cases} <= corpus.cases.operators.keys()
    assert corpus.environment == {"FLA_DISABLE_BACKEND_DISPATCH": "1"}
    assert all(waiver.why and waiver.kernels for waiver in corpus.waivers)


def test_a_package_without_a_corpus_has_none(tmp_path: Path) -> None:
    assert device_corpus(SourceTree(tmp_path, None, PurePosixPath(".")), full=False).cases is None


def test_a_corpus_file_that_does_not_read_is_named(
    tree: SourceTree, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = tmp_path / "corpus"
    (root / "mine").mkdir(parents=True)
    (root / "mine" / "cases.toml").write_text((corpus_root() / "fla_gdn" / "cases.toml").read_text())
    text = (corpus_root() / "fla_gdn" / "device.toml").read_text()
    (root / "mine" / "device.toml").write_text(text.replace("[[waivers]]", "[[waivers]]\nunknown = 1"))
    monkeypatch.setattr("tritonport.verify.device.corpus.corpus_root", lambda: root)
    with pytest.raises(UserError, match=r"device.toml.*waiver"):
        device_corpus(tree, full=False)


def test_products_of_fp32_operands_are_held_to_tf32() -> None:
    plain, device = ToleranceSpec(), ToleranceSpec(tf32=True)
    assert device.against_reference("fp32", "fp32", 100).relative == pytest.approx(
        plain.against_reference("fp16", "fp32", 100).relative
    )
    assert device.against_reference("bf16", "bf16", 100) == plain.against_reference("bf16", "bf16", 100)
