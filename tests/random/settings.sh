# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# settings.sh: read by the scripts that run random programs on real workers: which settings of
# omprma are next, as they follow from a seed.
# shellcheck shell=bash

state=${state:-1} # of the numbers; the seed
# shellcheck source=../ucx_refused.sh
. "$(dirname "${BASH_SOURCE[0]}")/../ucx_refused.sh"
ucx=ucx
! ucx_refused "${BUILD_DIR:-build}" || ucx=rdma

# pick WORD...: one of them, in $picked.
pick() {
    state=$(((state * 1103515245 + 12345) & 0x7fffffff))
    shift $(((state >> 16) % $#))
    picked=$1
}

# One of the settings of a kind, or that it is left alone: assignments in $chosen, options of
# omprma-run in $options.
settings() {
    chosen=()
    pick '' '' INLINE_SUBMIT=0 INLINE_SUBMIT=64 INLINE_SUBMIT=2K INLINE_SUBMIT=16K
    chosen+=(${picked:+"OMPRMA_$picked"})
    pick '' '' INLINE_RETRIEVE=0 INLINE_RETRIEVE=2K INLINE_RETRIEVE=16K
    chosen+=(${picked:+"OMPRMA_$picked"})
    pick '' PIECE=64K PIECE=128K
    chosen+=(${picked:+"OMPRMA_$picked"})
    pick '' EXCHANGE=put EXCHANGE=get EXCHANGE=send EXCHANGE=application
    chosen+=(${picked:+"OMPRMA_$picked"})
    pick '' '' CONTROL=mpi
    chosen+=(${picked:+"OMPRMA_$picked"})
    pick '' '' LANES=3
    chosen+=(${picked:+"OMPRMA_$picked"})
    pick ARENA=1M ARENA=64M
    chosen+=(${picked:+"OMPRMA_$picked"})
    pick '' '' '' PROGRESS_THREAD=1
    chosen+=(${picked:+"OMPRMA_$picked"})
    pick auto rma two-sided
    options=(--data "$picked")
    pick auto rdma "$ucx"
    options+=(--osc "$picked")
    pick 1 2 3 3
    options+=(-n "$picked")
    [ "$picked" = 3 ] || pick '' 2
    [ "$picked" != 2 ] || options+=(--devices-per-worker 2)
    # No way by a window without one.
    case "${options[*]} ${chosen[*]}" in
    *two-sided*EXCHANGE=[pg]* | *'data rma'*EXCHANGE=send*) chosen+=(OMPRMA_EXCHANGE=auto) ;;
    esac
}
