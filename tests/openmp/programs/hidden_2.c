/* test: env=LIBOMP_NUM_HIDDEN_HELPER_THREADS=2
 * Many independent nowait regions with 2 hidden helper threads, the least that works with LLVM 14.
 */
#include "hidden.h"
