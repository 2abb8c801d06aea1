/* test: reference=no libs=-lm args=256;32
 * The example, which checks its own result: tiles passed between devices as nowait tasks. */
#include "../../../examples/cholesky.c"
