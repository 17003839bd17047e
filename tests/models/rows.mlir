// Rows of a table, each scaled: one input is an index, the other of the same type is not.

func.func @main(%table: tensor<64xf32>, %rows: tensor<8xi32>, %scales: tensor<8xi32>) -> tensor<8xf32> {
  %empty = tensor.empty() : tensor<8xf32>
  %result = linalg.generic {
      indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>],
      iterator_types = ["parallel"]}
      ins(%rows, %scales : tensor<8xi32>, tensor<8xi32>) outs(%empty : tensor<8xf32>) {
  ^bb0(%in: i32, %scale: i32, %out: f32):
    %row = arith.index_cast %in : i32 to index
    %value = tensor.extract %table[%row] : tensor<64xf32>
    %factor = arith.sitofp %scale : i32 to f32
    %product = arith.mulf %value, %factor : f32
    linalg.yield %product : f32
  } -> tensor<8xf32>
  return %result : tensor<8xf32>
}
