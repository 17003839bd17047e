"""A stand-in for iree-benchmark-module with times of a test's choice: the real one runs, once."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from support import find_iree_tools

#: Times of `<module>` are 100 us, or what the file `<module>.us` beside the program says, with some noise that is the
#: same in each run. Where there is `<module>.fails`, nothing is measured. `hangs.after` says how many processes end,
#: before one does not.
_PROGRAM = """\
#!/bin/sh
here=${0%/*}
out=
module=
for argument; do
  case $argument in
    --benchmark_out=*) out=${argument#*=} ;;
    --module=*) module=${argument##*/} ;;
  esac
done
module=${module%.vmfb}
if [ -z "$out" ]; then exec "@REAL@" "$@"; fi
echo "$module" >> "$here/calls"
if [ -e "$here/$module.fails" ]; then echo "it is broken" >&2; exit 1; fi
if [ -e "$here/hangs.after" ]; then
  if [ "$(wc -l < "$here/calls")" -gt "$(cat "$here/hangs.after")" ]; then exec sleep 1000; fi
fi
"@REAL@" "$@" --benchmark_min_time=1x || exit
count=$(grep -c "^$module\\$" "$here/calls")
us=$(cat "$here/$module.us" 2> /dev/null || echo 100)
sed -i -E -e "s/(\\"(real|cpu)_time\\":) [^,]*/\\1 $us.$((count % 4))/" -e 's/("time_unit":) "[a-z]+"/\\1 "us"/' "$out"
"""


@dataclass(frozen=True)
class StandIn:
    """The program in a folder."""

    folder: Path

    @property
    def program(self) -> Path:
        return self.folder / "iree-benchmark-module"

    def install(self) -> StandIn:
        """Writes the program. Returns this."""
        self.folder.mkdir(parents=True, exist_ok=True)
        self.program.write_text(_PROGRAM.replace("@REAL@", str(find_iree_tools().benchmark_module)))
        self.program.chmod(0o755)
        return self

    def takes(self, module: str, us: int) -> None:
        """Makes the benchmarks of a module take so many microseconds from now on."""
        (self.folder / f"{module}.us").write_text(str(us))

    def fails(self, module: str) -> None:
        """Makes a module one that cannot be measured."""
        (self.folder / f"{module}.fails").touch()

    def hangs_after(self, processes: int) -> None:
        """Lets so many processes end, and no more."""
        (self.folder / "hangs.after").write_text(str(processes))

    def mend(self) -> None:
        """Makes all as it was."""
        for path in self.folder.glob("*.*"):
            path.unlink()

    def calls(self) -> list[str]:
        """The modules that were measured so far, in order."""
        path = self.folder / "calls"
        return path.read_text().split() if path.exists() else []
