# Copyright 2026 The dispatchgen Authors
#
# Licensed under the Apache License v2.0 with LLVM Exceptions.
# See https://llvm.org/LICENSE.txt for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# The steps from a model to the modules of its benchmarks.
#
# A step whose product may come out unchanged is cut off by content, on Ninja and on Makefiles alike:
#   - it writes only what changed, then touches a stamp; the stamp is the OUTPUT, the files are BYPRODUCTS
#     (_iree_dispatch_cut_off());
#   - a target of its own holds the stamp;
#   - the commands that use the files depend on the files, never on the stamp, and their target depends on that target.
#
# A step first removes its stamp, or its module, and what a command that failed left half made. Where a stamp or a module is
# missing a step failed, and what an earlier build left is not what was asked for: tests then fail.
#
# All functions read the variables of iree_dispatch_benchmark_suite(): _RULE_*, _TARGET and the other names, _DIR, _SRC,
# _SRC_DEPENDS, _PYTHON, _COMPILE_TOOL, _COMPILER, _COMPILE_TOOL_DEPENDS, _LINKER_FLAGS, _INPUTS, _DRIFT_ALLOWED, and those of
# _iree_dispatch_compile_flags().

include_guard(GLOBAL)

# _iree_dispatch_cut_off()
#
# Sets, in the caller's scope, what stands around the COMMAND of a step that is cut off by content: _BEGIN and _END.
#
# NEW is the file that the command writes, and PRODUCT the one that it replaces where they differ; both are empty where the
# command itself writes only what changed.
function(_iree_dispatch_cut_off STAMP NEW PRODUCT)
  set(_REMOVED "${STAMP}")
  set(_REPLACE "")
  if(NOT NEW STREQUAL "")
    list(APPEND _REMOVED "${NEW}")
    set(_REPLACE
      COMMAND "${CMAKE_COMMAND}" -E copy_if_different "${NEW}" "${PRODUCT}"
      COMMAND "${CMAKE_COMMAND}" -E rm "${NEW}"
    )
  endif()
  set(_BEGIN COMMAND "${CMAKE_COMMAND}" -E rm -rf ${_REMOVED} PARENT_SCOPE)  # NEW may be a folder of a user's command
  set(_END ${_REPLACE} COMMAND "${CMAKE_COMMAND}" -E touch "${STAMP}" PARENT_SCOPE)
endfunction()

# _iree_dispatch_import_step()
#
# `.onnx` sources: imports the program, once for all backends of the model. Sets, in the caller's scope, _SRC and _SRC_DEPENDS
# to the imported program, _SRC_TARGET to the target that makes it and _STAMPS to the stamps of all steps.
function(_iree_dispatch_import_step)
  set(_SRC_TARGET "" PARENT_SCOPE)
  set(_STAMPS "${_DIR}/configured.mlir.stamp" "${_DIR}/dispatches.stamp")
  set(_STAMPS "${_STAMPS}" PARENT_SCOPE)
  if(NOT _SRC MATCHES "\\.onnx$")
    return()
  endif()
  set(_IMPORTED "${CMAKE_CURRENT_BINARY_DIR}/${_RULE_MODEL}/imported.mlir")
  set(_SIGNATURE "${_SRC};${_RULE_IMPORT_FLAGS}")
  if(TARGET "${_IMPORT_TARGET}")
    get_target_property(_OTHER_SIGNATURE "${_IMPORT_TARGET}" IREE_DISPATCH_SIGNATURE)
    if(NOT _OTHER_SIGNATURE STREQUAL _SIGNATURE)
      message(SEND_ERROR "iree_dispatch_benchmark_suite(${_RULE_NAME}): SRC and IMPORT_FLAGS differ from those of "
        "another suite of model ${_RULE_MODEL}")
    endif()
  else()
    cmake_path(GET _PLACE PARENT_PATH _MODEL_PLACE)
    get_property(_IMPORTER_VERSION GLOBAL PROPERTY _IREE_DISPATCH_IMPORTER_VERSION)
    _iree_dispatch_cut_off("${_IMPORTED}.stamp" "${_IMPORTED}.new" "${_IMPORTED}")
    _iree_dispatch_record("${_IMPORTED}")
    add_custom_command(
      OUTPUT
        "${_IMPORTED}.stamp"
      BYPRODUCTS
        "${_IMPORTED}"
        ${_RECORD}
      ${_BEGIN}
      COMMAND
        ${_RECORDED} "${_PYTHON}" -m iree.compiler.tools.import_onnx "${_SRC}" ${_RULE_IMPORT_FLAGS} -o "${_IMPORTED}.new"
      ${_END}
      DEPENDS
        ${_SRC_DEPENDS}
        "${_IMPORTER_VERSION}"
      COMMENT "Importing ${_MODEL_PLACE}"
      VERBATIM
    )
    add_custom_target("${_IMPORT_TARGET}" DEPENDS "${_IMPORTED}.stamp")
    set_target_properties("${_IMPORT_TARGET}" PROPERTIES IREE_DISPATCH_SIGNATURE "${_SIGNATURE}")
  endif()
  set(_SRC "${_IMPORTED}" PARENT_SCOPE)
  set(_SRC_DEPENDS "${_IMPORTED}" PARENT_SCOPE)
  set(_SRC_TARGET "${_IMPORT_TARGET}" PARENT_SCOPE)
  set(_STAMPS "${_IMPORTED}.stamp" ${_STAMPS} PARENT_SCOPE)
