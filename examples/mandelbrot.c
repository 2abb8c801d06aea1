/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * mandelbrot.c: one picture, cut into bands that all devices share. Each band is a task of its own
 * (`target nowait`), so that bands travel back while others are still being computed. A sample of
 * pixels is computed again on the host.
 *
 * Build: clang -O2 -fopenmp -fopenmp-targets=x86_64-pc-linux-gnu mandelbrot.c -o mandelbrot -lpng
 * Run:   omprma-run -n 4 ./mandelbrot [--size WxH] [FILE.png]
 */
#include <omp.h>
#include <png.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ITERATIONS = 1000, BANDS_PER_DEVICE = 16 };

#pragma omp declare target
/* How many steps the point needs to escape, ITERATIONS if it does not. */
static uint16_t escape_time(int column, int row, int width, int height)
{
    double scale = 3.4 / width;
    double cx = -2.4 + column * scale;
    double cy = (row - 0.5 * height) * scale;
    double x = 0.0, y = 0.0;
    int steps = 0;
    for (; steps < ITERATIONS && x * x + y * y <= 4.0; steps++) {
        double next = x * x - y * y + cx;
        y = 2.0 * x * y + cy;
        x = next;
    }
    return (uint16_t)steps;
}
#pragma omp end declare target

/* Bands are dealt out in turn: neighbours cost alike, so every device gets dear and cheap ones. */
static void render(uint16_t *steps, int width, int height, int devices)
{
    int bands = devices * BANDS_PER_DEVICE < height ? devices * BANDS_PER_DEVICE : height;
    for (int b = 0; b < bands; b++) {
        int first = (int)((long)height * b / bands);
        int last = (int)((long)height * (b + 1) / bands);
        size_t count = (size_t)(last - first) * (size_t)width;
        uint16_t *band = steps + (size_t)first * (size_t)width;
#pragma omp target device(b % devices) map(from : band[:count]) nowait
        for (int row = first; row < last; row++)
            for (int column = 0; column < width; column++)
                band[(size_t)(row - first) * (size_t)width + (size_t)column] =
                    escape_time(column, row, width, height);
    }
#pragma omp taskwait
}

/* Every 97th pixel again on the host; 97 is prime, so the sample wanders over all columns. */
static size_t count_wrong(const uint16_t *steps, int width, int height)
{
    size_t wrong = 0;
    for (size_t i = 0; i < (size_t)width * (size_t)height; i += 97) {
        int row = (int)(i / (size_t)width);
        int column = (int)(i % (size_t)width);
        wrong += steps[i] != escape_time(column, row, width, height);
    }
    return wrong;
}

static void colour(uint8_t *rgb, uint16_t steps)
{
    if (steps == ITERATIONS) {
        memset(rgb, 0, 3);
        return;
    }
    double t = (double)steps / (steps + 24.0); /* 0..1, fine steps where there are few */
    rgb[0] = (uint8_t)(255 * t * t);
    rgb[1] = (uint8_t)(235 * t * (1.3 - 0.5 * t));
    rgb[2] = (uint8_t)(90 + 150 * t * (2.0 - 1.7 * t));
}

static int write_png(const char *path, const uint16_t *steps, int width, int height)
{
    size_t pixels = (size_t)width * (size_t)height;
    uint8_t *rgb = malloc(3 * pixels);
    if (!rgb)
        return -1;
    for (size_t i = 0; i < pixels; i++)
        colour(rgb + 3 * i, steps[i]);
    png_image image = {.version = PNG_IMAGE_VERSION,
                       .width = (png_uint_32)width,
                       .height = (png_uint_32)height,
                       .format = PNG_FORMAT_RGB};
    int ok = png_image_write_to_file(&image, path, 0, rgb, 0, NULL);
    if (!ok)
        fprintf(stderr, "mandelbrot: cannot write %s: %s\n", path, image.message);
    free(rgb);
    return ok ? 0 : -1;
}

int main(int argc, char **argv)
{
    int width = 1200, height = 800;
    const char *path = NULL;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--size") != 0)
            path = argv[i];
        else if (++i >= argc || sscanf(argv[i], "%dx%d", &width, &height) != 2)
            width = 0;
    }
    int devices = omp_get_num_devices();
    if (devices == 0 || width < 1 || height < 1) {
        fprintf(stderr, devices ? "usage: mandelbrot [--size WxH] [FILE.png]\n"
                                : "mandelbrot: there is no device\n");
        return 1;
    }
    size_t pixels = (size_t)width * (size_t)height;
    uint16_t *steps = calloc(pixels, sizeof *steps);
    if (!steps) {
        fprintf(stderr, "mandelbrot: no memory for %dx%d pixels\n", width, height);
        return 1;
    }

    double start = omp_get_wtime();
    render(steps, width, height, devices);
    double seconds = omp_get_wtime() - start;

    uint64_t checksum = 0;
    for (size_t i = 0; i < pixels; i++)
        checksum = checksum * 31 + steps[i];
    size_t wrong = count_wrong(steps, width, height);
    int failed = wrong != 0 || (path && write_png(path, steps, width, height) != 0);
    free(steps);
    printf("mandelbrot: %dx%d on %d devices in %.3f s%s%s\n", width, height, devices, seconds,
           path ? ", written to " : "", path ? path : "");
    printf("mandelbrot: checksum %016llx, %zu of %zu sampled pixels wrong: %s\n",
           (unsigned long long)checksum, wrong, (pixels + 96) / 97, failed ? "FAILED" : "ok");
    return failed;
}
