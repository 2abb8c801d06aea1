# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Spack's recipe for omprma. In a source folder:
#   spack repo add packaging/spack
#   spack dev-build omprma@0.1.0
from spack.package import *


class Omprma(CMakePackage):
    """OpenMP offloading to other hosts: the target regions of a program that clang compiled run in
    worker processes, reached by one-sided MPI."""

    license("Apache-2.0 WITH LLVM-exception")

    version("0.1.0")

    depends_on("c", type="build")
    depends_on("cmake@3.22:", type="build")
    depends_on("ninja", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("python@3.9:", type="build")  # manual pages and completion
    depends_on("openmpi@4.1:")
    depends_on("libffi@3.3:")
    depends_on("elfutils@0.180:")
    depends_on("hwloc@2:")
    depends_on("nettle@3.4:")
    depends_on("xxhash@0.8:")
    depends_on("zlib@1.2.11:")
    depends_on("cjson@1.7:")
    depends_on("libbsd@0.11:")
    depends_on("cmocka@1.1:", type="test")

    conflicts("platform=darwin", msg="omprma needs Linux")
    requires("target=x86_64:", msg="hosts and workers are x86-64")

    generator("ninja")

    def cmake_args(self):
        return [
            self.define("OMPRMA_WERROR", False),
            self.define("OMPRMA_TESTS", self.run_tests),
        ]

    def setup_run_environment(self, env):
        env.prepend_path("PKG_CONFIG_PATH", self.prefix.lib.pkgconfig)
