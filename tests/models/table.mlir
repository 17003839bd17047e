// Rows of a table whose number of rows is dynamic, too.

func.func @main(%ids: tensor<?xi64>, %table: tensor<?x8xf32>) -> tensor<?x8xf32> {
  %c0 = arith.constant 0 : index
  %size = tensor.dim %ids, %c0 : tensor<?xi64>
  %empty = tensor.empty(%size) : tensor<?x8xf32>
  %result = linalg.generic {
      indexing_maps = [affine_map<(b, d) -> (b)>, affine_map<(b, d) -> (b, d)>],
      iterator_types = ["parallel", "parallel"]} ins(%ids : tensor<?xi64>) outs(%empty : tensor<?x8xf32>) {
  ^bb0(%id: i64, %out: f32):
    %row = arith.index_cast %id : i64 to index
    %column = linalg.index 1 : index
    %value = tensor.extract %table[%row, %column] : tensor<?x8xf32>
    linalg.yield %value : f32
  } -> tensor<?x8xf32>
  return %result : tensor<?x8xf32>
}
