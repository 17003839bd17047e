util.global private mutable @__buffer : !hal.buffer
util.initializer {
  %device, %affinity = hal.device.resolve on(#hal.device.affinity<@device>) : !hal.device, i64
  %allocator = hal.device.allocator<%device : !hal.device> : !hal.allocator
  %memory_type = hal.memory_type<"DeviceVisible|DeviceLocal"> : i32
  %usage = hal.buffer_usage<"TransferSource|TransferTarget|Transfer|DispatchStorageRead|DispatchStorageWrite|DispatchStorage"> : i32
  %size = arith.constant 1024 : index
  %buffer = hal.allocator.allocate<%allocator : !hal.allocator> affinity(%affinity) type(%memory_type) usage(%usage) : !hal.buffer{%size}
  %timeout = arith.constant -1 : i32
  %offset_zeros = arith.constant 0 : index
  %length_zeros = arith.constant 1024 : index
  %pattern_zeros = arith.constant 0 : i8
  %wait_zeros = util.null : !hal.fence
  %signal_zeros = hal.fence.create device(%device : !hal.device) flags("None") : !hal.fence
  hal.device.queue.fill<%device : !hal.device> affinity(%affinity) wait(%wait_zeros) signal(%signal_zeros) target(%buffer : !hal.buffer)[%offset_zeros] length(%length_zeros) pattern(%pattern_zeros : i8) flags("None")
  %status_zeros = hal.fence.await until([%signal_zeros]) timeout_millis(%timeout) flags("None") : i32
  util.status.check_ok %status_zeros, "failed to fill the buffer"
  %offset_binding0 = arith.constant 0 : index
  %length_binding0 = arith.constant 256 : index
  %pattern_binding0 = arith.constant 1069547520 : i32
  %wait_binding0 = util.null : !hal.fence
  %signal_binding0 = hal.fence.create device(%device : !hal.device) flags("None") : !hal.fence
  hal.device.queue.fill<%device : !hal.device> affinity(%affinity) wait(%wait_binding0) signal(%signal_binding0) target(%buffer : !hal.buffer)[%offset_binding0] length(%length_binding0) pattern(%pattern_binding0 : i32) flags("None")
  %status_binding0 = hal.fence.await until([%signal_binding0]) timeout_millis(%timeout) flags("None") : i32
  util.status.check_ok %status_binding0, "failed to fill the buffer"
  %scope = util.buffer.constant : !util.buffer = "data"
  %start = arith.constant 0 : i64
  %key_binding1 = util.buffer.constant : !util.buffer = "binding1"
  %at_binding1 = arith.constant 256 : index
  %bytes_binding1 = arith.constant 300 : index
  %wait_data = util.null : !hal.fence
  %signal_data = hal.fence.create device(%device : !hal.device) flags("None") : !hal.fence
  io_parameters.gather<%device : !hal.device> affinity(%affinity) wait(%wait_data) signal(%signal_data) {
    %scope::%key_binding1[%start] -> %buffer[%at_binding1 for %bytes_binding1] : !hal.buffer
  }
  %status_data = hal.fence.await until([%signal_data]) timeout_millis(%timeout) flags("None") : i32
  util.status.check_ok %status_data, "failed to read the data; it is in an archive: --parameters=data=FILE.irpa"
  util.global.store %buffer, @__buffer : !hal.buffer
  util.return
}
util.func public @matmul_Dx4_f32__B2(%batch_size: i32) {
  %count = arith.index_cast %batch_size : i32 to index
  %device, %affinity = hal.device.resolve on(#hal.device.affinity<@device>) : !hal.device, i64
  %commands = hal.command_buffer.create device(%device : !hal.device) mode("OneShot|AllowInlineExecution") categories(Dispatch) affinity(%affinity) : !hal.command_buffer
  %buffer = util.global.load @__buffer : !hal.buffer
  %workload0 = arith.constant 2 : index
  %constant0 = arith.constant -1 : i32
  %offset0 = arith.constant 0 : index
  %offset1 = arith.constant 256 : index
  %offset2 = arith.constant 768 : index
  %length0 = arith.constant 8 : index
  %length1 = arith.constant 300 : index
  %length2 = arith.constant 64 : index
  %x, %y, %z = hal.executable.calculate_workgroups device(%device : !hal.device) target(@executable::@variant::@export) workload([%workload0]) : index, index, index
  %executable = hal.executable.lookup device(%device : !hal.device) executable(@executable) : !hal.executable
  %function = hal.executable.lookup.function target(%executable : !hal.executable) function(@executable::@variant::@export) : i64
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %count step %c1 {
    hal.command_buffer.dispatch<%commands : !hal.command_buffer> target(%executable : !hal.executable)[%function] workgroups([%x, %y, %z]) constants([%constant0]) bindings([(%buffer : !hal.buffer)[%offset0, %length0], (%buffer : !hal.buffer)[%offset1, %length1], (%buffer : !hal.buffer)[%offset2, %length2]]) flags("None")
    hal.command_buffer.execution_barrier<%commands : !hal.command_buffer> source("Dispatch|CommandRetire") target("CommandIssue|Dispatch") flags("None")
  }
  hal.command_buffer.finalize<%commands : !hal.command_buffer>
  %wait = util.null : !hal.fence
  %signal = hal.fence.create device(%device : !hal.device) flags("None") : !hal.fence
  hal.device.queue.execute<%device : !hal.device> affinity(%affinity) wait(%wait) signal(%signal) commands(%commands) flags("None")
  %timeout = arith.constant -1 : i32
  %status = hal.fence.await until([%signal]) timeout_millis(%timeout) flags("None") : i32
  util.status.check_ok %status, "failed to wait for the dispatches"
  util.return
}
