// Layers of different widths, each a dispatch, with a batch that is known only when it runs.

func.func @main(
    %input: tensor<?x64xf32>,
    %weights1: tensor<64x48xf32>, %bias1: tensor<48xf32>,
    %weights2: tensor<48x40xf32>, %bias2: tensor<40xf32>,
    %weights3: tensor<40x32xf32>, %bias3: tensor<32xf32>,
    %weights4: tensor<32x56xf32>, %bias4: tensor<56xf32>,
    %weights5: tensor<56x24xf32>, %bias5: tensor<24xf32>,
    %weights6: tensor<24x72xf32>, %bias6: tensor<72xf32>,
    %weights7: tensor<72x20xf32>, %bias7: tensor<20xf32>,
    %weights8: tensor<20x44xf32>, %bias8: tensor<44xf32>,
    %weights9: tensor<44x36xf32>, %bias9: tensor<36xf32>,
    %weights10: tensor<36x28xf32>, %bias10: tensor<28xf32>,
    %weights11: tensor<28x10xf32>, %bias11: tensor<10xf32>) -> tensor<?x10xf32> {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %batch = tensor.dim %input, %c0 : tensor<?x64xf32>

  %init1 = tensor.empty(%batch) : tensor<?x48xf32>
  %fill1 = linalg.fill ins(%zero : f32) outs(%init1 : tensor<?x48xf32>) -> tensor<?x48xf32>
  %product1 = linalg.matmul ins(%input, %weights1 : tensor<?x64xf32>, tensor<64x48xf32>) outs(%fill1 : tensor<?x48xf32>) -> tensor<?x48xf32>
  %layer1 = linalg.generic {
      indexing_maps = [affine_map<(b, h) -> (b, h)>, affine_map<(b, h) -> (h)>, affine_map<(b, h) -> (b, h)>],
      iterator_types = ["parallel", "parallel"]}
      ins(%product1, %bias1 : tensor<?x48xf32>, tensor<48xf32>) outs(%init1 : tensor<?x48xf32>) {
  ^bb0(%product: f32, %bias: f32, %out: f32):
    %sum = arith.addf %product, %bias : f32
    linalg.yield %sum : f32
  } -> tensor<?x48xf32>

  %init2 = tensor.empty(%batch) : tensor<?x40xf32>
  %fill2 = linalg.fill ins(%zero : f32) outs(%init2 : tensor<?x40xf32>) -> tensor<?x40xf32>
  %product2 = linalg.matmul ins(%layer1, %weights2 : tensor<?x48xf32>, tensor<48x40xf32>) outs(%fill2 : tensor<?x40xf32>) -> tensor<?x40xf32>
  %layer2 = linalg.generic {
      indexing_maps = [affine_map<(b, h) -> (b, h)>, affine_map<(b, h) -> (h)>, affine_map<(b, h) -> (b, h)>],
      iterator_types = ["parallel", "parallel"]}
      ins(%product2, %bias2 : tensor<?x40xf32>, tensor<40xf32>) outs(%init2 : tensor<?x40xf32>) {
  ^bb0(%product: f32, %bias: f32, %out: f32):
    %sum = arith.addf %product, %bias : f32
    linalg.yield %sum : f32
  } -> tensor<?x40xf32>

  %init3 = tensor.empty(%batch) : tensor<?x32xf32>
  %fill3 = linalg.fill ins(%zero : f32) outs(%init3 : tensor<?x32xf32>) -> tensor<?x32xf32>
  %product3 = linalg.matmul ins(%layer2, %weights3 : tensor<?x40xf32>, tensor<40x32xf32>) outs(%fill3 : tensor<?x32xf32>) -> tensor<?x32xf32>
  %layer3 = linalg.generic {
      indexing_maps = [affine_map<(b, h) -> (b, h)>, affine_map<(b, h) -> (h)>, affine_map<(b, h) -> (b, h)>],
      iterator_types = ["parallel", "parallel"]}
      ins(%product3, %bias3 : tensor<?x32xf32>, tensor<32xf32>) outs(%init3 : tensor<?x32xf32>) {
  ^bb0(%product: f32, %bias: f32, %out: f32):
    %sum = arith.addf %product, %bias : f32
    linalg.yield %sum : f32
  } -> tensor<?x32xf32>

  %init4 = tensor.empty(%batch) : tensor<?x56xf32>
  %fill4 = linalg.fill ins(%zero : f32) outs(%init4 : tensor<?x56xf32>) -> tensor<?x56xf32>
  %product4 = linalg.matmul ins(%layer3, %weights4 : tensor<?x32xf32>, tensor<32x56xf32>) outs(%fill4 : tensor<?x56xf32>) -> tensor<?x56xf32>
  %layer4 = linalg.generic {
      indexing_maps = [affine_map<(b, h) -> (b, h)>, affine_map<(b, h) -> (h)>, affine_map<(b, h) -> (b, h)>],
      iterator_types = ["parallel", "parallel"]}
      ins(%product4, %bias4 : tensor<?x56xf32>, tensor<56xf32>) outs(%init4 : tensor<?x56xf32>) {
  ^bb0(%product: f32, %bias: f32, %out: f32):
    %sum = arith.addf %product, %bias : f32
    linalg.yield %sum : f32
  } -> tensor<?x56xf32>

  %init5 = tensor.empty(%batch) : tensor<?x24xf32>
  %fill5 = linalg.fill ins(%zero : f32) outs(%init5 : tensor<?x24xf32>) -> tensor<?x24xf32>
  %product5 = linalg.matmul ins(%layer4, %weights5 : tensor<?x56xf32>, tensor<56x24xf32>) outs(%fill5 : tensor<?x24xf32>) -> tensor<?x24xf32>
  %layer5 = linalg.generic {
      indexing_maps = [affine_map<(b, h) -> (b, h)>, affine_map<(b, h) -> (h)>, affine_map<(b, h) -> (b, h)>],
      iterator_types = ["parallel", "parallel"]}
      ins(%product5, %bias5 : tensor<?x24xf32>, tensor<24xf32>) outs(%init5 : tensor<?x24xf32>) {
  ^bb0(%product: f32, %bias: f32, %out: f32):
    %sum = arith.addf %product, %bias : f32
    linalg.yield %sum : f32
  } -> tensor<?x24xf32>

  %init6 = tensor.empty(%batch) : tensor<?x72xf32>
  %fill6 = linalg.fill ins(%zero : f32) outs(%init6 : tensor<?x72xf32>) -> tensor<?x72xf32>
  %product6 = linalg.matmul ins(%layer5, %weights6 : tensor<?x24xf32>, tensor<24x72xf32>) outs(%fill6 : tensor<?x72xf32>) -> tensor<?x72xf32>
  %layer6 = linalg.generic {
      indexing_maps = [affine_map<(b, h) -> (b, h)>, affine_map<(b, h) -> (h)>, affine_map<(b, h) -> (b, h)>],
      iterator_types = ["parallel", "parallel"]}
      ins(%product6, %bias6 : tensor<?x72xf32>, tensor<72xf32>) outs(%init6 : tensor<?x72xf32>) {
  ^bb0(%product: f32, %bias: f32, %out: f32):
    %sum = arith.addf %product, %bias : f32
    linalg.yield %sum : f32
  } -> tensor<?x72xf32>

  %init7 = tensor.empty(%batch) : tensor<?x20xf32>
  %fill7 = linalg.fill ins(%zero : f32) outs(%init7 : tensor<?x20xf32>) -> tensor<?x20xf32>
  %product7 = linalg.matmul ins(%layer6, %weights7 : tensor<?x72xf32>, tensor<72x20xf32>) outs(%fill7 : tensor<?x20xf32>) -> tensor<?x20xf32>
  %layer7 = linalg.generic {
      indexing_maps = [affine_map<(b, h) -> (b, h)>, affine_map<(b, h) -> (h)>, affine_map<(b, h) -> (b, h)>],
      iterator_types = ["parallel", "parallel"]}
      ins(%product7, %bias7 : tensor<?x20xf32>, tensor<20xf32>) outs(%init7 : tensor<?x20xf32>) {
  ^bb0(%product: f32, %bias: f32, %out: f32):
    %sum = arith.addf %product, %bias : f32
    linalg.yield %sum : f32
  } -> tensor<?x20xf32>

  %init8 = tensor.empty(%batch) : tensor<?x44xf32>
  %fill8 = linalg.fill ins(%zero : f32) outs(%init8 : tensor<?x44xf32>) -> tensor<?x44xf32>
  %product8 = linalg.matmul ins(%layer7, %weights8 : tensor<?x20xf32>, tensor<20x44xf32>) outs(%fill8 : tensor<?x44xf32>) -> tensor<?x44xf32>
  %layer8 = linalg.generic {
      indexing_maps = [affine_map<(b, h) -> (b, h)>, affine_map<(b, h) -> (h)>, affine_map<(b, h) -> (b, h)>],
      iterator_types = ["parallel", "parallel"]}
      ins(%product8, %bias8 : tensor<?x44xf32>, tensor<44xf32>) outs(%init8 : tensor<?x44xf32>) {
  ^bb0(%product: f32, %bias: f32, %out: f32):
    %sum = arith.addf %product, %bias : f32
    linalg.yield %sum : f32
  } -> tensor<?x44xf32>

  %init9 = tensor.empty(%batch) : tensor<?x36xf32>
  %fill9 = linalg.fill ins(%zero : f32) outs(%init9 : tensor<?x36xf32>) -> tensor<?x36xf32>
  %product9 = linalg.matmul ins(%layer8, %weights9 : tensor<?x44xf32>, tensor<44x36xf32>) outs(%fill9 : tensor<?x36xf32>) -> tensor<?x36xf32>
  %layer9 = linalg.generic {
      indexing_maps = [affine_map<(b, h) -> (b, h)>, affine_map<(b, h) -> (h)>, affine_map<(b, h) -> (b, h)>],
      iterator_types = ["parallel", "parallel"]}
      ins(%product9, %bias9 : tensor<?x36xf32>, tensor<36xf32>) outs(%init9 : tensor<?x36xf32>) {
  ^bb0(%product: f32, %bias: f32, %out: f32):
    %sum = arith.addf %product, %bias : f32
    linalg.yield %sum : f32
  } -> tensor<?x36xf32>

  %init10 = tensor.empty(%batch) : tensor<?x28xf32>
  %fill10 = linalg.fill ins(%zero : f32) outs(%init10 : tensor<?x28xf32>) -> tensor<?x28xf32>
  %product10 = linalg.matmul ins(%layer9, %weights10 : tensor<?x36xf32>, tensor<36x28xf32>) outs(%fill10 : tensor<?x28xf32>) -> tensor<?x28xf32>
  %layer10 = linalg.generic {
      indexing_maps = [affine_map<(b, h) -> (b, h)>, affine_map<(b, h) -> (h)>, affine_map<(b, h) -> (b, h)>],
      iterator_types = ["parallel", "parallel"]}
      ins(%product10, %bias10 : tensor<?x28xf32>, tensor<28xf32>) outs(%init10 : tensor<?x28xf32>) {
  ^bb0(%product: f32, %bias: f32, %out: f32):
    %sum = arith.addf %product, %bias : f32
    linalg.yield %sum : f32
  } -> tensor<?x28xf32>

  %init11 = tensor.empty(%batch) : tensor<?x10xf32>
  %fill11 = linalg.fill ins(%zero : f32) outs(%init11 : tensor<?x10xf32>) -> tensor<?x10xf32>
  %product11 = linalg.matmul ins(%layer10, %weights11 : tensor<?x28xf32>, tensor<28x10xf32>) outs(%fill11 : tensor<?x10xf32>) -> tensor<?x10xf32>
  %layer11 = linalg.generic {
      indexing_maps = [affine_map<(b, h) -> (b, h)>, affine_map<(b, h) -> (h)>, affine_map<(b, h) -> (b, h)>],
      iterator_types = ["parallel", "parallel"]}
      ins(%product11, %bias11 : tensor<?x10xf32>, tensor<10xf32>) outs(%init11 : tensor<?x10xf32>) {
  ^bb0(%product: f32, %bias: f32, %out: f32):
    %sum = arith.addf %product, %bias : f32
    linalg.yield %sum : f32
  } -> tensor<?x10xf32>
  return %layer11 : tensor<?x10xf32>
}
