"""Entries count for the very kernel that they were written for, and say so when they no longer do."""

from __future__ import annotations

import ast
import json
import textwrap
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from tests.support.cli import in_process
from tritonport.discover import analyse
from tritonport.facts.fingerprint import fingerprints, normal_form
from tritonport.report.run_json import run_schema
from tritonport.resources import rules_root
from tritonport.sources import resolve

HEAD = "import torch\nimport triton\nimport triton.language as tl\n\n\n"
DOUBLE = HEAD + textwrap.dedent(
    '''
    @triton.jit
    def widen(x):
        """A helper."""
        return x.to(tl.float64)


    @triton.jit
    def sums(src, dst, size, TILE: tl.constexpr):
        at = tl.program_id(0) * TILE + tl.arange(0, TILE)
        x = tl.load(src + at, mask=at < size, other=0.0)
        tl.store(dst + tl.program_id(0), tl.sum(widen(x), 0).to(tl.float32))


    def run(src, dst):
        sums[(4,)](src, dst, 64, TILE=16)
    '''
)


@pytest.fixture
def work(tmp_path: Path) -> Path:
    """`double.py` with one kernel that ends as needs-review because of fp64."""
    (tmp_path / "double.py").write_text(DOUBLE)
    return tmp_path


def prints(folder: Path, name: str = "double.py") -> dict[str, str]:
    return fingerprints(analyse(resolve(str(folder / name))))


def entry(folder: Path, kind: str = "suppress", **values: str) -> None:
    """Append a table to overrides.toml, with what is not given filled in."""
    table = {
        "kernel": '"double:sums"',
        "fingerprint": f'"{prints(folder)["double:sums"]}"',
        "reason": '"looked at"',
        **({"rule": '"refuse"'} if kind == "suppress" else {}),
        **values,
    }
    text = "".join(f"{key} = {value}\n" for key, value in table.items() if value)
    with (folder / "overrides.toml").open("a") as file:
        file.write(f"[[{kind}]]\n{text}\n")


def run(folder: Path, *args: str, source: str = "double.py") -> tuple[int, dict[str, Any], str]:
    """Exit status, run.json, and the text report."""
    command = ["migrate", source, "-o", "out", "--report", "json=run.json", *args]
    done = in_process(*command, "--overrides", "overrides.toml", cwd=folder)
    assert done.returncode in (0, 1), done.stderr
    record = json.loads((folder / "run.json").read_text())
    jsonschema.validate(record, run_schema())
    return done.returncode, record, done.stdout


def states(record: dict[str, Any]) -> list[str]:
    return [item["state"] for item in record.get("overrides", [])]


def test_a_suppression_accepts_the_finding_and_keeps_it_on_record(work: Path) -> None:
    entry(work)
    code, record, text = run(work)
    (kernel,) = record["kernels"]
    assert (code, kernel["outcome"], kernel["unresolved"], states(record)) == (
        0,
        "converted",
        [],
        ["applied"],
    )
    (item,) = kernel["suppressed"]
    assert item["slug"] == "refuse" and "fp64" in item["why"]
    assert (item["reason"], item["by"]) == ("looked at", "overrides.toml")
    assert "accepted: refuse double.py:" in text and "suppress applied: double:sums" in text


def test_without_it_the_finding_counts(work: Path) -> None:
    (work / "overrides.toml").write_text("")
    code, record, _ = run(work)
    assert code == 1 and record["kernels"][0]["outcome"] == "needs-review"
    assert "overrides" not in record and record["kernels"][0]["suppressed"] == []


@pytest.mark.parametrize(
    ("old", "new"),
    [("[(4,)]", "[(5,)]"), ("    x = ", "    # a remark\n    x  =  "), ('"""A helper."""', "'''Another.'''")],
)
def test_other_edits_leave_the_fingerprint(work: Path, old: str, new: str) -> None:
    before = prints(work)
    assert old in DOUBLE
    (work / "double.py").write_text(DOUBLE.replace(old, new))
    assert prints(work) == before


