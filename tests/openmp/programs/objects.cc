/* test:
 * Objects that keep their data on a device from constructor to destructor, on all devices at once;
 * a functor and a lambda in templates; data of vectors. */
#include <memory>
#include <vector>
#include "check.h"

template <typename T> class field
{
    T *data;
    size_t length;
    int device;

  public:
    field(size_t n, int on) : data(new T[n]), length(n), device(on)
    {
#pragma omp target enter data map(to : this [0:1]) device(device)
#pragma omp target enter data map(alloc : data [0:length]) device(device)
    }
    ~field()
    {
#pragma omp target exit data map(delete : data [0:length]) device(device)
#pragma omp target exit data map(delete : this [0:1]) device(device)
        delete[] data;
    }
    field(const field &) = delete;
    field &operator=(const field &) = delete;
    void fill(T first)
    {
#pragma omp target teams distribute parallel for device(device)
        for (size_t i = 0; i < length; i++)
            data[i] = first + static_cast<T>(i);
    }
    T sum()
    {
        T total = 0;
#pragma omp target teams distribute parallel for reduction(+ : total) map(tofrom                   \
                                                                          : total) device(device)
        for (size_t i = 0; i < length; i++)
            total += data[i];
        return total;
    }
    T last()
    {
#pragma omp target update from(data [0:length]) device(device)
        return data[length - 1];
    }
    bool present() const
    {
        return omp_target_is_present(data, device) != 0;
    }
};

template <typename F> static long apply(int n, F function)
{
    long total = 0;
#pragma omp target teams distribute parallel for reduction(+ : total) map(to : function)
    for (int i = 0; i < n; i++)
        total += function(i);
    return total;
}

struct times {
    int factor;
    int operator()(int i) const
    {
        return i * factor;
    }
};

int main()
{
    int count = check_devices();
    for (int round = 0; round < 3; round++) {
        std::vector<std::unique_ptr<field<double>>> fields;
        for (int i = 0; i < 8; i++)
            fields.emplace_back(new field<double>(1000 + (size_t)i, i % count));
        for (auto &one : fields)
            one->fill(2);
        for (size_t i = 0; i < fields.size(); i++) {
            double n = 1000 + (double)i;
            CHECK(fields[i]->present());
            CHECK(fields[i]->sum() == 2 * n + n * (n - 1) / 2);
            CHECK(fields[i]->last() == n + 1);
        }
    }

    int factor = 5;
    CHECK_EQUAL(apply(100, [=](int i) { return i * factor; }), 24750);
    CHECK_EQUAL(apply(10, times{3}), 135);

    std::vector<int> vector(1000, 1);
    int *data = vector.data();
#pragma omp target parallel for map(tofrom : data [0:vector.size()])
    for (int i = 0; i < 1000; i++)
        data[i] += i;
    long total = 0;
    for (int value : vector)
        total += value;
    CHECK_EQUAL(total, 500500);
    return finish("objects");
}