endfunction()

# _iree_dispatch_configure_step()
#
# Compiles the program up to configured executables: configured.mlir.
function(_iree_dispatch_configure_step)
  set(_CONFIGURED "${_DIR}/configured.mlir")
  _iree_dispatch_suite_dir(_SUITE_DIR)
  _iree_dispatch_cut_off("${_CONFIGURED}.stamp" "${_CONFIGURED}.new" "${_CONFIGURED}")
  _iree_dispatch_record("${_CONFIGURED}")
  add_custom_command(
    OUTPUT
      "${_CONFIGURED}.stamp"
    BYPRODUCTS
      "${_CONFIGURED}"
      ${_RECORD}
    ${_BEGIN}
    COMMAND
      ${_RECORDED_COMPILE} --compile-to=executable-configurations ${_LINKER_FLAGS} ${_RULE_COMPILE_FLAGS} "${_SRC}" -o "${_CONFIGURED}.new"
    ${_END}
    DEPENDS
      ${_SRC_DEPENDS}
      ${_INPUTS}
      ${_COMPILE_TOOL_DEPENDS}
    WORKING_DIRECTORY "${_SUITE_DIR}"  # where relative paths in flags start, as for `dispatchgen lock`
    COMMENT "Configuring ${_PLACE}"
    VERBATIM
  )
  add_custom_target("${_CONFIGURE_TARGET}" DEPENDS "${_CONFIGURED}.stamp")
  if(_SRC_TARGET)
    add_dependencies("${_CONFIGURE_TARGET}" "${_SRC_TARGET}")
  endif()
endfunction()

