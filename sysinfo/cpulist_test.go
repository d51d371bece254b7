package sysinfo

import (
	"testing"

	"github.com/whylate/whylate/event"
)

func TestListsOfCPUs(t *testing.T) {
	for want, cpus := range map[string][]event.CPU{"": nil, "3": {3}, "0-2": {0, 1, 2}, "0,2-3,7": {0, 2, 3, 7}} {
		if got := ListOf(cpus).String(); got != want {
			t.Errorf("%v: %q, want %q", cpus, got, want)
		}
	}
}
