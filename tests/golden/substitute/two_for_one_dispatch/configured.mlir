module {
  hal.executable private @main_dispatch_0 {
  }
}
