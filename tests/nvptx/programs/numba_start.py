# numba_start.py: Python's Numba from its start on: arrays there and back in streams, page-locked ones,
# events, and a kernel of the stand-in for the driver, as PTX (Numba's own compiler is not free).
import ctypes

import numpy as np
from numba import cuda
from numba.cuda.cudadrv import driver

PTX = b""".version 7.0
.target sm_80
.address_size 64
.visible .entry standin_add(.param .u64 at, .param .u64 bytes, .param .u64 value)
{ ret; }
\0"""


def there_and_back(count):
    """What comes back to memory that is not page-locked is there when the call returns."""
    stream = cuda.stream()
    wanted = np.arange(float(count))
    there = cuda.to_device(wanted, stream=stream)
    assert (there.copy_to_host(stream=stream) == wanted).all(), count
    assert (cuda.to_device(wanted).copy_to_host() == wanted).all(), count


def page_locked(count):
    stream, other = cuda.stream(), cuda.stream()
    there = cuda.device_array(count)
    back = cuda.pinned_array(count)
    event = cuda.event()
    for value in range(10):
        source = cuda.pinned_array(count)
        source[:] = value
        there.copy_to_device(source, stream=stream)
        event.record(stream)
        event.wait(other)
        there.copy_to_host(back, stream=other)
        other.synchronize()
        assert (back == value).all(), (count, value)


def kernel(count):
    context = cuda.current_context()
    add = context.create_module_ptx(PTX).get_function("standin_add")
    stream = cuda.stream()
    there = cuda.to_device(np.full(count, 40, dtype=np.uint8), stream=stream)
    words = [ctypes.c_uint64(word) for word in (there.device_ctypes_pointer.value, count, 2)]
    driver.launch_kernel(add.handle, 1, 1, 1, 1, 1, 1, 0, stream.handle,
                         words)
    assert (there.copy_to_host(stream=stream) == 42).all(), count


for size in (1, 1000, 100000):
    there_and_back(size)
    page_locked(size)
    kernel(size)
cuda.synchronize()
print("right")
