// What decides, on the host, which dispatches run and how often: a function that is called in several places, a branch on a
// size, a loop with a trip count that is an argument, and a size that is kept from call to call in a global.

util.global private @weights = dense<1.5> : tensor<64x64xf32>
// Rows of the ramp below; grows by one with each call of @main.
util.global private mutable @ramp_rows = 3 : index

// One matmul. Never inlined: its callers share one dispatch.
util.func private @layer(%x: tensor<?x64xf32>, %weights: tensor<64x64xf32>) -> tensor<?x64xf32>
    attributes {inlining_policy = #util.inline.never} {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %rows = tensor.dim %x, %c0 : tensor<?x64xf32>
  %empty = tensor.empty(%rows) : tensor<?x64xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<?x64xf32>) -> tensor<?x64xf32>
  %product = linalg.matmul
      ins(%x, %weights : tensor<?x64xf32>, tensor<64x64xf32>)
      outs(%init : tensor<?x64xf32>) -> tensor<?x64xf32>
  util.return %product : tensor<?x64xf32>
}

util.func public @main(%x: tensor<?x64xf32>, %y: tensor<?x64xf32>, %steps: index) -> tensor<?x64xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c128 = arith.constant 128 : index
  %weights = util.global.load @weights : tensor<64x64xf32>

  %layer_x = util.call @layer(%x, %weights) : (tensor<?x64xf32>, tensor<64x64xf32>) -> tensor<?x64xf32>
  %layer_y = util.call @layer(%y, %weights) : (tensor<?x64xf32>, tensor<64x64xf32>) -> tensor<?x64xf32>

  // More than 128 rows go through the layer a second time.
  %rows = tensor.dim %x, %c0 : tensor<?x64xf32>
  %is_large = arith.cmpi ugt, %rows, %c128 : index
  %start = scf.if %is_large -> tensor<?x64xf32> {
    %again = util.call @layer(%layer_x, %weights) : (tensor<?x64xf32>, tensor<64x64xf32>) -> tensor<?x64xf32>
    scf.yield %again : tensor<?x64xf32>
  } else {
    scf.yield %layer_y : tensor<?x64xf32>
  }

  // tanh, %steps times.
  %result = scf.for %step = %c0 to %steps step %c1 iter_args(%previous = %start) -> tensor<?x64xf32> {
    %previous_rows = tensor.dim %previous, %c0 : tensor<?x64xf32>
    %empty = tensor.empty(%previous_rows) : tensor<?x64xf32>
    %next = linalg.generic {
        indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>],
        iterator_types = ["parallel", "parallel"]}
        ins(%previous : tensor<?x64xf32>) outs(%empty : tensor<?x64xf32>) {
    ^bb0(%in: f32, %out: f32):
      %tanh = math.tanh %in : f32
      linalg.yield %tanh : f32
    } -> tensor<?x64xf32>
    scf.yield %next : tensor<?x64xf32>
  }

  // A ramp whose size comes from the global; nothing uses it, so the barrier keeps it.
  %ramp_rows = util.global.load @ramp_rows : index
  %ramp_empty = tensor.empty(%ramp_rows) : tensor<?x64xf32>
  %ramp = linalg.generic {
      indexing_maps = [affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      outs(%ramp_empty : tensor<?x64xf32>) {
  ^bb0(%out: f32):
    %row = linalg.index 0 : index
    %row_i32 = arith.index_cast %row : index to i32
    %row_f32 = arith.sitofp %row_i32 : i32 to f32
    linalg.yield %row_f32 : f32
  } -> tensor<?x64xf32>
  %kept = util.optimization_barrier %ramp : tensor<?x64xf32>
  %more_rows = arith.addi %ramp_rows, %c1 : index
  util.global.store %more_rows, @ramp_rows : index

  util.return %result : tensor<?x64xf32>
}
