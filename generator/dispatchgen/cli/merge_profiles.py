"""`dispatchgen merge-profiles`."""

from __future__ import annotations

from pathlib import Path

import click

from dispatchgen.errors import DispatchgenError, Problem, ProfileError


@click.command("merge-profiles")
@click.argument("profiles", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="PROFILE...")
@click.option(
    "--output", "-o", type=click.Path(path_type=Path), required=True, metavar="FILE", help="The profile to write."
)
def command(profiles: tuple[Path, ...], output: Path) -> None:
    """Write one profile of the runs of several: how often each size was seen adds up.

    They must be of one model with the same source, backend, flags and compiler.
    """
    from dispatchgen.profile.archive import Kept, check_output, write_with_data
    from dispatchgen.profile.given import check_given_once, notes_of_equal
    from dispatchgen.profile.merge import merge_profiles
    from dispatchgen.profile.store import read_profile
    from dispatchgen.profile.summary import summary

    check_output(output)
    check_given_once(profiles)
    problems: list[Problem] = []
    found, archives = [], []
    for path in profiles:
        try:
            profile = read_profile(path)
            found.append((path, profile))
            archives.append(Kept(path, profile))
        except DispatchgenError as error:
            problems += error.problems
    if problems:
        raise ProfileError(*problems)
    notes = list(notes_of_equal(profiles))
    merged = merge_profiles(found)
    write_with_data(output, merged, {key: kept[key] for kept in archives for key in kept.keys})
    for note in notes:
        click.echo(f"note: {note}", err=True)
    click.echo(f"wrote {output}", err=True)
    for line in summary(merged):
        click.echo(line)
