#target = #hal.executable.target<"llvm-cpu", "embedded-elf-x86_64", {cpu = "generic", cpu_features = "", data_layout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128", debug_symbols = true, iree.encoding.resolver = #iree_cpu.cpu_encoding_resolver<>, max_stack_allocation_size = 32768 : i64, native_vector_size = 16 : i64, target_triple = "x86_64-unknown-unknown-eabi-elf"}>
#layout = #hal.pipeline.layout<constants = 4, bindings = [
  #hal.pipeline.binding<storage_buffer, "ReadOnly|Indirect">,
  #hal.pipeline.binding<storage_buffer, "ReadOnly|Indirect">,
  #hal.pipeline.binding<storage_buffer, Indirect>
], flags = Indirect>

hal.executable public @main_dispatch_0 {
  hal.executable.variant public @embedded_elf_x86_64 target(#target) {
    hal.executable.export public @main_dispatch_0_elementwise_D_f32 ordinal(0) layout(#layout)
        count(%device: !hal.device, %n: index, %m: index) -> (index, index, index) {
      %one = arith.constant 1 : index
      hal.return %one, %one, %one : index, index, index
    }
    builtin.module {
      func.func @main_dispatch_0_elementwise_D_f32() {
        %zero = arith.constant 0 : index
        %n = hal.interface.constant.load layout(#layout) ordinal(0) : i32
        %a = hal.interface.binding.subspan layout(#layout) binding(0) offset(%zero) : memref<f32>
        %b = hal.interface.binding.subspan layout(#layout) binding(1) offset(%zero) : memref<f32>
        %c = hal.interface.binding.subspan layout(#layout) binding(2) offset(%zero) : memref<f32>
        return
      }
    }
  }
}
