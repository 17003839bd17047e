// The program itself wants an even number of elements.
func.func @main(%x: tensor<?xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %n = tensor.dim %x, %c0 : tensor<?xf32>
  %odd = arith.remui %n, %c2 : index
  %even = arith.cmpi eq, %odd, %c0 : index
  cf.assert %even, "the number of elements must be even"
  %z = arith.addf %x, %y : tensor<?xf32>
  return %z : tensor<?xf32>
}
