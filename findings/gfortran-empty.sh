#!/bin/bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# gfortran 12.2.0 with its libgfortran, Debian 12, x86-64. Sections of arrays that are empty, such as b(6:3), go to a C
# function by the descriptors of ISO_Fortran_binding.h, as arguments and from CFI_section().
# Guess: the extent is 0. That is what size() says, and the standard has no extent below 0 but -1, which marks the last
# dimension of an array whose size is assumed.
# Seen: the extent is what the bounds give, last minus first plus 1: b(6:5) has 0, b(6:4) has -1, which is that mark,
# and b(6:3) has -2. CFI_section() does the same and returns success. Where two dimensions are empty, the product says
# that there are elements: 4 in m(6:3, 6:3). In Fortran, which takes such descriptors, size() is 0 each time. So C code
# has to take an extent below 0 for 0 before it multiplies, or it reads what is not there.
# shellcheck source=findings/unpack.bash
. "$(dirname "$0")/unpack.bash"
command -v gcc >/dev/null || exit 77
gcc_version=12.2.0-14+deb12u1
unpack gfortran-12=$gcc_version gcc-12=$gcc_version cpp-12=$gcc_version libgcc-12-dev=$gcc_version \
    libgfortran-12-dev=$gcc_version libgfortran5=$gcc_version

cat >"$folder/pass.f90" <<'F'
subroutine pass(first, last) bind(c)
  use iso_c_binding
  implicit none
  interface
    subroutine look(section) bind(c)
      use iso_c_binding
      integer(c_int), intent(in) :: section(:, :)
    end subroutine
  end interface
  integer(c_int), value :: first, last
  integer(c_int) :: whole(10, 10)
  whole = 1
  call look(whole(first:last, first:last))
end subroutine

integer(c_int) function count_of(section) bind(c)
  use iso_c_binding
  implicit none
  integer(c_int), intent(in) :: section(:, :)
  count_of = size(section)
end function
F
cat >"$folder/look.c" <<'C'
#include <ISO_Fortran_binding.h>
#include <stdio.h>

extern void pass(int first, int last);
extern int count_of(CFI_cdesc_t *section);

static void show(const char *from, CFI_cdesc_t *section)
{
    long rows = section->dim[0].extent, columns = section->dim[1].extent;

    printf("%s: %ld by %ld, product %ld, size() %d\n", from, rows, columns, rows * columns, count_of(section));
}

void look(CFI_cdesc_t *section)
{
    show("Fortran", section);
}

int main(void)
{
    static int whole[10][10];
    CFI_CDESC_T(2) all, some;
    CFI_cdesc_t *array = (CFI_cdesc_t *)&all, *section = (CFI_cdesc_t *)&some;
    CFI_index_t extents[] = {10, 10}, first[] = {5, 5}, stride[] = {1, 1};

    CFI_establish(array, whole, CFI_attribute_other, CFI_type_int, 0, 2, extents);
    for (int last = 7; last >= 3; last--) {
        CFI_index_t end[] = {last - 1, last - 1};

        printf("6 to %d\n", last);
        pass(6, last);
        CFI_establish(section, NULL, CFI_attribute_other, CFI_type_int, 0, 2, NULL);
        if (CFI_section(section, array, first, end, stride) == CFI_SUCCESS)
            show("CFI_section", section);
    }
    return 0;
}
C
system=$folder/usr/lib/x86_64-linux-gnu
compiler=$folder/usr/lib/gcc/x86_64-linux-gnu/12
for level in -O0 -O2; do
    "$folder/usr/bin/x86_64-linux-gnu-gfortran-12" $level -c "$folder/pass.f90" -o "$folder/pass.o" \
        >"$folder/log" 2>&1 || { cat "$folder/log" && exit 77; }
    gcc $level -w -idirafter "$compiler/include" "$folder/look.c" "$folder/pass.o" "$system/libgfortran.so.5" \
        -Wl,--allow-shlib-undefined -o "$folder/look" || exit 77
    echo "gfortran $level"
    saw env LD_LIBRARY_PATH="$system" timeout 60 "$folder/look"
    for from in Fortran CFI_section; do
        expect "^$from: 2 by 2, product 4, size\\(\\) 4\$"
        expect "^$from: 1 by 1, product 1, size\\(\\) 1\$"
        expect "^$from: 0 by 0, product 0, size\\(\\) 0\$"
        expect "^$from: -1 by -1, product 1, size\\(\\) 0\$"
        expect "^$from: -2 by -2, product 4, size\\(\\) 0\$"
    done
done
exit "$changed"
