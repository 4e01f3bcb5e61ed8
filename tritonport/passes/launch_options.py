"""num_warps, num_stages and num_ctas say nothing on the target: they stay for GPUs only, where sums depend on them."""

from __future__ import annotations

from collections.abc import Sequence

import libcst as cst

from tritonport.engine.context import FileContext, JitNode
from tritonport.engine.rule import RuleResult
from tritonport.facts.walk import find
from tritonport.passes._build import call, import_from_runtime, runtime_name
from tritonport.passes.host_layout import keyword_added
from tritonport.record import RuleClass

OPTIONS = frozenset({"num_warps", "num_stages", "num_ctas", "maxnreg"})
CONFIG = frozenset({"triton.Config", "triton.runtime.Config", "triton.runtime.autotuner.Config"})
CONFIG_POSITIONS = ("kwargs", "num_warps", "num_stages", "num_ctas", "maxnreg", "pre_hook")
WRAPPER = "gpu_only"
ON_TARGET = "npu_only"


class LaunchOptions:
    """Moves GPU-only options of launches and tuner configurations into `**gpu_only(...)`."""

    slug = "launch-options"
    rule_class: RuleClass = "exact"

    def run(self, file: FileContext) -> RuleResult:
        result = RuleResult()
        self._launches(file, result)
        self._configs(file, result)
        used = [WRAPPER] if result.edits else []
        if self._chosen(file, result):
            used.append(ON_TARGET)
        import_from_runtime(file, result, used)
        return result

    def _chosen(self, file: FileContext, result: RuleResult) -> bool:
        """Options of the target's compiler that were chosen for single kernels."""
        found = False
        for site in file.sites:
            planned = [k for k in site.kernels if k in file.programs.plans]
            options = {file.settings.choices[k].options for k in planned if k in file.settings.choices}
            if not any(options) or site.wrapped:
                continue
            node = file.launch_call(site)
            if len(options) > 1 or len(planned) < len(site.kernels):
                result.unresolved(node, "the kernels launched here want different options", kernel=planned[0])
                continue
            text = ", ".join(f"{name}={value!r}" for name, value in next(iter(options)))
            given = f"{runtime_name(file, ON_TARGET)}({text})"
            result.rewrite(node, lambda updated, given=given: _with_given(updated, given), kernel=planned[0])
            found = True
        return found

    def _launches(self, file: FileContext, result: RuleResult) -> None:
        for site in file.sites:
            planned = [k for k in site.kernels if k in file.programs.plans]
            if not planned:
                continue
            own = {name for key in planned for name in file.analysis.functions[key].parameters}
            node = file.launch_call(site)
            moved = [a for a in node.args if a.keyword is not None and a.keyword.value in OPTIONS - own]
            if moved:
                result.rewrite(
                    node,
                    lambda updated, own=own: _gathered(updated, runtime_name(file, WRAPPER), OPTIONS - own),
                    kernel=planned[0],
                )

    def _configs(self, file: FileContext, result: RuleResult) -> None:
        """Configurations of the tuners of this file's kernels, in decorators and in module-level lists."""
        name = runtime_name(file, WRAPPER)
        inside = {id(c): plan.key for plan, jit in file.planned() for c in _configs_in(file, jit)}
        if not file.sites and not inside:
            return
        first = next((plan.key for plan, _ in file.planned()), None)
        for config in find(file.tree, cst.Call):
            if not file.is_call_of(config, *CONFIG) or first is None:
                continue
            if any(a.star for a in config.args[:1]) or not _has_options(config):
                continue
            result.rewrite(
                config, lambda node, name=name: _config(node, name), kernel=inside.get(id(config), first)
            )


def _with_given(updated: cst.CSTNode, given: str) -> cst.Call:
    """The launch with `**npu_only(..)` behind its arguments."""
    node = keyword_added(cst.ensure_type(updated, cst.Call), "options", given)
    added = node.args[-1].with_changes(keyword=None, star="**", equal=cst.MaybeSentinel.DEFAULT)
    return node.with_changes(args=[*node.args[:-1], added])