@pytest.mark.parametrize("where", ["other=0.0", "x.to(", "TILE: tl.constexpr", "    at = "])
def test_a_changed_kernel_or_helper_makes_it_stale(work: Path, where: str) -> None:
    changes = {
        "other=0.0": "other=1.0",
        "x.to(": "(x + 0).to(",
        "TILE: tl.constexpr": "TILE: tl.constexpr, D=0",
        "    at = ": "    b = 0\n    at = ",
    }
    entry(work)
    (work / "double.py").write_text(DOUBLE.replace(where, changes[where]))
    code, record, text = run(work)
    assert (code, states(record)) == (1, ["stale"])
    assert record["kernels"][0]["outcome"] == "needs-review"
    assert prints(work)["double:sums"] in record["overrides"][0]["why"]
    assert "suppress stale: double:sums" in text


def test_a_list_of_fingerprints_holds_several_releases(work: Path) -> None:
    entry(work, fingerprint=f'["sha256:{"0" * 64}", "{prints(work)["double:sums"]}"]')
    assert states(run(work)[1]) == ["applied"]


def test_a_kernel_that_is_gone_makes_it_stale(work: Path) -> None:
    entry(work, kernel='"double:products"')
    code, record, _ = run(work)
    assert (code, states(record)) == (1, ["stale"])
    assert record["overrides"][0]["why"] == "there is no such kernel any more"


