func.func @main(
