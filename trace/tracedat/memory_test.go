package tracedat

import (
	"bytes"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/internal/shared"
)

// TestMemoryOfBigTrace reads 130 MB of pages in a process of its own and looks at the
// most memory that it had at any moment, above what a Go process has anyway.
func TestMemoryOfBigTrace(t *testing.T) {
	const child = "WHYLATE_MEMORY_CHILD"
	path := shared.Path(t, "traces/big-v61-smp4/hackbench.dat")
	if os.Getenv(child) != "" {
		before := peakRSS(t)
		drain(t, path)
		os.Stdout.WriteString("PEAK " + strconv.Itoa(peakRSS(t)-before) + "\n")
		return
	}
	if _, err := os.Stat("/proc/self/status"); err != nil {
		t.Skip("no /proc")
	}
	cmd := exec.Command(os.Args[0], "-test.run=^TestMemoryOfBigTrace$")
	cmd.Env = append(os.Environ(), child+"=1")
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	_, rest, ok := bytes.Cut(out, []byte("PEAK "))
	line, _, _ := bytes.Cut(rest, []byte("\n"))
	kib, err := strconv.Atoi(string(line))
	if !ok || err != nil {
		t.Fatalf("child said %q", out)
	}
	t.Logf("%d KiB", kib)
	if kib > 48<<10 {
		t.Errorf("reading took %d KiB, want at most 48 MiB", kib)
	}
}

// drain reads all events of a file.
func drain(t testing.TB, path string) int {
	s, err := openFile(t, path).Events(event.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for n := 0; ; n++ {
		if _, err := s.Next(); err == io.EOF {
			return n
		} else if err != nil {
			t.Fatal(err)
		}
	}
}

// peakRSS is the VmHWM of this process in KiB.
func peakRSS(t *testing.T) int {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(status), "VmHWM:")
	n, err := strconv.Atoi(strings.Fields(rest)[0])
	if err != nil {
		t.Fatal(err)
	}
	return n
}
