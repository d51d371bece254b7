package trace

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/sysinfo"
)

// SidecarOf is where the snapshot of the machine lies beside the trace at path, for traces that
// have no place for it inside.
func SidecarOf(path string) string { return path + ".sysinfo.json" }

// Snapshot is the machine at the time of the recording: what SetSnapshot said, else what is
// inside the trace, else what lies beside it; nil where there is none.
func (f *File) Snapshot() *sysinfo.Snapshot {
	if f.snapshot != nil {
		return f.snapshot
	}
	return sysinfo.Of(f.Source)
}

// SetSnapshot says what the machine was, instead of what the trace says.
func (f *File) SetSnapshot(s *sysinfo.Snapshot) { f.setSnapshot(s, "the given snapshot") }

// setSnapshot takes s, which what names. A snapshot of another kernel is told with every result.
func (f *File) setSnapshot(s *sysinfo.Snapshot, what string) {
	f.snapshot, f.told = s, nil
	if s == nil {
		return
	}
	if recorded := f.Info().Kernel; recorded != "" && s.Kernel.Release != "" && recorded != s.Kernel.Release {
		f.tell("sysinfo", fmt.Sprintf("%s is of kernel %s, the trace of %s: it may be of another machine or time", what, s.Kernel.Release, recorded))
	}
}

// findSidecar takes the snapshot that lies beside the trace, unless there is one inside. One
// that cannot be read, or is of another kernel, is told and left out: nobody named it.
func (f *File) findSidecar() {
	if f.in.name == stdinName || sysinfo.Of(f.Source) != nil {
		return
	}
	path := SidecarOf(f.in.name)
	s, err := sysinfo.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return
	}
	if err != nil {
		f.tell("sysinfo", "the snapshot beside the trace is left out: "+err.Error())
		return
	}
	if f.setSnapshot(s, path); f.told != nil {
		f.snapshot = nil
		f.told[0].Text += "; it is left out, --sysinfo takes it all the same"
	}
}

// tell adds a diagnostic to all streams.
func (f *File) tell(kind, text string) { f.told = event.Diagnose(f.told, kind, 1, text) }

// Snapshot is that of the file.
func (b *Buffer) Snapshot() *sysinfo.Snapshot { return b.file.Snapshot() }

// SetSnapshot is that of the file.
func (b *Buffer) SetSnapshot(s *sysinfo.Snapshot) { b.file.SetSnapshot(s) }

// writeSidecar writes s beside the trace at path. Without s one that is there, of a trace that
// was overwritten, goes away: it would be taken for this one's.
func writeSidecar(path string, s *sysinfo.Snapshot) error {
	path = SidecarOf(path)
	if s == nil {
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("removing an old snapshot: %w", err)
		}
		return nil
	}
	file, err := os.Create(path)
	if err != nil {
		return fmt.Errorf("creating the snapshot: %w", err)
	}
	return errors.Join(sysinfo.Write(file, s), file.Close())
}
