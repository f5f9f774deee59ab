// Only says that a module starts here: what it requires stands in versions/, one file per Kubernetes version (go build -modfile).
module berth.dev/controlplane

go 1.26.0
