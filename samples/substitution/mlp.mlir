// A small two-layer perceptron with a batch that is known only when it runs: a dispatch per layer.

func.func @main(
    %features: tensor<?x64xf32>,
    %hidden_weights: tensor<64x48xf32>, %hidden_bias: tensor<48xf32>,
    %class_weights: tensor<48x10xf32>, %class_bias: tensor<10xf32>) -> tensor<?x10xf32> {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %batch = tensor.dim %features, %c0 : tensor<?x64xf32>

  // hidden = max(features x hidden_weights + hidden_bias, 0)
  %hidden_init = tensor.empty(%batch) : tensor<?x48xf32>
  %hidden_zero = linalg.fill ins(%zero : f32) outs(%hidden_init : tensor<?x48xf32>) -> tensor<?x48xf32>
  %hidden_product = linalg.matmul
      ins(%features, %hidden_weights : tensor<?x64xf32>, tensor<64x48xf32>)
      outs(%hidden_zero : tensor<?x48xf32>) -> tensor<?x48xf32>
  %hidden = linalg.generic {
      indexing_maps = [affine_map<(b, h) -> (b, h)>, affine_map<(b, h) -> (h)>, affine_map<(b, h) -> (b, h)>],
      iterator_types = ["parallel", "parallel"]}
      ins(%hidden_product, %hidden_bias : tensor<?x48xf32>, tensor<48xf32>)
      outs(%hidden_init : tensor<?x48xf32>) {
  ^bb0(%product: f32, %bias: f32, %out: f32):
    %sum = arith.addf %product, %bias : f32
    %relu = arith.maximumf %sum, %zero : f32
    linalg.yield %relu : f32
  } -> tensor<?x48xf32>

  // classes = hidden x class_weights + class_bias
  %class_init = tensor.empty(%batch) : tensor<?x10xf32>
  %class_zero = linalg.fill ins(%zero : f32) outs(%class_init : tensor<?x10xf32>) -> tensor<?x10xf32>
  %class_product = linalg.matmul
      ins(%hidden, %class_weights : tensor<?x48xf32>, tensor<48x10xf32>)
      outs(%class_zero : tensor<?x10xf32>) -> tensor<?x10xf32>
  %classes = linalg.generic {
      indexing_maps = [affine_map<(b, c) -> (b, c)>, affine_map<(b, c) -> (c)>, affine_map<(b, c) -> (b, c)>],
      iterator_types = ["parallel", "parallel"]}
      ins(%class_product, %class_bias : tensor<?x10xf32>, tensor<10xf32>)
      outs(%class_init : tensor<?x10xf32>) {
  ^bb0(%product: f32, %bias: f32, %out: f32):
    %sum = arith.addf %product, %bias : f32
    linalg.yield %sum : f32
  } -> tensor<?x10xf32>
  return %classes : tensor<?x10xf32>
}
