package kernel

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/whylate/whylate/internal/shared"
)

// TestFeaturesAreThoseOfRecordedKernels: their sched_features, printed beside the traces.
func TestFeaturesAreThoseOfRecordedKernels(t *testing.T) {
	for dir, profile := range map[string]string{"mixed-v61-smp4": "6.1", "schbench-v61-smp4": "6.1", "schbench-v612-smp4": "6.12",
		"rtapp-v61rt-smp1": "6.1-rt", "exit-storm-v61rt-smp1": "6.1-rt", "exit-storm-v612rt-smp1": "6.12-rt"} {
		text, err := os.ReadFile(shared.Path(t, "traces/"+dir+"/out.txt"))
		if err != nil {
			t.Fatal(err)
		}
		_, line, _ := strings.Cut(string(text), "\nfeatures: ")
		line, _, _ = strings.Cut(line, "\n")
		features := strings.Fields(line)
		tr, known := traits[profile]
		if !known {
			t.Fatalf("there is no %s", profile)
		}
		p := Profile{Name: profile}
		for _, name := range p.Fair().On {
			if !slices.Contains(features, name) {
				t.Errorf("%s: %s is not on", dir, name)
			}
		}
		for _, name := range p.Fair().Off {
			if !slices.Contains(features, "NO_"+name) {
				t.Errorf("%s: %s is not off", dir, name)
			}
		}
		for name, on := range map[string]bool{"RT_PUSH_IPI": tr.RTPushIPI, "TTWU_QUEUE": tr.TTWUQueue, "RT_RUNTIME_SHARE": tr.RTRuntimeShare} {
			if !on {
				name = "NO_" + name
			}
			if !slices.Contains(features, name) {
				t.Errorf("%s: %s is not among its features %v", dir, name, features)
			}
		}
	}
}
