// One operation, of any length: the dispatch that it becomes gives a kernel its bindings, workload and sizes.

func.func @main(%x: tensor<?xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {
  %two = arith.constant 2.0 : f32
  %c0 = arith.constant 0 : index
  %size = tensor.dim %x, %c0 : tensor<?xf32>
  %init = tensor.empty(%size) : tensor<?xf32>
  %result = linalg.generic {
      indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>],
      iterator_types = ["parallel"]}
      ins(%x, %y : tensor<?xf32>, tensor<?xf32>) outs(%init : tensor<?xf32>) {
  ^bb0(%xi: f32, %yi: f32, %out: f32):
    %product = arith.mulf %two, %xi : f32
    %sum = arith.addf %product, %yi : f32
    linalg.yield %sum : f32
  } -> tensor<?xf32>
  return %result : tensor<?xf32>
}
