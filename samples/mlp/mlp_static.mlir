// A two-layer perceptron for 28x28 pictures of digits, with a batch of 32.

func.func @main(
    %pictures: tensor<32x784xf32>,
    %hidden_weights: tensor<784x512xf32>, %hidden_bias: tensor<512xf32>,
    %class_weights: tensor<512x10xf32>, %class_bias: tensor<10xf32>) -> tensor<32x10xf32> {
  %zero = arith.constant 0.0 : f32

  // hidden = max(pictures x hidden_weights + hidden_bias, 0)
  %hidden_init = tensor.empty() : tensor<32x512xf32>
  %hidden_zero = linalg.fill ins(%zero : f32) outs(%hidden_init : tensor<32x512xf32>) -> tensor<32x512xf32>
  %hidden_product = linalg.matmul
      ins(%pictures, %hidden_weights : tensor<32x784xf32>, tensor<784x512xf32>)
      outs(%hidden_zero : tensor<32x512xf32>) -> tensor<32x512xf32>
  %hidden = linalg.generic {
      indexing_maps = [affine_map<(b, h) -> (b, h)>, affine_map<(b, h) -> (h)>, affine_map<(b, h) -> (b, h)>],
      iterator_types = ["parallel", "parallel"]}
      ins(%hidden_product, %hidden_bias : tensor<32x512xf32>, tensor<512xf32>)
      outs(%hidden_init : tensor<32x512xf32>) {
  ^bb0(%product: f32, %bias: f32, %out: f32):
    %sum = arith.addf %product, %bias : f32
    %relu = arith.maximumf %sum, %zero : f32
    linalg.yield %relu : f32
  } -> tensor<32x512xf32>

  // classes = hidden x class_weights + class_bias
  %class_init = tensor.empty() : tensor<32x10xf32>
  %class_zero = linalg.fill ins(%zero : f32) outs(%class_init : tensor<32x10xf32>) -> tensor<32x10xf32>
  %class_product = linalg.matmul
      ins(%hidden, %class_weights : tensor<32x512xf32>, tensor<512x10xf32>)
      outs(%class_zero : tensor<32x10xf32>) -> tensor<32x10xf32>
  %classes = linalg.generic {
      indexing_maps = [affine_map<(b, c) -> (b, c)>, affine_map<(b, c) -> (c)>, affine_map<(b, c) -> (b, c)>],
      iterator_types = ["parallel", "parallel"]}
      ins(%class_product, %class_bias : tensor<32x10xf32>, tensor<10xf32>)
      outs(%class_init : tensor<32x10xf32>) {
  ^bb0(%product: f32, %bias: f32, %out: f32):
    %sum = arith.addf %product, %bias : f32
    linalg.yield %sum : f32
  } -> tensor<32x10xf32>
  return %classes : tensor<32x10xf32>
}
