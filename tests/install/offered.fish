# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# offered.fish COMPLETION LINE: what fish offers for the line up to the cursor, in this folder.
source $argv[1]
complete -C $argv[2]
