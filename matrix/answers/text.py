"""What the terminal shows of a reproducer: a summary, or everything."""

from __future__ import annotations

from dataclasses import dataclass

from .. import torches
from ..catalog import Reproducer
from ..evidence.records import Record
from ..evidence.states import States


@dataclass(frozen=True)
class Measured:
    """What was measured, read once however many reproducers an answer names."""

    releases: list[torches.Torch]
    states: States

    @classmethod
    def load(cls, records: list[Record]) -> Measured:
        return cls(torches.load(), States(records))

    def sentence(self, reproducer: Reproducer, version: str | None) -> str:
        """Whether the user's torch was measured, and with what outcome."""
        first, last = self.releases[0].minor, self.releases[-1].minor
        affected = f"affects torch {_affected(reproducer)}"
        if version is None:
            return f"{affected}; measured on {first} to {last} (use --torch to check yours)"
        minor = ".".join(version.split(".")[:2])
        if minor not in {torch.minor for torch in self.releases}:
            return f"torch {version} has not been measured ({first} to {last} have); {affected}"
        states = [
            f"{device} {self.states.state(reproducer, device, minor)}"
            for device in reproducer.devices
        ]
        return f"on torch {minor} measured: " + ", ".join(states)

    def ranges(self, reproducer: Reproducer) -> list[str]:
        """Per device, which releases were measured to be in which state."""
        lines = []
        for device in reproducer.devices:
            found = self.states.releases(reproducer, device, self.releases)
            star = (
                f" (stand-in: {reproducer.stand_in[device]})"
                if device in reproducer.stand_in
                else ""
            )
            spans = [
                f"{state} on {torches.span(minors, self.releases)}"
                for state, minors in found.items()
            ]
            lines.append(f"{device}{star}: {'; '.join(spans)}")
        return lines


def summary(reproducer: Reproducer, measured: Measured, version: str | None) -> str:
    """The answer to a message that has this one cause."""
    lines = [f"{reproducer.id}: {measured.sentence(reproducer, version)}", "", reproducer.doc]
    for title, role in (
        ("Control (the same code without the cause):", "control"),
        ("Popular fix that does not help:", "popular_fix"),
    ):
        if role in reproducer.roles:
            lines += ["", title, _indented(reproducer.function(role))]
    lines += ["", f"fix: {fix(reproducer)}", f"more: torch-repros show {reproducer.id}"]
    return "\n".join(lines)


def full_text(reproducer: Reproducer, measured: Measured, version: str | None) -> str:
    """Everything about one reproducer."""
    facts = {
        "kind": reproducer.kind,
        "needs": " ".join(
            filter(
                None, [reproducer.requires and f"torch {reproducer.requires}", reproducer.platform]
            )
        ),
        "fix": fix(reproducer),
        "popular fix": "in the file; it leaves a symptom"
        if "popular_fix" in reproducer.roles
        else "",
        "retired": reproducer.retired,
    }
    return "\n".join(
        [
            reproducer.id,
            f"{reproducer.title}\n\n{reproducer.doc}\n",
            f"The code ({reproducer.path}):\n\n{_indented(reproducer.code)}\n",
            measured.sentence(reproducer, version),
            *(f"  {line}" for line in measured.ranges(reproducer)),
            "",
            *(f"{name}: {fact}" for name, fact in facts.items() if fact),
            *(f"source: {source}" for source in reproducer.sources),
        ]
    )


def fix(reproducer: Reproducer) -> str:
    """The fix in a sentence."""
    if not reproducer.fix_module:
        return "upgrade torch"
    module = reproducer.fix_module
    where = f"reference_fixes/{module}.py: torch-repros vendor {module} --into DIR"
    return f"{reproducer.fix_function}() of {where}"


def _indented(code: str) -> str:
    return "\n".join(f"    {line}".rstrip() for line in code.splitlines())


def _affected(reproducer: Reproducer) -> str:
    ranges = [
        f"{specifier} on {device}"
        for device, specifier in reproducer.affected.items()
        if specifier != "never"
    ]
    return ", ".join(ranges) or "none"
