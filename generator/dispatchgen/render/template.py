"""The templates of the files that call the rules."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from jinja2 import Environment, FileSystemLoader, StrictUndefined, Template

from dispatchgen.render.text import line_comment
from dispatchgen.resources import genrules_dir


def template(rules: str, name: str, filters: Mapping[str, Callable[..., str]]) -> Template:
    """A template of the rules for a build system.

    Args:
      rules: Folder of the rules in `genrules/`.
      name: Of the file in their folder `templates/`.
      filters: What makes values literals of the build system's language. `comment` is there anyway.
    """
    environment = Environment(
        loader=FileSystemLoader(genrules_dir() / rules / "templates"),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=False,
    )
    environment.filters.update(filters, comment=line_comment)
    return environment.get_template(name)
