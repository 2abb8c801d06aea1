/* test: from=16 needs=own
 * What C++ hands over without a map clause: lambdas by value, by reference and with this, members
 * of objects and of their bases, references, arrays of structures with pointers, templates. LLVM's
 * libomptarget does not give a captured this the device's address, and 16 leaves the pointer of a
 * base as it is on the host; clang 14 and 15 map members of a base twice when one of them is in a
 * map clause. */
#include <array>
#include <vector>
#include "check.h"

enum { N = 64 };

struct base {
    int *shared;
    int factor;
};

struct derived : base {
    std::array<double, 8> weights;
    int &alias;
    derived(int *data, int &other) : base{data, 3}, weights{}, alias(other)
    {
        weights.fill(0.5);
    }
    double sum(int device)
    {
        double total = 0;
#pragma omp target map(to : shared [0:N]) map(tofrom : total) device(device)
        for (int i = 0; i < N; i++)
            total += shared[i] * factor + weights[i % 8];
        return total;
    }
    int by_lambda(int device)
    {
        int result = 0;
        auto body = [this, &result](int x) { result = factor * x + (int)weights[1]; };
#pragma omp target map(tofrom : result) map(to : this [0:1]) device(device)
        body(5);
        return result;
    }
    void change(int device)
    {
#pragma omp target map(tofrom : factor, weights) device(device)
        {
            factor++;
            weights[2] = 2.5;
        }
    }
};

static int by_value(int device)
{
    int a = 4, result = 0;
    struct {
        int x, y;
    } pair = {5, 6};
    auto body = [=](int z) { return a * pair.x + pair.y * z; };
#pragma omp target map(from : result) device(device)
    result = body(10);
    return result;
}

static int by_reference(int device)
{
    int a = 4, b = 0;
    auto body = [&]() { b = a * 2; };
#pragma omp target map(tofrom : a, b) device(device)
    body();
    return b;
}

template <typename T> static T references(T &in, T &out, int device)
{
#pragma omp target map(to : in) map(from : out) device(device)
    out = in + in;
    return out;
}

static int through_reference(std::vector<int> &values, int *&pointer, int device)
{
    int sum = 0;
    pointer = values.data();
#pragma omp target map(to : pointer [0:N]) map(tofrom : sum) device(device)
    for (int i = 0; i < N; i++)
        sum += pointer[i];
    return sum;
}

struct item {
    int *data;
    int length;
};

/* Each element's data is attached to the element. */
static int elements(int device)
{
    item items[3];
    int sum = 0;
    for (int i = 0; i < 3; i++) {
        items[i].length = 10 + i;
        items[i].data = new int[10 + i];
        for (int j = 0; j < 10 + i; j++)
            items[i].data[j] = j;
    }
#pragma omp target enter data map(to : items) device(device)
    for (auto &one : items) {
#pragma omp target enter data map(to : one.data [0:one.length]) device(device)
    }
#pragma omp target map(tofrom : sum) device(device)
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < items[i].length; j++)
            sum += items[i].data[j];
    for (auto &one : items) {
#pragma omp target exit data map(release : one.data [0:one.length]) device(device)
    }
#pragma omp target exit data map(release : items) device(device)
    for (auto &one : items) {
        CHECK(!omp_target_is_present(one.data, device));
        delete[] one.data;
    }
    CHECK(!omp_target_is_present(items, device));
    return sum;
}

int main()
{
    int count = check_devices();
    for (int d = 0; d < count; d++) {
        std::vector<int> values(N);
        int other = 9, *pointer = nullptr, in = 21, out = 0;
        double din = 1.25, dout = 0;
        for (int i = 0; i < N; i++)
            values[(size_t)i] = i;
        derived object(values.data(), other);
        CHECK(object.sum(d) == 3 * N * (N - 1) / 2 + N * 0.5);
        CHECK_EQUAL(object.by_lambda(d), 15);
        object.change(d);
        CHECK(object.factor == 4 && object.weights[2] == 2.5 && object.weights[3] == 0.5);
        CHECK_EQUAL(by_value(d), 80);
        CHECK_EQUAL(by_reference(d), 8);
        CHECK_EQUAL(references(in, out, d), 42);
        CHECK(references(din, dout, d) == 2.5);
        CHECK_EQUAL(through_reference(values, pointer, d), N * (N - 1) / 2);
        CHECK_EQUAL(elements(d), 45 + 55 + 66);
    }
    return finish("captured");
}
