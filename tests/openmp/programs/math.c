/* test: libs=-lm
 * The math library gives on the device what it gives on the host. */
#include <math.h>
#include "check.h"

enum { N = 200, F = 14 };

#pragma omp declare target
static void evaluate(double *r, double x)
{
    r[0] = sin(x), r[1] = cos(x), r[2] = exp(x / 10), r[3] = log(x), r[4] = sqrt(x);
    r[5] = pow(x, 1.7), r[6] = atan2(x, 2), r[7] = tanh(x), r[8] = erf(x), r[9] = tgamma(x);
    r[10] = fmod(x, 0.7), r[11] = cbrt(x), r[12] = floor(x), r[13] = fma(x, x, 1);
}
#pragma omp end declare target

int main(void)
{
    static double host[N][F], device[N][F];
    check_devices();
    for (int i = 0; i < N; i++)
        evaluate(host[i], 0.1 + i * 0.1);
#pragma omp target teams distribute parallel for map(from : device)
    for (int i = 0; i < N; i++)
        evaluate(device[i], 0.1 + i * 0.1);
    CHECK(memcmp(host, device, sizeof(host)) == 0);
    return finish("math");
}
