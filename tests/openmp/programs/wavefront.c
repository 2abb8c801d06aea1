/* test: reference=no args=512;512;32
 * The example, which checks its own result: a front of nowait tasks that moves over the devices. */
#include "../../../examples/wavefront.c"
