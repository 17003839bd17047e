# Copyright 2026 The dispatchgen Authors
#
# Licensed under the Apache License v2.0 with LLVM Exceptions.
# See https://llvm.org/LICENSE.txt for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# Made by iree_tools_repository(). Files are looked up anew in each build: what is upgraded in place is seen.
#
# A target packages/<package>/<path> is not declared where that call does not name the package in `packages`, or where the
# installed package has no such model. Named are: %{packages}.

load("%{defs}", "iree_dispatch_tools")

package(default_visibility = ["//visibility:public"])

iree_dispatch_tools(
    name = "tools",
    benchmark_tool = "bin/iree-benchmark-module",
    compile_data = [":compile_files"],
    compile_tool = "bin/iree-compile",
    dispatchgen_data = [":dispatchgen_files"],
    dispatchgen_tool = "dispatchgen",
    import_data = [":import_files"],
    import_tool = %{import_tool},
    linker_tool = %{linker_tool},
    measure_data = [":measure_files"],
    run_tool = "bin/iree-run-module",
    substitute_data = [":substitute_files"],
)

exports_files([
    "IREE_VERSION",
    "dispatchgen",
    "import_onnx",
] + glob(
    [
        "bin/iree-*",
        "packages/**/*.mlir",
        "packages/**/*.mlirbc",
        "packages/**/*.onnx",
    ],
    allow_empty = True,
))

# What iree-compile reads besides its input. The version stands for what the program loads from elsewhere.
filegroup(
    name = "compile_files",
    srcs = ["IREE_VERSION"] + glob(
        [
            "bin/iree_platform_libs/**",
            "bin/libIREECompiler.*",
            "lib/iree_platform_libs/**",
            "lib/libIREECompiler.*",
        ],
        allow_empty = True,
    ),
)

# What dispatchgen reads besides its launcher: Python, with its standard library, and packages.
filegroup(
    name = "dispatchgen_files",
    srcs = ["python/bin/python3"] + glob(
        [
            "genrules/*/templates/*.jinja",
            "python/**/*.py",
            "python/**/*.so",
            "python/**/*.so.*",
            "site-packages/**/*.py",
            "site-packages/**/*.so",
            "site-packages/**/*.so.*",
        ],
        allow_empty = True,
        exclude = [
            "**/test/**",
            "**/tests/**",
            # Each file counts in each sandbox. All text is UTF-8.
            "python/**/encodings/big5*",
            "python/**/encodings/cp*",
            "python/**/encodings/euc_*",
            "python/**/encodings/gb*",
            "python/**/encodings/iso*",
            "python/**/encodings/koi8_*",
            "python/**/encodings/mac_*",
            "python/**/encodings/shift_*",
            "python/**/lib-dynload/_codecs_*",
            "python/**/lib-dynload/_curses*",
            "python/**/lib-dynload/_sqlite3*",
            "python/**/lib-dynload/_test*",
            "python/**/lib-dynload/_tkinter*",
            "python/**/lib-dynload/readline*",
            "python/**/lib-dynload/xx*",
            # Large, and no action imports anything of them.
            "site-packages/numpy/distutils/**",
            "site-packages/numpy/f2py/**",
            # What no action and no `.update` runs.
            "site-packages/dispatchgen/baseline/**",
            "site-packages/dispatchgen/buildtree/**",
            "site-packages/dispatchgen/comparison/**",
            "site-packages/dispatchgen/genrules/**",
            "site-packages/dispatchgen/history/**",
            "site-packages/dispatchgen/job/**",
            "site-packages/dispatchgen/nightly/**",
            "site-packages/dispatchgen/probe/**",
            "site-packages/dispatchgen/report/**",
            "site-packages/dispatchgen/results/**",
            "site-packages/dispatchgen/workbench/**",
        ],
    ),
)

# What dispatchgen reads besides where it works with substitutes, or makes data.
filegroup(
    name = "substitute_files",
    srcs = glob(
        [
            "site-packages/dispatchgen/results/**/*.py",
            "substitute-site-packages/**/*.py",
            "substitute-site-packages/**/*.so",
            "substitute-site-packages/**/*.so.*",
        ],
        allow_empty = True,
        exclude = [
            "**/test/**",
            "**/tests/**",
        ],
    ),
)

# What dispatchgen reads besides where it measures, compares and reports, with what it needs where it reads substitutes.
filegroup(
    name = "measure_files",
    srcs = [":substitute_files"] + glob(
        [
            "measure-site-packages/**/*.py",
            "measure-site-packages/**/*.so",
            "measure-site-packages/**/*.so.*",
            "site-packages/dispatchgen/baseline/**",
            "site-packages/dispatchgen/buildtree/**",
            "site-packages/dispatchgen/comparison/**",
            "site-packages/dispatchgen/history/**",
            "site-packages/dispatchgen/job/**",
            "site-packages/dispatchgen/nightly/**",
            "site-packages/dispatchgen/report/**",
            "site-packages/dispatchgen/results/**",
            "site-packages/numpy/f2py/**/*.py",
        ],
        allow_empty = True,
        exclude = [
            "**/*.pyc",
            "**/tests/**",
        ],
    ),
)

# What the importer of .onnx models reads besides its launcher.
filegroup(
    name = "import_files",
    srcs = [
        ":dispatchgen_files",
        ":substitute_files",
    ] + glob(
        [
            "import-site-packages/**/*.py",
            "import-site-packages/**/*.so",
            "import-site-packages/**/*.so.*",
        ],
        allow_empty = True,
        exclude = [
            "**/test/**",
            "**/tests/**",
            # Large, and nothing of it is imported.
            "import-site-packages/onnx/reference/**",
        ],
    ),
)
