#!/usr/bin/env bash
# The filter of an extender: of the node names in a request it keeps those that end in "-ssd".
set -euo pipefail
body=$(cat)
[[ $body =~ \"NodeNames\":\[([^]]*)\] ]]
IFS=, read -ra names <<<"${BASH_REMATCH[1]}"
kept=() failed=()
for name in "${names[@]}"; do
  if [[ $name == *-ssd\" ]]; then kept+=("$name"); else failed+=("$name:\"node(s) had no SSD\""); fi
done
IFS=,
printf '{"NodeNames":[%s],"FailedNodes":{%s},"Error":""}' "${kept[*]-}" "${failed[*]-}"