def _configs_in(file: FileContext, jit: JitNode) -> list[cst.CSTNode]:
    return [
        node
        for decorator in jit.node.decorators
        for node in find(decorator, cst.Call)
        if file.is_call_of(node, *CONFIG)
    ]


def _named(config: cst.Call) -> list[cst.Arg]:
    """The arguments of a configuration, positional options given their names."""
    equal = cst.AssignEqual(cst.SimpleWhitespace(""), cst.SimpleWhitespace(""))
    named: list[cst.Arg] = []
    for position, arg in enumerate(config.args):
        if arg.keyword is None and not arg.star and 0 < position < len(CONFIG_POSITIONS):
            arg = arg.with_changes(keyword=cst.Name(CONFIG_POSITIONS[position]), equal=equal)  # noqa: PLW2901
        named.append(arg)
    return named


def _has_options(config: cst.Call) -> bool:
    return any(arg.keyword is not None and arg.keyword.value in OPTIONS for arg in _named(config))


def _config(updated: cst.CSTNode, name: str) -> cst.Call:
    config = cst.ensure_type(updated, cst.Call)
    return _gathered(config.with_changes(args=_named(config)), name, OPTIONS)


def _gathered(updated: cst.CSTNode, name: str, options: frozenset[str] | set[str]) -> cst.Call:
    """The call with these keywords gathered, in place of the first of them, in one `**gpu_only(...)`."""
    node = cst.ensure_type(updated, cst.Call)
    moved = [a for a in node.args if a.keyword is not None and a.keyword.value in options]
    args: list[cst.Arg] = []
    for index, arg in enumerate(node.args):
        if arg not in moved:
            args.append(arg)
        elif arg is moved[0]:
            gathered = call(name, [_bare(a) for a in moved])
            args.append(
                cst.Arg(
                    star="**", value=gathered, comma=arg.comma, whitespace_after_arg=arg.whitespace_after_arg
                )
            )
        if arg in moved[1:] and index + 1 == len(node.args):
            args[-1] = args[-1].with_changes(comma=arg.comma, whitespace_after_arg=arg.whitespace_after_arg)
    return node.with_changes(args=_comments_kept(args, moved))


def _bare(arg: cst.Arg) -> cst.Arg:
    return arg.with_changes(comma=cst.MaybeSentinel.DEFAULT, whitespace_after_arg=cst.SimpleWhitespace(""))


def _comments_kept(args: Sequence[cst.Arg], moved: Sequence[cst.Arg]) -> list[cst.Arg]:
    """Comments behind the options that moved stay behind the gathered argument."""
    lines: list[cst.EmptyLine] = []
    for arg in moved[1:]:
        space = arg.comma.whitespace_after if isinstance(arg.comma, cst.Comma) else None
        if isinstance(space, cst.ParenthesizedWhitespace):
            if space.first_line.comment is not None:
                lines.append(cst.EmptyLine(comment=space.first_line.comment))
            lines += [line for line in space.empty_lines if line.comment is not None]
    if not lines:
        return list(args)
    kept: list[cst.Arg] = []
    for arg in args:
        comma = arg.comma
        if (
            arg.star == "**"
            and isinstance(comma, cst.Comma)
            and isinstance(comma.whitespace_after, cst.ParenthesizedWhitespace)
        ):
            present = {
                line.comment.value for line in comma.whitespace_after.empty_lines if line.comment is not None
            }
            if comma.whitespace_after.first_line.comment is not None:
                present.add(comma.whitespace_after.first_line.comment.value)
            extra = [line for line in lines if line.comment is not None and line.comment.value not in present]
            space = comma.whitespace_after.with_changes(
                empty_lines=[*extra, *comma.whitespace_after.empty_lines]
            )
            arg = arg.with_changes(comma=comma.with_changes(whitespace_after=space))  # noqa: PLW2901
        kept.append(arg)
    return kept


RULE = LaunchOptions()
