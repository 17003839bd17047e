module {
  util.global private @__device_0 = #hal.device.target<"vulkan", [#hal.executable.target<"vulkan-spirv", "vulkan-spirv-fb", {iree_codegen.target_info = #iree_gpu.target<arch = "vp_android_baseline_2022", features = "spirv:v1.3,cap:Shader", wgp = <compute = fp32|int32, storage = b32, subgroup = none, subgroup_size_choices = [64], max_workgroup_sizes = [128, 128, 64], max_thread_count_per_workgroup = 128, max_workgroup_memory_bytes = 16384, max_workgroup_counts = [65535, 65535, 65535]>>}>]> : !hal.device
  hal.executable private @elementwise_D_f32_executable {
    hal.executable.variant public @vulkan_spirv_fb target(<"vulkan-spirv", "vulkan-spirv-fb", {iree_codegen.target_info = #iree_gpu.target<arch = "vp_android_baseline_2022", features = "spirv:v1.3,cap:Shader", wgp = <compute = fp32|int32, storage = b32, subgroup = none, subgroup_size_choices = [64], max_workgroup_sizes = [128, 128, 64], max_thread_count_per_workgroup = 128, max_workgroup_memory_bytes = 16384, max_workgroup_counts = [65535, 65535, 65535]>>}>) {
      hal.executable.export public @elementwise_D_f32 ordinal(0) layout(#hal.pipeline.layout<constants = 4, bindings = [#hal.pipeline.binding<storage_buffer, "ReadOnly|Indirect">, #hal.pipeline.binding<storage_buffer, "ReadOnly|Indirect">, #hal.pipeline.binding<storage_buffer, Indirect>], flags = Indirect>) count(%arg0: !hal.device, %arg1: index, %arg2: index) -> (index, index, index) {
        %x, %y, %z = iree_tensor_ext.dispatch.workgroup_count_from_slice(%arg1, %arg2)
        hal.return %x, %y, %z : index, index, index
      }
      builtin.module {
        func.func @elementwise_D_f32() attributes {translation_info = #iree_codegen.translation_info<pipeline = #iree_gpu.spirv_pipeline<BaseDistribute> workgroup_size = [64, 1, 1]>} {
          %c32_i64 = arith.constant 32 : i64
          %c0 = arith.constant 0 : index
          %0 = hal.interface.constant.load layout(<constants = 4, bindings = [#hal.pipeline.binding<storage_buffer, "ReadOnly|Indirect">, #hal.pipeline.binding<storage_buffer, "ReadOnly|Indirect">, #hal.pipeline.binding<storage_buffer, Indirect>], flags = Indirect>) ordinal(0) : i32
          %1 = hal.interface.constant.load layout(<constants = 4, bindings = [#hal.pipeline.binding<storage_buffer, "ReadOnly|Indirect">, #hal.pipeline.binding<storage_buffer, "ReadOnly|Indirect">, #hal.pipeline.binding<storage_buffer, Indirect>], flags = Indirect>) ordinal(1) : i32
          %2 = hal.interface.constant.load layout(<constants = 4, bindings = [#hal.pipeline.binding<storage_buffer, "ReadOnly|Indirect">, #hal.pipeline.binding<storage_buffer, "ReadOnly|Indirect">, #hal.pipeline.binding<storage_buffer, Indirect>], flags = Indirect>) ordinal(2) : i32
          %3 = hal.interface.constant.load layout(<constants = 4, bindings = [#hal.pipeline.binding<storage_buffer, "ReadOnly|Indirect">, #hal.pipeline.binding<storage_buffer, "ReadOnly|Indirect">, #hal.pipeline.binding<storage_buffer, Indirect>], flags = Indirect>) ordinal(3) : i32
          %4 = arith.extui %0 : i32 to i64
          %5 = arith.extui %1 : i32 to i64
          %6 = arith.shli %5, %c32_i64 : i64
          %7 = arith.ori %4, %6 : i64
          %8 = arith.index_castui %7 : i64 to index
          %9 = arith.extui %2 : i32 to i64
          %10 = arith.extui %3 : i32 to i64
          %11 = arith.shli %10, %c32_i64 : i64
          %12 = arith.ori %9, %11 : i64
          %13 = arith.index_castui %12 : i64 to index
          %14:2 = util.assume.int 
              %8<umin = 0, umax = 9007199254740991>, 
              %13<umin = 0, umax = 9007199254740991>
            : index, index
          %15 = iree_tensor_ext.dispatch.workload.ordinal %14#0, 0 : index
          %16 = iree_tensor_ext.dispatch.workload.ordinal %14#1, 1 : index
          %17 = hal.interface.binding.subspan layout(<constants = 4, bindings = [#hal.pipeline.binding<storage_buffer, "ReadOnly|Indirect">, #hal.pipeline.binding<storage_buffer, "ReadOnly|Indirect">, #hal.pipeline.binding<storage_buffer, Indirect>], flags = Indirect>) binding(0) alignment(64) offset(%c0) flags("ReadOnly|Indirect") : !iree_tensor_ext.dispatch.tensor<readonly:tensor<?xf32>>{%16}
          %18 = hal.interface.binding.subspan layout(<constants = 4, bindings = [#hal.pipeline.binding<storage_buffer, "ReadOnly|Indirect">, #hal.pipeline.binding<storage_buffer, "ReadOnly|Indirect">, #hal.pipeline.binding<storage_buffer, Indirect>], flags = Indirect>) binding(1) alignment(64) offset(%c0) flags("ReadOnly|Indirect") : !iree_tensor_ext.dispatch.tensor<readonly:tensor<?xf32>>{%15}
          %19 = hal.interface.binding.subspan layout(<constants = 4, bindings = [#hal.pipeline.binding<storage_buffer, "ReadOnly|Indirect">, #hal.pipeline.binding<storage_buffer, "ReadOnly|Indirect">, #hal.pipeline.binding<storage_buffer, Indirect>], flags = Indirect>) binding(2) alignment(64) offset(%c0) flags(Indirect) : !iree_tensor_ext.dispatch.tensor<writeonly:tensor<?xf32>>{%16}
          %20 = iree_tensor_ext.dispatch.tensor.load %17, offsets = [0], sizes = [%16], strides = [1] : !iree_tensor_ext.dispatch.tensor<readonly:tensor<?xf32>>{%16} -> tensor<?xf32>
          %21 = iree_tensor_ext.dispatch.tensor.load %18, offsets = [0], sizes = [%15], strides = [1] : !iree_tensor_ext.dispatch.tensor<readonly:tensor<?xf32>>{%15} -> tensor<?xf32>
          %22 = tensor.empty(%16) : tensor<?xf32>
          %23 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%20, %21 : tensor<?xf32>, tensor<?xf32>) outs(%22 : tensor<?xf32>) attrs =  {lowering_config = #iree_codegen.lowering_config<tile_sizes = [[64], [1]]>} {
          ^bb0(%in: f32, %in_0: f32, %out: f32):
            %24 = arith.mulf %in, %in_0 : f32
            linalg.yield %24 : f32
          } -> tensor<?xf32>
          iree_tensor_ext.dispatch.tensor.store %23, %19, offsets = [0], sizes = [%16], strides = [1] : tensor<?xf32> -> !iree_tensor_ext.dispatch.tensor<writeonly:tensor<?xf32>>{%16}
          return
        }
        iree_codegen.dispatch_config @elementwise_D_f32 {
        ^bb0(%arg0: !hal.device, %arg1: index, %arg2: index):
          %x, %y, %z = iree_tensor_ext.dispatch.workgroup_count_from_slice(%arg1, %arg2)
          iree_codegen.yield %x, %y, %z : index, index, index
        }
      }
    }
  }
  util.global private mutable @__buffer : !hal.buffer
  util.initializer {
    %device, %affinity = hal.device.resolve on(#hal.device.affinity<@__device_0>) : !hal.device, i64
    %allocator = hal.device.allocator<%device : !hal.device> : !hal.allocator
    %memory_type = hal.memory_type<"DeviceVisible|DeviceLocal"> : i32
    %usage = hal.buffer_usage<"TransferSource|TransferTarget|Transfer|DispatchStorageRead|DispatchStorageWrite|DispatchStorage"> : i32
    %size = arith.constant 768 : index
    %buffer = hal.allocator.allocate<%allocator : !hal.allocator> affinity(%affinity) type(%memory_type) usage(%usage) : !hal.buffer{%size}
    %offset = arith.constant 0 : index
    %zero = arith.constant 0 : i8
    %wait = util.null : !hal.fence
    %signal = hal.fence.create device(%device : !hal.device) flags("None") : !hal.fence
    hal.device.queue.fill<%device : !hal.device> affinity(%affinity) wait(%wait) signal(%signal) target(%buffer : !hal.buffer)[%offset] length(%size) pattern(%zero : i8) flags("None")
    %timeout = arith.constant -1 : i32
    %status = hal.fence.await until([%signal]) timeout_millis(%timeout) flags("None") : i32
    util.status.check_ok %status, "failed to fill the buffer"
    util.global.store %buffer, @__buffer : !hal.buffer
    util.return
  }
  util.func public @elementwise_D_f32__c0(%batch_size: i32) attributes {iree.abi.stub, iree.reflection = {iree.benchmark = "dispatch"}} {
    %count = arith.index_cast %batch_size : i32 to index
    %device, %affinity = hal.device.resolve on(#hal.device.affinity<@__device_0>) : !hal.device, i64
    %commands = hal.command_buffer.create device(%device : !hal.device) mode("OneShot|AllowInlineExecution") categories(Dispatch) affinity(%affinity) : !hal.command_buffer
    %buffer = util.global.load @__buffer : !hal.buffer
    %workload0 = arith.constant 5 : index
    %workload1 = arith.constant 5 : index
    %constant0 = arith.constant 5 : i32
    %constant1 = arith.constant 0 : i32
    %constant2 = arith.constant 5 : i32
    %constant3 = arith.constant 0 : i32
    %offset0 = arith.constant 0 : index
    %offset1 = arith.constant 256 : index
    %offset2 = arith.constant 512 : index
    %length0 = arith.constant 20 : index
    %length1 = arith.constant 20 : index
    %length2 = arith.constant 20 : index
    %x, %y, %z = hal.executable.calculate_workgroups device(%device : !hal.device) target(@elementwise_D_f32_executable::@vulkan_spirv_fb::@elementwise_D_f32) workload([%workload0, %workload1]) : index, index, index
    %executable = hal.executable.lookup device(%device : !hal.device) executable(@elementwise_D_f32_executable) : !hal.executable
    %function = hal.executable.lookup.function target(%executable : !hal.executable) function(@elementwise_D_f32_executable::@vulkan_spirv_fb::@elementwise_D_f32) : i64
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    scf.for %i = %c0 to %count step %c1 {
      hal.command_buffer.dispatch<%commands : !hal.command_buffer> target(%executable : !hal.executable)[%function] workgroups([%x, %y, %z]) constants([%constant0, %constant1, %constant2, %constant3]) bindings([(%buffer : !hal.buffer)[%offset0, %length0], (%buffer : !hal.buffer)[%offset1, %length1], (%buffer : !hal.buffer)[%offset2, %length2]]) flags("None")
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
}