# _iree_dispatch_extract_step()
#
# Writes a benchmark module for each dispatch of configured.mlir, a flag file for each call of the whole model, and the data
# that both need: an archive beside the module, files of inputs beside the flag file. Where only a file of DATA changes, these
# change alone, and nothing is compiled.
function(_iree_dispatch_extract_step)
  get_property(_CODE_STAMP GLOBAL PROPERTY _IREE_DISPATCH_CODE_STAMP)
  _iree_dispatch_absolute("${_RULE_LOCK}" _LOCK)
  _iree_dispatch_listed(_LISTED)
  _iree_dispatch_suite_dir(_SUITE_DIR)
  _iree_dispatch_absolute_paths(_RULE_DATA _DATA)
  _iree_dispatch_depends(_DATA ${_DATA})
  list(TRANSFORM _RULE_DISPATCHES APPEND ".mlir")
  list(TRANSFORM _RULE_ARCHIVES APPEND ".irpa")
  list(TRANSFORM _RULE_CALLS APPEND ".flags")
  set(_WRITTEN ${_RULE_DISPATCHES} ${_RULE_ARCHIVES} ${_RULE_CALLS} ${_RULE_CALL_INPUTS} index.json written.txt)
  set(_DRIFT_FLAGS "")
  if(_DRIFT_ALLOWED)
    set(_DRIFT_FLAGS --drift allow)
    list(APPEND _WRITTEN drift.txt)
  endif()
  list(TRANSFORM _WRITTEN PREPEND "${_DIR}/dispatches/")
  _iree_dispatch_cut_off("${_DIR}/dispatches.stamp" "" "")
  _iree_dispatch_record("${_DIR}/dispatches")
  add_custom_command(
    OUTPUT
      "${_DIR}/dispatches.stamp"
    BYPRODUCTS
      ${_WRITTEN}
      ${_RECORD}
    ${_BEGIN}
    COMMAND
      ${_RECORDED} "${_PYTHON}" -m dispatchgen extract "${_DIR}/configured.mlir" --lock "${_LOCK}" --backend "${_RULE_BACKEND}"
      --output "${_DIR}/dispatches" --listed "${_LISTED}" ${_DRIFT_FLAGS} --iree-compile "${_COMPILER}"
      --root "${_SUITE_DIR}"
    ${_END}
    DEPENDS
      "${_DIR}/configured.mlir"
      "${_LOCK}"
      ${_DATA}
      "${_CODE_STAMP}"
    COMMENT "Extracting ${_PLACE}"
    VERBATIM
  )
  add_custom_target("${_EXTRACT_TARGET}" DEPENDS "${_DIR}/dispatches.stamp")
  add_dependencies("${_EXTRACT_TARGET}"
    iree-dispatch-code
    "${_CONFIGURE_TARGET}"
  )
endfunction()

# _iree_dispatch_listed()
#
# Sets OUT to the SHA-256 of the names of the suite's dispatches, calls and files, as `listed_digest` of dispatchgen's
# lock/modules.py computes it from the lock: a lock that was renewed without generating again is found out.
function(_iree_dispatch_listed OUT)
  list(SORT _RULE_DISPATCHES)
  list(SORT _RULE_CALLS)
  list(JOIN _RULE_DISPATCHES "\n" _DISPATCHES)
  list(JOIN _RULE_CALLS "\n" _CALLS)
  set(_TEXT "${_DISPATCHES}\n\n${_CALLS}")
  list(TRANSFORM _RULE_ARCHIVES PREPEND "archive=")
  list(TRANSFORM _RULE_CALL_INPUTS PREPEND "input=")
  list(TRANSFORM _RULE_DATA PREPEND "data=")
  set(_FILES ${_RULE_ARCHIVES} ${_RULE_CALL_INPUTS} ${_RULE_DATA})
  if(NOT "${_FILES}" STREQUAL "")
    list(SORT _FILES)
    list(JOIN _FILES "\n" _FILES)
    string(REPLACE "$<1:$><" "$<" _FILES "${_FILES}")  # as build files write it, for generator expressions
    string(APPEND _TEXT "\n\n${_FILES}")
  endif()
  string(SHA256 _DIGEST "${_TEXT}")
  set(${OUT} "${_DIGEST}" PARENT_SCOPE)
endfunction()

# _iree_dispatch_compile_flags()
#
# Sets, in the caller's scope, _MODULE_FLAGS to the flags of the suite for what is configured, and _MODULE_INPUTS to what
# steps depend on by the files that they name, with absolute paths: modules are compiled in their own folder. A tuning
# specification is of no more use there.
function(_iree_dispatch_compile_flags)
  set(_FLAGS "")
  set(_FILES "")
  foreach(_FLAG IN LISTS _RULE_COMPILE_FLAGS)
    if(_FLAG MATCHES "^--iree-codegen-tuning-spec-path=")
      continue()
    endif()
    foreach(_NAME IN ITEMS "^[^=]*=" "^.*=")  # `--<flag>=<file>` and `--<flag>=<scope>=<file>`
      string(REGEX REPLACE "${_NAME}" "" _FILE "${_FLAG}")
      if(_FILE IN_LIST _RULE_INPUTS)
        string(REGEX MATCH "${_NAME}" _START "${_FLAG}")
        _iree_dispatch_absolute("${_FILE}" _FILE)
        list(APPEND _FILES "${_FILE}")
        set(_FLAG "${_START}${_FILE}")
        break()
      endif()
    endforeach()
    string(REPLACE ";" "\\;" _FLAG "${_FLAG}")  # foreach() took the backslash away
    list(APPEND _FLAGS "${_FLAG}")
  endforeach()
  set(_MODULE_FLAGS "${_FLAGS}" PARENT_SCOPE)
  _iree_dispatch_depends(_FILES ${_FILES})
  set(_MODULE_INPUTS "${_FILES}" PARENT_SCOPE)
