package cli

import (
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/whylate/whylate/internal/demo"
	"github.com/whylate/whylate/result"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"whylate": func() { os.Exit(Main()) },
	})
}

// TestScripts runs the program as users do. Each script finds the built-in trace as
// demo.dat beside its own files.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 filepath.Join("testdata", "script"),
		RequireExplicitExec: true,
		Setup: func(env *testscript.Env) error {
			env.Setenv("XDG_CONFIG_HOME", env.WorkDir)
			return writeDemo(filepath.Join(env.WorkDir, "demo.dat"))
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits":     cmdExits,
			"sums":      cmdSums,
			"interrupt": cmdInterrupt,
		},
	})
}

func writeDemo(path string) error {
	trace, err := demo.Trace()
	if err != nil {
		return err
	}
	text, err := io.ReadAll(trace)
	if err != nil {
		return err
	}
	return os.WriteFile(path, text, 0o666)
}

// cmdExits is "exits CODE PROGRAM ARG…": exec that wants exactly this exit code.
func cmdExits(ts *testscript.TestScript, _ bool, args []string) {
	if len(args) < 2 {
		ts.Fatalf("usage: exits CODE PROGRAM ARG...")
	}
	err := ts.Exec(args[1], args[2:]...)
	code := 0
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		code = exit.ExitCode()
	} else {
		ts.Check(err)
	}
	if got := strconv.Itoa(code); got != args[0] {
		ts.Fatalf("exit code %s, want %s", got, args[0])
	}
}

// cmdSums is "sums FILE": it holds the JSON of explain against its contract: the causes
// of every wait sum to its lateness.
func cmdSums(ts *testscript.TestScript, _ bool, args []string) {
	var r result.Explain
	ts.Check(json.Unmarshal([]byte(ts.ReadFile(args[0])), &r))
	if r.Schema != "whylate.explain/1" || len(r.Late) == 0 {
		ts.Fatalf("schema %q with %d late waits", r.Schema, len(r.Late))
	}
	for _, l := range r.Late {
		var sum int64
		for _, c := range l.Causes {
			sum += c.NS
		}
		if sum != l.LatenessNS {
			ts.Fatalf("wait %s: causes sum to %d of %d", l.ID, sum, l.LatenessNS)
		}
	}
}

// cmdInterrupt is "interrupt CODE PROGRAM ARG…": it starts the program with a standard
// input that never ends, sends SIGINT once it waits there, and wants the exit code.
func cmdInterrupt(ts *testscript.TestScript, _ bool, args []string) {
	path, err := exec.LookPath(args[1])
	ts.Check(err)
	cmd := exec.Command(path, args[2:]...)
	cmd.Dir = ts.MkAbs(".")
	cmd.Env = append(os.Environ(), "TMPDIR="+ts.MkAbs("tmp"))
	in, err := cmd.StdinPipe()
	ts.Check(err)
	defer in.Close()
	ts.Check(cmd.Start())
	// What is written has been read once the pipe's buffer (64 KiB) took twice as much.
	_, err = in.Write(make([]byte, 1<<17))
	ts.Check(err)
	ts.Check(cmd.Process.Signal(syscall.SIGINT))
	late := time.AfterFunc(20*time.Second, func() { cmd.Process.Kill() })
	defer late.Stop()
	cmd.Wait()
	if got := strconv.Itoa(cmd.ProcessState.ExitCode()); got != args[0] {
		ts.Fatalf("exit code %s, want %s", got, args[0])
	}
}
