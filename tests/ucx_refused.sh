# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# ucx_refused.sh: sourced by tests that choose one-sided components.
#   ucx_refused BUILD   some versions of Open MPI have no window with UCX that omprma could use: true there
# shellcheck shell=bash

ucx_refused() {
    "$1/bin/omprma-info" -n 1 --osc ucx 2>&1 </dev/null | grep -q one-thread
}
