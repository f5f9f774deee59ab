package main

import (
	"runtime"
	"syscall"
	"time"
)

// usage is what the process has taken so far.
type usage struct {
	CPUSeconds  float64 `json:"cpuSeconds"`
	MaxRSSBytes int64   `json:"maxRssBytes"`
	Go          string  `json:"go"`
}

func readUsage() usage {
	var rusage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &rusage); err != nil {
		panic(err)
	}
	cpu := time.Duration(rusage.Utime.Nano() + rusage.Stime.Nano())
	// Linux counts kibibytes, macOS bytes.
	unit := int64(1024)
	if runtime.GOOS == "darwin" {
		unit = 1
	}
	return usage{CPUSeconds: cpu.Seconds(), MaxRSSBytes: int64(rusage.Maxrss) * unit, Go: runtime.Version()}
}