endfunction()

# _iree_dispatch_compile_step()
#
# Compiles each benchmark module and, where there are calls of it, the whole model with the same flags. The target is the
# suite's own, unless there are substitutions. Then what they are compared with has targets too.
function(_iree_dispatch_compile_step)
  set(_OUTPUTS "")
  if(NOT "${_RULE_CALLS}" STREQUAL "")
    _iree_dispatch_compile("${_DIR}" "configured.mlir" "model.vmfb" "Compiling ${_PLACE}/model.vmfb (whole model)")
    list(APPEND _OUTPUTS "${_DIR}/model.vmfb")
  endif()
  foreach(_DISPATCH IN LISTS _RULE_DISPATCHES)
    _iree_dispatch_compile("${_DIR}" "dispatches/${_DISPATCH}.mlir" "${_DISPATCH}.vmfb"
      "Compiling ${_PLACE}/${_DISPATCH}.vmfb")
    list(APPEND _OUTPUTS "${_DIR}/${_DISPATCH}.vmfb")
  endforeach()
  get_property(_BENCHMARK_TOOL GLOBAL PROPERTY _IREE_DISPATCH_BENCHMARK_TOOL)
  add_custom_target("${_MODULES_TARGET}" DEPENDS ${_OUTPUTS})
  add_dependencies("${_MODULES_TARGET}" "${_EXTRACT_TARGET}")
  foreach(_COMPARED IN LISTS _REPLACED)
    set(_COMPARED_TARGET "${_MODULES_TARGET}.${_COMPARED}")
    add_custom_target("${_COMPARED_TARGET}" DEPENDS "${_DIR}/${_COMPARED}.vmfb")
    add_dependencies("${_COMPARED_TARGET}" "${_EXTRACT_TARGET}")
    add_dependencies("${_MODULES_TARGET}" "${_COMPARED_TARGET}")  # two targets must not make one file at once
  endforeach()
  if(TARGET "${_BENCHMARK_TOOL}")
    add_dependencies("${_MODULES_TARGET}" "${_BENCHMARK_TOOL}")
  endif()
endfunction()

# _iree_dispatch_compile()
#
# Compiles SRC, whose executables are configured; SRC and OUTPUT are relative to FOLDER. Configured a second time, some
# would fail to compile. IREE writes the path that it is given into modules for GPUs: a relative one is the same in every
# build tree.
#
# Object files that IREE links into the module follow as further arguments. SRC names them relative to the folder above.
function(_iree_dispatch_compile FOLDER SRC OUTPUT COMMENT)
  set(_OBJECT_FLAGS "")
  if(ARGN)
    set(_OBJECT_FLAGS "--iree-hal-executable-object-search-path=..")
  endif()
  _iree_dispatch_record("${FOLDER}/${OUTPUT}")
  add_custom_command(
    OUTPUT
      "${FOLDER}/${OUTPUT}"
    BYPRODUCTS
      ${_RECORD}
    COMMAND
      "${CMAKE_COMMAND}" -E rm -f "${FOLDER}/${OUTPUT}"
    COMMAND
      ${_RECORDED_COMPILE} --compile-from=executable-configurations ${_LINKER_FLAGS} ${_MODULE_FLAGS} ${_OBJECT_FLAGS}
      "${SRC}" -o "${FOLDER}/${OUTPUT}"
    DEPENDS
      "${FOLDER}/${SRC}"
      ${ARGN}
      ${_MODULE_INPUTS}
      ${_COMPILE_TOOL_DEPENDS}
    WORKING_DIRECTORY "${FOLDER}"
    COMMENT "${COMMENT}"
    VERBATIM
  )
endfunction()
