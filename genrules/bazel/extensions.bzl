# Copyright 2026 The dispatchgen Authors
#
# Licensed under the Apache License v2.0 with LLVM Exceptions.
# See https://llvm.org/LICENSE.txt for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""The module extension that makes @iree_tools. For Bazel 6 and newer: nothing that Bazel 4 reads loads this file.

    iree_tools = use_extension("@dispatchgen//:extensions.bzl", "iree_tools")
    iree_tools.packages(names = ["magika"])  # only for models that Python packages ship
    use_repo(iree_tools, "iree_tools")
"""

load("//:repositories.bzl", "iree_tools_repository")

def _iree_tools_impl(mctx):
    packages = {name: None for module in mctx.modules for tag in module.tags.packages for name in tag.names}
    iree_tools_repository(
        name = "iree_tools",
        packages = sorted(packages),
    )

iree_tools = module_extension(
    implementation = _iree_tools_impl,
    doc = "Finds an installed IREE and dispatchgen: @iree_tools. See iree_tools_repository().",
    tag_classes = {
        "packages": tag_class(
            doc = "Python packages that ship models, for sources `package:<package>/<path>` of suites.",
            attrs = {
                "names": attr.string_list(
                    doc = "Names of importable packages.",
                    mandatory = True,
                ),
            },
        ),
    },
)
