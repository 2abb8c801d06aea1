/* test: env=LIBOMP_NUM_HIDDEN_HELPER_THREADS=16
 * Many independent nowait regions with 16 hidden helper threads. */
#include "hidden.h"
