"""`pyptx exec --check`: every launch runs under the sanitizer; findings are reported when they are first seen.

The launch runs once, in the schedule of the options: what it reads and writes is the program's memory, of which no copies
are made. A process writes its findings to a file when it ends, which `pyptx exec` collects.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeVar

from pyptx.check import Finding, Report
from pyptx.check.faults import fault_findings
from pyptx.check.finding import Location
from pyptx.check.locations import Locations, text_lines
from pyptx.check.sanitizer_findings import sanitizer_findings
from pyptx.cuda_device.server.call_sites import call_site
from pyptx.cuda_device.server.leaks import Left, described
from pyptx.cuda_device.server.order_findings import (
    conflict_finding,
    device_access,
    failed_call,
    unread_error,
    unrecorded_event,
)
from pyptx.cuda_device.server.stream_order import Conflict, Operation
from pyptx.errors import SimulationError
from pyptx.nvrtc.mangling import local_names, qualified_name
from pyptx.sim.program.program import Program
from pyptx.sim.sanitizer import AccessFinding

__all__ = ["LaunchChecks", "collect_checks", "summary"]

T = TypeVar("T")


@dataclass(eq=False)
class LaunchChecks:
    """The findings of a process.

    Attributes:
        schedule: schedule of the launches.
        launches: number of launches, by kernel.
        logs: SARIF log of each launch that had new findings.
        left: number and bytes of the allocations that the program did not free.
        objects: number of the streams, events, graphs, arrays, textures and modules that it did not destroy.
        leaks: for each call in the program that made some of them, their number and the place of the call.
    """

    schedule: str
    launches: Counter[str] = field(default_factory=Counter)
    counts: Counter[str] = field(default_factory=Counter)
    logs: list[dict[str, Any]] = field(default_factory=list)
    left: tuple[int, int] = (0, 0)
    objects: Counter[str] = field(default_factory=Counter)
    leaks: list[str] = field(default_factory=list)
    _seen: set[tuple[Any, ...]] = field(default_factory=set)
    _failed_launch: Finding | None = None

    def run(
        self, program: Program, lines: Callable[[], Mapping[int, int]], launch: Callable[[list[AccessFinding]], T]
    ) -> T:
        """Run a launch, report findings that no earlier launch of the kernel had, and return what it returned.

        Args:
            lines: returns the PTX line of each instruction, as for `Locations`.
            launch: runs it with a list for the findings of the sanitizer. Its errors are raised after the report.
        """
        name, started, found = program.entry.name, time.perf_counter(), list[AccessFinding]()
        self.launches[name] += 1
        faults: dict[str, SimulationError] = {}
        try:
            return launch(found)
        except SimulationError as error:  # printed by the call that raises it
            faults[self.schedule] = error
            raise
        finally:
            if found or faults or self.launches[name] == 1:  # the program itself is examined once
                self._examine(program, Locations(program, lines), found, faults, started)

    def _examine(
        self,
        program: Program,
        locations: Locations,
        found: list[AccessFinding],
        faults: Mapping[str, SimulationError],
        started: float,
    ) -> None:
        name = program.entry.name
        seen = sanitizer_findings(program, {self.schedule: found}, locations, lambda _: found)
        for findings, shown in ((seen, True), (fault_findings(program, faults, locations), False)):
            if fresh := [_in_words_of_source(finding) for finding in findings if self._is_new(name, finding)]:
                taken = time.perf_counter() - started
                self._report(Report(qualified_name(name), tuple(fresh), (self.schedule,), {}, taken), shown)

    def conflict(self, found: Conflict, memory: Callable[[int], str], process: int) -> None:
        """Report two operations that nothing orders, once for each pair of their calls.

        Args:
            memory: describes an address.
            process: number of the client's process.
        """
        key = (*(one and (one.label, one.site) for one in (found.first, found.second)), found.first_writes, found.site)
        if ("order", key) not in self._seen:
            self._seen.add(("order", key))
            finding = conflict_finding(
                found,
                lambda address: _byte(memory, address),
                lambda one, role: _locations(one, role, process),
                _access("accessed, unordered", process, found.site),
            )
            self._report_calls(finding)

    def accessed(self, diagnosis: str, process: int, sites: Sequence[int]) -> None:
        """Report an access of the host to memory of the device."""
        self._report_calls(device_access(diagnosis, _access("accessed", process, sites)))

    def failed(self, symbol: str, name: str, diagnosis: str, process: int, sites: Sequence[int]) -> None:
        """Report a call that failed, once for each text, unless it is a limit of the simulated device.

        Kernels that fault are findings of their launches.
        """
        if name == "NOT_SUPPORTED" or diagnosis.startswith("kernel ") or ("call", symbol, diagnosis) in self._seen:
            return
        self._seen.add(("call", symbol, diagnosis))
        is_launch = symbol == "cuLaunchKernel"
        kernel = diagnosis.partition(":")[0] if is_launch else ""
        finding = failed_call(symbol, name, diagnosis, _call("call", symbol, process, sites, kernel))
        self._failed_launch = finding if is_launch else self._failed_launch
        self._report_calls(finding, shown=False)

    def unread(self, count: int) -> None:
        """Report launches whose errors the program has not read when it ends."""
        self._report_calls(unread_error(count, self._failed_launch))

    def unrecorded(self, symbol: str, process: int, sites: Sequence[int]) -> None:
        """Report a wait for an event that was never recorded, once for each call in the program."""
        if ("event", symbol, tuple(sites)) not in self._seen:
            self._seen.add(("event", symbol, tuple(sites)))
            self._report_calls(unrecorded_event(symbol, _call("call", symbol, process, sites)))

    def _report_calls(self, finding: Finding, shown: bool = True) -> None:
        self._report(Report("calls of the driver", (finding,), (self.schedule,), {}, 0.0), shown)

    def _is_new(self, kernel: str, finding: Finding) -> bool:
        key = (kernel, finding.rule, *((place.ptx_line, place.role) for place in finding.places))
        is_new = key not in self._seen
        self._seen.add(key)
        return is_new

    def _report(self, report: Report, shown: bool) -> None:
        if shown:
            sys.stdout.flush()
            print(f"pyptx: {report.text()}", file=sys.stderr, flush=True)
        self.counts.update(finding.severity for finding in report.findings)
        self.logs.append(report.to_sarif())

    def write(self, folder: Path, process: int, left: Left) -> None:
        """Write the findings to a file of this process, for `collect_checks`.

        Args:
            process: number of the client's process.
            left: what the program did not free and destroy.
        """
        sizes = [size for _, size, _ in left if size is not None]
        found = {"launches": self.launches, "counts": self.counts, "logs": self.logs, "left": (len(sizes), sum(sizes))}
        found["objects"] = Counter(kind for kind, size, _ in left if size is None)
        found["leaks"] = described(process, left)
        part = folder / f"check-{os.getpid()}.part"
        part.write_text(json.dumps(found), encoding="utf-8")
        part.replace(part.with_suffix(".json"))


def _in_words_of_source(finding: Finding) -> Finding:
    """Return a finding with the names that variables of functions have in C++."""
    places = tuple(replace(place, ptx=local_names(place.ptx)) for place in finding.places)
    return replace(finding, message=local_names(finding.message), places=places)


def _byte(memory: Callable[[int], str], address: int) -> str:
    """Describe a byte of memory within a sentence."""
    return memory(address).removeprefix("it is ")


def _locations(operation: Operation, role: str, process: int) -> tuple[Location, ...]:
    """Return the locations of an operation: the call that issued it, and the first line of a kernel."""
    if operation.launch is None:
        return (_call(role, operation.label, process, operation.site),)
    kernel = operation.launch.kernel
    lines = Locations(kernel.program, lambda: text_lines(kernel.module.tree, kernel.module.text))
    issued = _call("launched", operation.label, process, operation.site, operation.launch.name)
    return (lines.of(0, role), *((issued,) if issued.place or issued.ptx != operation.label else ()))


def _call(role: str, label: str, process: int, sites: Sequence[int], kernel: str = "") -> Location:
    """Return the location of a call of the client; `kernel` as for `call_site`."""
    site = call_site(process, [address for address in sites if address], kernel)
    return Location(role, site and site.place, 0, f"{label}, called by {site.text}" if site else label)


def _access(role: str, process: int, sites: Sequence[int]) -> Location:
    """Return the location of an access of the host."""
    site = call_site(process, [address for address in sites if address])
    return Location(
        role, site and site.place, 0, f"access of the host in {site.text}" if site else "access of the host"
    )


def collect_checks(folder: Path) -> LaunchChecks:
    """Return the findings that processes wrote into a folder, together."""
    whole = LaunchChecks("")
    for path in sorted(folder.glob("check-*.json")):
        found = json.loads(path.read_text(encoding="utf-8"))
        whole.launches.update(found["launches"])
        whole.counts.update(found["counts"])
        whole.logs += found["logs"]
        whole.leaks += found["leaks"]
        whole.objects.update(found["objects"])
        whole.left = whole.left[0] + found["left"][0], whole.left[1] + found["left"][1]
    return whole


def summary(checks: LaunchChecks) -> str:
    """Return the number of launches, kernels and findings, and what was not freed or destroyed, as a line."""
    found = [f"{checks.counts[kind]} {kind}{'s' * (checks.counts[kind] != 1)}" for kind in _kinds(checks.counts)]
    launches, kernels = checks.launches.total(), len(checks.launches)
    return (
        f"{launches} launch{'es' * (launches != 1)} of {kernels} kernel{'s' * (kernels != 1)} checked: "
        f"{', '.join(found) or 'no findings'}{_left(*checks.left)}{_kept(checks.objects)}"
    )


def _left(count: int, size: int) -> str:
    return f"; {count} allocation{'s' * (count != 1)} of {size:,} bytes not freed" if count else ""


def _kept(objects: Counter[str]) -> str:
    parts = [f"{count} {kind}{'s' * (count != 1)}" for kind, count in sorted(objects.items()) if count]
    return f"; {', '.join(parts)} not destroyed" if parts else ""


def _kinds(counts: Counter[str]) -> Sequence[str]:
    return [kind for kind in ("error", "warning", "note") if counts[kind]]
