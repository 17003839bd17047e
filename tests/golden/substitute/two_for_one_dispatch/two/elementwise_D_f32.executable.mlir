hal.executable private @elementwise_D_f32_executable {
}
