#!/usr/bin/env bash
# Compiles as it is told, and leaves the PTX that nvcc makes on its way.
#
#   tools/keep_ptx.sh FOLDER nvcc ARGUMENT...   FOLDER/NAME.ptx of NAME.cu
set -euo pipefail
folder=$1
shift
made=$(mktemp -d)
trap 'rm -rf "$made"' EXIT
"$@" --keep --keep-dir "$made"
mkdir -p "$folder"
mv "$made"/*.ptx "$folder/"
