# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# shellcheck shell=bash
# common.sh: sourced by the scripts of this folder, beside tests/tools/common.sh.
#   find_mpi KIND       $compiler, $fortran_compiler and ${launch[@]} for openmpi (by shared memory and
#                       TCP), ucx (Open MPI over UCX) or mpich; 1 where it is not here
#   build KIND NAME...  compiles programs with that MPI, or with none, to $out/KIND/NAME
# shellcheck disable=SC2154 # $out is of those who source it
# shellcheck source=tests/tools/common.sh
. "$(dirname "${BASH_SOURCE[0]}")/../tools/common.sh"
here=$(realpath "$(dirname "${BASH_SOURCE[0]}")")
flang=$(realpath "$here/../..")/build/toolchains/flang-22/bin/flang
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMP_NUM_THREADS=2
export OMPRMA_BIND=0 # else there is a line when workers share cores

# The command NAME.KIND, or NAME where that is of this MPI.
command_of() { # NAME KIND PATTERN of its version
    if command -v "$1.$2" >/dev/null; then
        echo "$1.$2"
    elif "$1" --version 2>/dev/null | grep -q "$3"; then
        echo "$1"
    fi
}

find_mpi() {
    local kind=$1 pattern='Open MPI'
    [ "$kind" != ucx ] || kind=openmpi
    [ "$kind" != mpich ] || pattern=HYDRA
    launch=("$(command_of mpiexec "$kind" "$pattern")")
    [ -n "${launch[0]}" ] || { echo "no MPI: $kind" && return 1; }
    compiler=mpicc${launch[0]#mpiexec} fortran_compiler=mpifort${launch[0]#mpiexec}
    case $1 in
    openmpi) launch+=(--oversubscribe --mca pml ob1 --mca btl 'self,vader,tcp' --mca osc '^ucx') ;;
    ucx)
        export UCX_NET_DEVICES=lo # see tests/integration/start
        launch+=(--oversubscribe --mca pml ucx --mca osc ucx --mca opal_common_ucx_tls any
            --mca opal_common_ucx_devices any)
        ;;
    esac
}

# What the compiler for Fortran would add for MPI: its folders and libraries, without gfortran's own options.
mpi_words() {
    "$fortran_compiler" -show | tr ' ' '\n' | grep -E '^-(I|L|l)|^-Wl,-rpath' | awk '!seen[$0]++'
}

# mpif.h of this MPI in $out/KIND/include, without mpif-sizeof.h, which has interfaces for kinds of real
# that flang does not know.
copy_mpif() { # KIND
    local word folder=$out/$1/include
    [ ! -e "$folder/mpif.h" ] || return 0
    mkdir -p "$folder"
    for word in $(mpi_words); do
        [ ! -e "${word#-I}/mpif.h" ] || cp "${word#-I}"/mpif*.h "$folder"
    done
    [ ! -e "$folder/mpif-sizeof.h" ] || : >"$folder/mpif-sizeof.h"
}

build() { # KIND NAME...
    local kind=$1 name target source options words
    options=(-O1 -g -fopenmp -fopenmp-targets=x86_64-pc-linux-gnu "-L$llvm/lib")
    mkdir -p "$out/$kind"
    for name in "${@:2}"; do
        source=$here/programs/$name target=$out/$kind/$name
        [ -z "$(find "$source".* "$here/programs/ranks.h" -newer "$target" 2>&1)" ] && continue
        if [ -e "$source.f90" ]; then
            mapfile -t words < <(mpi_words)
            copy_mpif "$kind"
            "$flang" "${options[@]}" -Xoffload-linker "$BUILD_DIR/lib/libomprma-device.a" \
                "-I$out/$kind/include" "$source.f90" -o "$target.$$" "${words[@]}"
        elif [ "$kind" = none ]; then
            "$llvm/bin/clang" "${options[@]}" "$source.c" -o "$target.$$"
        else
            OMPI_CC=$llvm/bin/clang MPICH_CC=$llvm/bin/clang "$compiler" "${options[@]}" \
                "$source.c" -o "$target.$$"
        fi || { echo "$name does not compile with $kind" && exit 1; }
        mv "$target.$$" "$target"
    done
}
