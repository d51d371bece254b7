// Package explain runs the two passes over a trace and fills the public results.
package explain

import (
	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/result"
)

// Explain tells each late wait of src with causes that sum to it.
func Explain(src event.Source, o Options) (*result.Explain, error) {
	return nil, event.ErrNotSupported
}

// Latency tells the waits of src as one row per task (or what o.By says).
func Latency(src event.Source, o Options) (*result.Latency, error) {
	return nil, event.ErrNotSupported
}

// Inspect tells what is in src and which verdicts its events support.
func Inspect(src event.Source, o Options) (*result.Info, error) {
	return nil, event.ErrNotSupported
}
