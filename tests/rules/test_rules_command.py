"""`rules test` finds what is wrong with a rule's examples, and the generated pages are current."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.support.cli import SCRIPT, in_process
from tritonport import __version__
from tritonport.catalog import entries
from tritonport.passes import all_rules
from tritonport.resources import rules_root
from tritonport.rulepages import outdated, sections

REPOSITORY = Path(__file__).resolve().parents[2]
BARE = "other-without-mask"


@pytest.fixture
def copied(tmp_path: Path) -> Path:
    """A user's own folder with one rule of the catalogue."""
    return shutil.copytree(rules_root() / "catalog" / BARE, tmp_path / "mine" / BARE)


def replace(file: Path, old: str, new: str) -> None:
    text = file.read_text()
    assert old in text
    file.write_text(text.replace(old, new))


def test_every_example_passes() -> None:
    done = in_process("rules", "test", cwd=REPOSITORY)
    assert done.returncode == 0, done.stdout
    count = int(done.stdout.split()[0])
    assert count >= 2 * len(all_rules()) and done.stdout.endswith("checks passed, 0 failed\n")


def test_one_rule_by_slug_and_by_code() -> None:
    by_slug = in_process("rules", "test", "grid-collapse", "-v", cwd=REPOSITORY)
    assert by_slug.stdout == in_process("rules", "test", "TP001", "-v", cwd=REPOSITORY).stdout
    assert "pass grid-collapse/two_axes\n" in by_slug.stdout


@pytest.mark.parametrize("of", ["rule", "catalogue"])
def test_a_folder_of_ones_own(copied: Path, of: str) -> None:
    folder = copied if of == "rule" else copied.parent
    done = in_process("rules", "test", folder, cwd=REPOSITORY)
    assert (done.returncode, done.stdout) == (0, "2 checks passed, 0 failed\n")


def test_another_result_is_shown_with_its_lines(copied: Path) -> None:
    replace(copied / "examples" / "bare.out.py", "tl.load(", "tl.load(1 + ")
    done = in_process("rules", "test", copied, cwd=REPOSITORY)
    assert done.returncode == 1
    assert f"FAIL {BARE}/bare: it becomes something else" in done.stdout
    assert any(line.startswith("-") and "1 + " in line for line in done.stdout.splitlines())


def test_what_should_stay_and_does_not(copied: Path) -> None:
    examples = copied / "examples"
    shutil.copy(examples / "bare.in.py", examples / "masked.noop.py")
    done = in_process("rules", "test", copied, cwd=REPOSITORY)
    assert done.returncode == 1 and f"FAIL {BARE}/masked: it is rewritten and should stay" in done.stdout


@pytest.mark.parametrize(
    ("gone", "said"),
    [
        ("bare.out.py", "bare.out.py is missing"),
        ("bare.in.py", "no example that is rewritten"),
        ("masked.noop.py", "no example that stays as it is"),
    ],
)
def test_missing_examples_fail(copied: Path, gone: str, said: str) -> None:
    (copied / "examples" / gone).unlink()
    done = in_process("rules", "test", copied, cwd=REPOSITORY)
    assert done.returncode == 1 and said in done.stdout


def test_a_class_that_the_code_does_not_have(copied: Path) -> None:
    replace(copied / "rule.toml", '"exact"', '"reordered"')
    done = in_process("rules", "test", copied, cwd=REPOSITORY)
    assert done.returncode == 1 and "class is 'reordered' here and 'exact' in the code" in done.stdout


def test_mistakes_are_one_line(copied: Path, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    replace(copied / "rule.toml", f'"{BARE}"', '"no-such-rule"')
    for which in ("nothing", str(tmp_path / "empty"), str(copied)):
        done = in_process("rules", "test", which, cwd=REPOSITORY)
        assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1), which


def test_the_generated_pages_are_current() -> None:
    assert outdated(entries(), REPOSITORY / "docs" / "rules") == (), "run `tritonport rules docs docs/rules`"


def test_pages_are_written_once_and_checked(tmp_path: Path) -> None:
    folder = tmp_path / "pages"
    assert in_process("rules", "docs", folder, cwd=REPOSITORY).returncode == 0
    page = folder / "grid-collapse.md"
    replace(page, "persistent", "lasting")
    (folder / "gone-rule.md").write_text((folder / "refuse.md").read_text())
    done = in_process("rules", "docs", folder, "--check", cwd=REPOSITORY)
    assert done.returncode == 1
    assert done.stdout == f"not current: {folder / 'gone-rule.md'}\nnot current: {page}\n"
    assert in_process("rules", "docs", folder, cwd=REPOSITORY).stdout.count("written: ") == 2
    assert in_process("rules", "docs", folder, "--check", cwd=REPOSITORY).returncode == 0


def test_other_files_are_never_removed(tmp_path: Path) -> None:
    (tmp_path / "notes.md").write_text("mine\n")
    done = in_process("rules", "docs", tmp_path, cwd=REPOSITORY)
    assert done.returncode == 2 and (tmp_path / "notes.md").read_text() == "mine\n"


@pytest.mark.parametrize("entry", entries(), ids=lambda entry: entry.slug)
def test_a_page_says_why_and_what_was_measured(entry: object) -> None:
    said = sections(entry.page)  # type: ignore[attr-defined]
    assert said.why
    manual = entry.rule_class == "manual"  # type: ignore[attr-defined]
    assert manual or (said.rule_class and said.measured), (
        "README: a line each with **Exact** (or its class), **Measured**"
    )


def test_paragraphs_are_sorted_by_their_labels() -> None:
    page = "# x\n\nWhy.\n\n**Exact**: same.\n**Unresolved** here.\nand there\n\nMore why.\n\n**Measured.** 1\n\n| 2 |\n"
    said = sections(page)
    assert said.why == "Why.\n\nMore why."
    assert said.rule_class == "**Exact**: same."
    assert said.when_not == "**Unresolved** here.\nand there"
    assert said.measured == "**Measured.** 1\n\n| 2 |"


def test_version_and_completion_in_a_shell(tmp_path: Path) -> None:
    env = {**os.environ, "_TRITONPORT_COMPLETE": "complete_bash", "COMP_CWORD": "3"}

    def completed(line: str) -> list[str]:
        words = {**env, "COMP_WORDS": line, "COMP_CWORD": str(len(line.split()) - 1)}
        done = subprocess.run([SCRIPT], env=words, cwd=tmp_path, capture_output=True, text=True, check=False)
        return done.stdout.split()

    assert completed("tritonport rules explain grid") == ["grid-collapse"]
    assert in_process("--version", cwd=tmp_path).stdout == f"tritonport {__version__}\n"


def test_doctor_says_of_every_tier_whether_it_can_run(tmp_path: Path) -> None:
    from tritonport.record import TIERS

    done = in_process("doctor", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    told = dict(line.strip().split(": ", 1) for line in done.stdout.partition("tiers:\n")[2].splitlines())
    assert list(told) == list(TIERS)
    assert all(text.startswith(("can run", "a device is here", "not run here: ")) for text in told.values())
    assert "configuration: none" in done.stdout
    (tmp_path / "tritonport.toml").write_text("wrong = 1\n")
    assert in_process("doctor", cwd=tmp_path).returncode == 2