def test_it_expires_the_day_after(work: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    entry(work, expires="2027-06-30")
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1814313600")  # 2027-06-30
    assert states(run(work)[1]) == ["applied"]
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1814400000")  # 2027-07-01
    code, record, _ = run(work)
    assert (code, states(record)) == (1, ["expired"])
    assert record["kernels"][0]["outcome"] == "needs-review"


@pytest.mark.parametrize("values", [{"text": '"atomic"'}, {"rule": '"early-return"'}])
def test_one_that_suppresses_nothing_is_a_finding(work: Path, values: dict[str, str]) -> None:
    entry(work)
    entry(work, **values)
    code, record, _ = run(work)
    assert (code, states(record)) == (1, ["applied", "unused"])
    assert record["kernels"][0]["outcome"] == "converted"


def test_modules_that_are_not_read_and_rules_that_do_not_run_say_nothing(work: Path) -> None:
    entry(work, kernel='"elsewhere:sums"')
    entry(work, rule='"index-width"')
    code, record, _ = run(work)
    assert code == 1 and "overrides" not in record


def test_an_override_switches_a_rule_off_for_one_kernel(work: Path) -> None:
    example = rules_root() / "catalog" / "index-width" / "examples" / "masked_rows.in.py"
    (work / "rows.py").write_text(example.read_text())
    (work / "overrides.toml").write_text("")
    plain = run(work, "--profile", "tuned", source="rows.py")
    (name,) = prints(work, "rows.py")
    entry(
        work,
        "override",
        kernel=f'"{name}"',
        fingerprint=f'"{prints(work, "rows.py")[name]}"',
        off='["index-width"]',
    )
    code, record, text = run(work, "--profile", "tuned", source="rows.py")
    used = [{use["slug"] for use in r["kernels"][0]["rules"]} for r in (plain[1], record)]
    assert code == 0 and "index-width" in used[0] and "index-width" not in used[1]
    assert f"override applied: {name}: index-width (overrides.toml): looked at" in text
    found = in_process("check", "rows.py", "out", "--format", "json", cwd=work)
    causes = json.loads(found.stdout)["causes"]
    assert causes == [f"configuration: overrides ['override {name}: index-width'] -> None"]
    assert in_process("check", "rows.py", "out", "--overrides", "overrides.toml", cwd=work).returncode == 0


def test_the_configuration_names_files_beside_itself(work: Path) -> None:
    (work / "npu").mkdir()
    entry(work)
    (work / "overrides.toml").rename(work / "npu" / "mine.toml")
    (work / "tritonport.toml").write_text('overrides = ["npu"]\n')
    (work / "deep").mkdir()
    done = in_process("migrate", work / "double.py", "-o", "out", cwd=work / "deep")
    assert done.returncode == 0, done.stdout


def test_a_draft_needs_only_its_reason(work: Path) -> None:
    draft = in_process("overrides", "double.py", cwd=work)
    assert draft.returncode == 0 and draft.stdout.count("[[suppress]]") == 1
    (work / "overrides.toml").write_text(draft.stdout)
    refused = in_process("migrate", "double.py", "-o", "out", "--overrides", "overrides.toml", cwd=work)
    assert refused.returncode == 2 and "overrides.toml:6: reason must be text" in refused.stderr
    (work / "overrides.toml").write_text(draft.stdout.replace('reason = ""', 'reason = "fine"'))
    assert run(work)[0] == 0
    (work / "tritonport.toml").write_text('overrides = ["overrides.toml"]\n')
    assert in_process("overrides", "double.py", cwd=work).stdout == ""


@pytest.mark.parametrize(
    ("text", "line", "said"),
    [
        ('[[suppres]]\nkernel = "a:b"\n', 1, "unknown table 'suppres'"),
        ('[[suppress]]\nkernel = "a:b"\nfingerprint = "x"\nrule = "refuse"\n', None, "needs reason"),
        (
            '[[suppress]]\nkernel = "a:b"\nfingerprint = "x"\nrule = "refusal"\nreason = "r"\n',
            4,
            "unknown rule",
        ),
        (
            '[[suppress]]\nkernel = "a:b"\nfingerprint = "x"\noff = ["refuse"]\nreason = "r"\n',
            4,
            "unknown key 'off'",
        ),
        ('[[override]]\nkernel = "a:b"\nfingerprint = "x"\nreason = "r"\n', None, "needs off or tiles"),
        (
            '[[override]]\nkernel = "a:b"\nfingerprint = "x"\nreason = "r"\noff = ["grid-collapse"]\n',
            5,
            "one kernel",
        ),
        (
            '[[override]]\nkernel = "a:b"\nfingerprint = "x"\nreason = "r"\ntiles = { BV = 0 }\n',
            5,
            "must name sizes",
        ),
        (
            '[[suppress]]\nkernel = "a:b"\nexpires = "soon"\nrule = "refuse"\nfingerprint = "x"\nreason = "r"\n',
            3,
            "date",
        ),
    ],
)
def test_mistakes_name_the_place(work: Path, text: str, line: int | None, said: str) -> None:
    (work / "overrides.toml").write_text(text)
    done = in_process("migrate", "double.py", "-o", "out", "--overrides", "overrides.toml", cwd=work)
    place = f"overrides.toml:{line}: " if line else "overrides.toml: "
    assert (done.returncode, done.stdout) == (2, "") and place in done.stderr and said in done.stderr
    assert not (work / "out").exists()


def test_the_normal_form_has_what_every_python_has() -> None:
    """Written out by hand: newer Pythons add fields (type_params), older ones a position in the expression."""
    (node,) = ast.parse("def f(a, *, b=None):\n    return a[-1]  # last\n").body
    assert " ".join(normal_form(node)) == (
        "(FunctionDef name str 'f' args (arguments args (arg arg str 'a' ) ;"
        " kwonlyargs (arg arg str 'b' ) ; kw_defaults (Constant value NoneType None ) ; )"
        " body (Return value (Subscript value (Name id str 'a' )"
        " slice (UnaryOp op (USub ) operand (Constant value int 1 ) ) ) ) ; )"
    )


def test_the_shipped_entries_can_be_read() -> None:
    from tritonport.overrides import load_overrides
    from tritonport.passes import all_rules

    assert all(entry.reason for entry in load_overrides([], all_rules()))
