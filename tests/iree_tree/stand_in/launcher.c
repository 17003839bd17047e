// Starts PROGRAM, with this program's arguments.

#include <stdio.h>
#include <unistd.h>

extern int compiler_library(void);

int main(int argc, char **argv) {
  (void)argc;
  if (compiler_library() != 0) return 1;
  execv(PROGRAM, argv);
  perror(PROGRAM);
  return 127;
}
