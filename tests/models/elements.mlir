// What kernels do with what they load: an index, a truth value, a number; narrow types; several results.

func.func @gather(%table: tensor<10x4xf32>, %indices: tensor<?xi64>) -> tensor<?x4xf32> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %indices, %c0 : tensor<?xi64>
  %empty = tensor.empty(%n) : tensor<?x4xf32>
  %result = linalg.generic {
      indexing_maps = [affine_map<(d0, d1) -> (d0)>, affine_map<(d0, d1) -> (d0, d1)>],
      iterator_types = ["parallel", "parallel"]}
      ins(%indices : tensor<?xi64>) outs(%empty : tensor<?x4xf32>) {
  ^bb0(%in: i64, %out: f32):
    %row = arith.index_cast %in : i64 to index
    %column = linalg.index 1 : index
    %value = tensor.extract %table[%row, %column] : tensor<10x4xf32>
    linalg.yield %value : f32
  } -> tensor<?x4xf32>
  return %result : tensor<?x4xf32>
}

func.func @select(%mask: tensor<8xi1>, %a: tensor<8xf32>, %b: tensor<8xf32>) -> tensor<8xf32> {
  %result = arith.select %mask, %a, %b : tensor<8xi1>, tensor<8xf32>
  return %result : tensor<8xf32>
}

func.func @iota(%a: tensor<8xi32>) -> tensor<8xi32> {
  %empty = tensor.empty() : tensor<8xi32>
  %result = linalg.generic {
      indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
      ins(%a : tensor<8xi32>) outs(%empty : tensor<8xi32>) {
  ^bb0(%in: i32, %out: i32):
    %position = linalg.index 0 : index
    %number = arith.index_cast %position : index to i32
    %sum = arith.addi %number, %in : i32
    linalg.yield %sum : i32
  } -> tensor<8xi32>
  return %result : tensor<8xi32>
}

func.func @narrow(%a: tensor<8xi4>, %b: tensor<8xbf16>, %c: tensor<8xf8E4M3FN>) -> tensor<8xf32> {
  %empty = tensor.empty() : tensor<8xf32>
  %result = linalg.generic {
      indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>,
                       affine_map<(d0) -> (d0)>],
      iterator_types = ["parallel"]}
      ins(%a, %b, %c : tensor<8xi4>, tensor<8xbf16>, tensor<8xf8E4M3FN>) outs(%empty : tensor<8xf32>) {
  ^bb0(%x: i4, %y: bf16, %z: f8E4M3FN, %out: f32):
    %0 = arith.uitofp %x : i4 to f32
    %1 = arith.extf %y : bf16 to f32
    %2 = arith.extf %z : f8E4M3FN to f32
    %3 = arith.addf %0, %1 : f32
    %4 = arith.addf %2, %3 : f32
    linalg.yield %4 : f32
  } -> tensor<8xf32>
  return %result : tensor<8xf32>
}

func.func @results(%a: tensor<?xf32>) -> (tensor<?xf32>, tensor<?xi8>) {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %a, %c0 : tensor<?xf32>
  %empty0 = tensor.empty(%n) : tensor<?xf32>
  %empty1 = tensor.empty(%n) : tensor<?xi8>
  %result:2 = linalg.generic {
      indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>],
      iterator_types = ["parallel"]}
      ins(%a : tensor<?xf32>) outs(%empty0, %empty1 : tensor<?xf32>, tensor<?xi8>) {
  ^bb0(%in: f32, %out0: f32, %out1: i8):
    %sum = arith.addf %in, %in : f32
    %byte = arith.fptoui %in : f32 to i8
    linalg.yield %sum, %byte : f32, i8
  } -> (tensor<?xf32>, tensor<?xi8>)
  return %result#0, %result#1 : tensor<?xf32>, tensor<?xi8>
}
