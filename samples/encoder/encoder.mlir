// The start of a text encoder, as torch.export and iree-turbine make such programs: tokens pick rows of a table, and a
// layer follows. The sizes are dynamic, and the program states their ranges.
util.func public @main(%tokens: tensor<?x?xi64>, %table: tensor<5000x128xf32>, %weights: tensor<128x256xf32>) -> tensor<?x?x256xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %batch_dim = tensor.dim %tokens, %c0 : tensor<?x?xi64>
  %length_dim = tensor.dim %tokens, %c1 : tensor<?x?xi64>
  %batch, %length = util.assume.int %batch_dim<umin = 1, umax = 8>, %length_dim<umin = 16, umax = 128, udiv = 16> : index, index
  %rows = tensor.empty(%batch, %length) : tensor<?x?x128xf32>
  %embedded = linalg.generic {indexing_maps = [affine_map<(b, s, d) -> (b, s)>, affine_map<(b, s, d) -> (b, s, d)>],
      iterator_types = ["parallel", "parallel", "parallel"]} ins(%tokens : tensor<?x?xi64>) outs(%rows : tensor<?x?x128xf32>) {
  ^bb0(%token: i64, %out: f32):
    %row = arith.index_cast %token : i64 to index
    %column = linalg.index 2 : index
    %value = tensor.extract %table[%row, %column] : tensor<5000x128xf32>
    linalg.yield %value : f32
  } -> tensor<?x?x128xf32>
  %empty = tensor.empty(%batch, %length) : tensor<?x?x256xf32>
  %zeros = linalg.fill ins(%zero : f32) outs(%empty : tensor<?x?x256xf32>) -> tensor<?x?x256xf32>
  %product = linalg.generic {indexing_maps = [affine_map<(b, s, n, k) -> (b, s, k)>, affine_map<(b, s, n, k) -> (k, n)>,
      affine_map<(b, s, n, k) -> (b, s, n)>], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%embedded, %weights : tensor<?x?x128xf32>, tensor<128x256xf32>) outs(%zeros : tensor<?x?x256xf32>) {
  ^bb0(%a: f32, %b: f32, %sum: f32):
    %multiplied = arith.mulf %a, %b : f32
    %added = arith.addf %sum, %multiplied : f32
    linalg.yield %added : f32
  } -> tensor<?x?x256xf32>
  %activated = linalg.generic {indexing_maps = [affine_map<(b, s, n) -> (b, s, n)>, affine_map<(b, s, n) -> (b, s, n)>],
      iterator_types = ["parallel", "parallel", "parallel"]} ins(%product : tensor<?x?x256xf32>) outs(%empty : tensor<?x?x256xf32>) {
  ^bb0(%a: f32, %out: f32):
    %tanh = math.tanh %a : f32
    linalg.yield %tanh : f32
  } -> tensor<?x?x256xf32>
  util.return %activated : tensor<?x?x256xf32>
}
