package cli

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/whylate/whylate/explain"
	"github.com/whylate/whylate/sysinfo"
	"github.com/whylate/whylate/trace"
)

// input holds the flags that say what the trace is; its file may also be the verb's
// argument.
type input struct{ file, kernel, buffer, sysinfo string }

func (in *input) register(cmd *cobra.Command) {
	cmd.Flags().StringVarP(&in.file, "input", "i", "",
		"read the trace `FILE`; - is standard input. Without a file: the newest of\n"+strings.Join(defaultFiles, ", ")+" in this folder")
	cmd.Flags().StringVar(&in.kernel, "kernel", "",
		"the kernel's `RELEASE` (uname -r), for text traces, which do not say it")
	cmd.Flags().StringVar(&in.buffer, "buffer", "",
		"read the ring buffer (trace instance) `NAME` of a trace.dat; info lists them")
	cmd.Flags().StringVar(&in.sysinfo, "sysinfo", "",
		"take the snapshot of the machine from `FILE` instead of from the trace or from what lies\nbeside it, TRACE.sysinfo.json")
}

// defaultFiles are the names under which recorders leave their traces.
var defaultFiles = []string{"whylate.trace", "trace.dat", "perf.data"}

// choose returns the file to read: the argument, the flag, or the newest default.
func (in *input) choose(cmd *cobra.Command, args []string) (string, error) {
	switch {
	case len(args) == 1 && in.file != "":
		return "", &usageError{cmd.CommandPath(), fmt.Errorf("two inputs, %s and %s; give one", args[0], in.file)}
	case len(args) == 1:
		return args[0], nil
	case in.file != "":
		return in.file, nil
	}
	newest, at := "", time.Time{}
	for _, name := range defaultFiles {
		info, err := os.Stat(name)
		if err == nil && info.Mode().IsRegular() && (newest == "" || info.ModTime().After(at)) {
			newest, at = name, info.ModTime()
		}
	}
	if newest == "" {
		return "", fmt.Errorf("no FILE given and none of %s is here; `whylate record --print` shows how to record one, `whylate demo` explains one that comes with the program",
			strings.Join(defaultFiles, ", "))
	}
	return newest, nil
}

// question is what a verb asks a trace; its error is the answer's.
type question func(explain.Source, explain.Options) (*answer, error)

// answer chooses the trace, asks ask about it and prints what comes back. o lacks only
// what in says.
func (std *streams) answer(cmd *cobra.Command, args []string, in *input, out *output, o explain.Options, ask question) error {
	file, err := in.choose(cmd, args)
	if err != nil {
		return err
	}
	if err := out.check(file); err != nil {
		return err
	}
	src, err := std.openInput(in, file)
	if err != nil {
		return err
	}
	o.File, o.Kernel = file, in.kernel
	return std.answerFrom(cmd, src, out, o, ask)
}

// answerFrom is answer for a trace that is open. It is closed before anything is printed:
// when somebody stops reading there is nothing left to tidy up.
func (std *streams) answerFrom(cmd *cobra.Command, src explain.Source, out *output, o explain.Options, ask question) error {
	p := newProgress(std.err, out.quiet)
	o.Progress = p.update
	a, err := ask(explain.Interruptible(cmd.Context(), src), o)
	p.erase()
	if err = errors.Join(err, src.Close()); err != nil {
		return err
	}
	return out.print(a, std.out)
}

// openInput opens the trace file with the ring buffer and the snapshot that in names.
func (std *streams) openInput(in *input, file string) (explain.Source, error) {
	src, err := std.open(file)
	if err != nil {
		return nil, err
	}
	if src, err = bufferOf(src, in.buffer); err != nil || in.sysinfo == "" {
		return src, err
	}
	s, err := sysinfo.ReadFile(in.sysinfo)
	if err != nil {
		return nil, errors.Join(err, src.Close())
	}
	if f, ok := src.(interface{ SetSnapshot(*sysinfo.Snapshot) }); ok { // every input has it
		f.SetSnapshot(s)
	}
	return src, nil
}

// open opens a trace file, or the standard input of this run for "-".
func (std *streams) open(file string) (explain.Source, error) {
	if file == trace.Stdin && std.in != os.Stdin {
		return openReader(std.in)
	}
	return trace.Open(file)
}

// bufferOf returns the named ring buffer of src as a source of its own; "" is src itself.
// Where there is no such buffer src is closed.
func bufferOf(src explain.Source, name string) (explain.Source, error) {
	if name == "" {
		return src, nil
	}
	f, ok := src.(interface {
		Buffer(string) (*trace.Buffer, error)
	})
	if !ok {
		return nil, errors.Join(fmt.Errorf("this input has no ring buffer %q", name), src.Close())
	}
	b, err := f.Buffer(name)
	if err != nil {
		return nil, errors.Join(err, src.Close())
	}
	return &bufferSource{b, src}, nil
}

// bufferSource is a ring buffer together with the file that it closes.
type bufferSource struct {
	*trace.Buffer
	file explain.Source
}

func (b *bufferSource) Close() error { return b.file.Close() }

// openReader opens a trace that is not a file. Events are read more than once, so it
// goes through a temporary copy.
func openReader(r io.Reader) (explain.Source, error) {
	temp, err := os.CreateTemp("", "whylate-*")
	if err != nil {
		return nil, fmt.Errorf("making a temporary copy of the trace: %w", err)
	}
	_, err = io.Copy(temp, r)
	if err = errors.Join(err, temp.Close()); err != nil {
		return nil, errors.Join(fmt.Errorf("making a temporary copy of the trace: %w", err), os.Remove(temp.Name()))
	}
	src, err := trace.Open(temp.Name())
	if err != nil {
		return nil, errors.Join(err, os.Remove(temp.Name()))
	}
	return &temporary{src, temp.Name()}, nil
}

// temporary is a trace whose file goes away with it.
type temporary struct {
	*trace.File
	path string
}

func (t *temporary) Close() error {
	return errors.Join(t.File.Close(), os.Remove(t.path))
}
