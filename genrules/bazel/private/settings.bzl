# Copyright 2026 The dispatchgen Authors
#
# Licensed under the Apache License v2.0 with LLVM Exceptions.
# See https://llvm.org/LICENSE.txt for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Flags of the command line, `--@dispatchgen//:NAME=VALUE`."""

load(":providers.bzl", "IreeDispatchSettingInfo")

def _string_flag_impl(ctx):
    value = ctx.build_setting_value
    if value not in ctx.attr.values:
        fail("--%s=%s: the value must be one of: %s" % (
            ctx.label,
            value,
            ", ".join([allowed for allowed in ctx.attr.values if allowed]),
        ))
    return [IreeDispatchSettingInfo(value = value)]

iree_dispatch_string_flag = rule(
    implementation = _string_flag_impl,
    doc = "A flag that has one of a few values.",
    attrs = {
        "values": attr.string_list(
            doc = "The values that the flag may have.",
            mandatory = True,
        ),
    },
    build_setting = config.string(flag = True),
)
