"""Text that users wrote, as arguments of CMake code. Nothing else in dispatchgen quotes for CMake.

In a quoted argument three characters mean something: `\\`, `"` and `$` (CMake manual, cmake-language(7), "Quoted
Argument"; `@` has no meaning in files that set policy CMP0053). Everything else stands for itself, also a semicolon.

What becomes of the argument afterwards matters as much:

- The rules hand every user string to a command, a path or a test property, in all of which CMake evaluates generator
  expressions. `$<` is therefore written as `$<1:$><`, the expression for a dollar sign followed by `<`.
- Strings go through lists. cmake_parse_arguments(PARSE_ARGV) escapes semicolons so that they survive. CMake has no
  escape for a backslash at the end of an element nor for square brackets without their match: `refusal` names them.
- Control characters (newlines above all) cannot be passed in a command of a Makefile.
- The path of a file that commands depend on cannot hold `;`, `:`, `|` or a backslash: Make or Ninja misreads it.
- An argument that is an operator of the shell and nothing else is one in the command, VERBATIM or not.
- `@NAME@` is a variable to CTest before CMake 4.
- `$(NAME)` is a variable of Make: CMake has no escape for it, and writes a build.ninja that Ninja rejects.
"""

from __future__ import annotations

import re

from dispatchgen.render.text import control_refusal

#: Keywords of the rules: an argument with that very text would be taken for the keyword.
KEYWORDS = frozenset(
    (
        *("NAME", "MODEL", "BACKEND", "SRC", "LOCK", "MIN_TIME", "REPETITIONS", "BATCH_SIZE", "TIMEOUT"),
        *("IMPORT_FLAGS", "COMPILE_FLAGS", "DISPATCHES", "CALLS", "PARAMETERS", "DEVICES", "RUN_FLAGS"),
        *("DEVICE_LABELS", "LABELS", "PRESETS", "PACKAGES", "DRIFT", "INPUTS", "SUBSTITUTES", "SUBSTITUTE_INPUTS"),
        *("SUBSTITUTE_FLAGS", "OBJECT_COMMANDS", "OBJECT_SUFFIX", "COMBINATIONS", "DATA", "ARCHIVES", "CALL_INPUTS"),
        *("MANIFEST", "NIGHTLY", "BASELINES"),
    )
)

#: Keywords of add_custom_command(): an argument of a command with that very text would be taken for the keyword.
_COMMAND_KEYWORDS = frozenset(
    (
        *("APPEND", "ARGS", "BYPRODUCTS", "CODEGEN", "COMMAND", "COMMAND_EXPAND_LISTS", "COMMENT", "DEPENDS"),
        *("DEPENDS_EXPLICIT_ONLY", "DEPFILE", "IMPLICIT_DEPENDS", "JOB_POOL", "JOB_SERVER_AWARE", "MAIN_DEPENDENCY"),
        *("OUTPUT", "POST_BUILD", "PRE_BUILD", "PRE_LINK", "TARGET", "USES_TERMINAL", "VERBATIM"),
        *("WORKING_DIRECTORY",),
    )
)

#: Arguments that CMake leaves unquoted in a command (cmOutputConverterIsShellOperator in its cmOutputConverter.cxx).
SHELL_OPERATORS = frozenset(("<", ">", "<<", ">>", "|", "||", "&&", "&>", "1>", "2>", "2>&1", "1>&2"))

#: What CMake takes for a variable of Make (Shell_SkipMakeVariables in its cmOutputConverter.cxx).
_MAKE_VARIABLE = re.compile(r"\$\([A-Za-z0-9_]*\)")

#: What CTest before CMake 4 replaces in the arguments of tests, which it reads without policy CMP0053.
_AT_VARIABLE = re.compile(r"@[A-Za-z0-9_/.+-]+@")


def cmake_string(text: str) -> str:
    """A quoted argument of CMake code whose value is `text`, whatever that holds."""
    return '"' + re.sub(r'([\\"$])', r"\\\1", text) + '"'


def cmake_list(elements: list[str]) -> str:
    """A quoted argument whose value is a CMake list; each element must be one that `refusal` accepts."""
    return cmake_string(";".join(element.replace(";", r"\;") for element in elements))


def cmake_argument(text: str) -> str:
    """A quoted argument that still is `text` after generator expressions have been evaluated."""
    return cmake_string(text.replace("$<", "$<1:$><"))


def refusal(text: str) -> str | None:
    """Why CMake cannot carry `text` as an element of a list of arguments; None if it can."""
    if not text:
        return "it is empty"
    if text in KEYWORDS:
        return "it is a keyword of the CMake rule"
    if text in SHELL_OPERATORS:
        return "it is an operator of the shell, which CMake passes on as one"
    control = control_refusal(text)
    if control is not None:
        return control
    variable = _MAKE_VARIABLE.search(text)
    if variable is not None:
        return f"it holds {variable[0]!r}, which CMake passes on as a variable of Make"
    if text.endswith("\\"):
        return "it ends with a backslash, for which CMake's lists have no escape"
    if not _is_balanced(text):
        return "it holds a square bracket without its match, for which CMake's lists have no escape"
    return None


def command_refusal(text: str) -> str | None:
    """Why CMake cannot carry `text` as an argument of a command that is not one of ours; None if it can."""
    return "it is a keyword of CMake's commands" if text in _COMMAND_KEYWORDS else refusal(text)


def ctest_refusal(text: str) -> str | None:
    """Why CTest cannot carry `text` in the arguments of a test; None if it can."""
    variable = _AT_VARIABLE.search(text)
    return refusal(text) if variable is None else f"it holds {variable[0]!r}, which CTest takes for a variable"


def path_refusal(path: str) -> str | None:
    """Why build systems cannot depend on a file of this path; None if they can."""
    found = next((char for char in path if char in ";:|\\"), None)
    if found is not None:
        return f"it holds {found!r}, which build systems cannot have in the path of a file"
    return refusal(path)


def _is_balanced(text: str) -> bool:
    """Whether each square bracket has its match. Only the count matters to CMake, but people expect pairs."""
    depth = 0
    for char in text:
        depth += {"[": 1, "]": -1}.get(char, 0)
        if depth < 0:
            return False
    return depth == 0
