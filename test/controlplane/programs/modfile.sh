#!/usr/bin/env bash
# Writes the module file of one Kubernetes version: ./modfile.sh 1.37.2 versions/v1.37.2.mod
# Kubernetes pins its staging modules at v0.0.0 and replaces them by folders, which only works inside its own
# repository; outside of it every one of them has to be replaced by its published version v0.Y.Z.
set -euo pipefail
cd "$(dirname "$0")"
version=$1 file=$2
upstream=$(go mod download -json "k8s.io/kubernetes@v$version" | sed -n 's/^\t"GoMod": "\(.*\)",$/\1/p')
{
  echo "module berth.dev/controlplane"
  echo
  grep -E '^go [0-9]' "$upstream"
  echo
  echo "require k8s.io/kubernetes v$version"
  echo "require go.etcd.io/etcd/server/v3 $(sed -n 's/.*go.etcd.io\/etcd\/server\/v3 \(v[0-9.]*\).*/\1/p' "$upstream" | head -n 1)"
  echo
  echo "replace ("
  sed -n 's/^\t\(k8s.io\/[a-z-]*\) v0.0.0$/\1/p' "$upstream" | sort -u | while read -r module; do
    printf '\t%s => %s v0.%s\n' "$module" "$module" "${version#*.}"
  done
  echo ")"
} >"$file"
go mod tidy -modfile="$file"
