/* test: device=23 libs=-lm flags15=-Xoffload-linker;--eh-frame-hdr
 * C++ in regions: classes, templates, lambdas, exceptions, virtual functions, the library.
 * clang 15 links images without a table that exceptions need, unless asked for it. */
#include <algorithm>
#include <memory>
#include <numeric>
#include <stdexcept>
#include <string>
#include <vector>
#include "check.h"

#pragma omp declare target
struct shape {
    virtual double area() const = 0;
    virtual ~shape()
    {
    }
};
struct square : shape {
    double side;
    explicit square(double s) : side(s)
    {
    }
    double area() const override
    {
        return side * side;
    }
};
struct circle : shape {
    double area() const override
    {
        return 3;
    }
};
#pragma omp end declare target

template <typename T> struct matrix {
    int n;
    std::vector<T> host;
    explicit matrix(int size) : n(size), host(static_cast<size_t>(size * size), T(1))
    {
    }
    T trace_twice()
    {
        T *data = host.data();
        T sum = 0;
        int count = n;
#pragma omp target map(tofrom : data [0:count * count], sum)
        for (int i = 0; i < count; i++) {
            sum += data[i * count + i];
            data[i * count + i] *= 2;
        }
        return sum;
    }
};

template <typename F> static int apply_on_device(F function, int x)
{
    int result = 0;
#pragma omp target map(from : result) map(to : function)
    result = function(x);
    return result;
}

struct account {
    int balance = 10;
    void add(int x)
    {
#pragma omp target map(tofrom : this [0:1])
        balance += x;
    }
};

int main()
{
    check_devices();
    double area = 0;
#pragma omp target map(from : area)
    {
        std::unique_ptr<shape> a(new square(4)), b(new circle);
        area = a->area() + b->area();
    }
    CHECK(area == 19);

    int caught = 0;
#pragma omp target map(tofrom : caught)
    {
        try {
            throw std::runtime_error("inside");
        } catch (const std::exception &e) {
            caught = std::string(e.what()) == "inside" ? 1 : 2;
        }
    }
    CHECK_EQUAL(caught, 1);

    int sorted = 0;
#pragma omp target map(from : sorted)
    {
        std::vector<int> v(1000);
        std::iota(v.rbegin(), v.rend(), 0);
        std::sort(v.begin(), v.end());
        sorted = std::is_sorted(v.begin(), v.end()) ? v[999] : -1;
    }
    CHECK_EQUAL(sorted, 999);

    matrix<float> m(20);
    CHECK(m.trace_twice() == 20.0f && m.host[21] == 2.0f);
    matrix<long> l(3);
    CHECK(l.trace_twice() == 3);

    int offset = 100;
    CHECK_EQUAL(apply_on_device([offset](int x) { return x + offset; }, 5), 105);

    account mine;
    mine.add(32);
    CHECK_EQUAL(mine.balance, 42);
    return finish("cxx");
}
