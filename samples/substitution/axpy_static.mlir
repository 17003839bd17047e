// The same operation for one length: the dispatch that it becomes gives a kernel its bindings, workload and sizes.

func.func @main(%x: tensor<4096xf32>, %y: tensor<4096xf32>) -> tensor<4096xf32> {
  %two = arith.constant 2.0 : f32
  %init = tensor.empty() : tensor<4096xf32>
  %result = linalg.generic {
      indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>],
      iterator_types = ["parallel"]}
      ins(%x, %y : tensor<4096xf32>, tensor<4096xf32>) outs(%init : tensor<4096xf32>) {
  ^bb0(%xi: f32, %yi: f32, %out: f32):
    %product = arith.mulf %two, %xi : f32
    %sum = arith.addf %product, %yi : f32
    linalg.yield %sum : f32
  } -> tensor<4096xf32>
  return %result : tensor<4096xf32>
}
