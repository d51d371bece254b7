package trace

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// input is a file that can be read at any offset: the one that the user named, or a
// temporary copy of what came through a pipe or out of a compressed file.
type input struct {
	name string // for messages
	file *os.File
	size int64
	temp string // path of a temporary file that is still to be removed
	cut  bool   // a compressed file that ended too early
}

// prepare looks at what was opened and spools it where needed.
func (in *input) prepare() error {
	st, err := in.file.Stat()
	if err != nil {
		return fmt.Errorf("looking at the file: %w", err)
	}
	if st.IsDir() {
		return errors.New("is a folder; name a trace file in it" + tracesIn(in.file.Name()))
	}
	in.size = st.Size()
	// Pipes, sockets and /dev/stdin cannot be read twice. A file that the shell opened may
	// stand at another place than its start: what lies before is not for us.
	if pos, err := in.file.Seek(0, io.SeekCurrent); !st.Mode().IsRegular() || err != nil || pos != 0 {
		if err := in.spool(nopDecoder); err != nil {
			return fmt.Errorf("copying it to a temporary file: %w", err)
		}
	}
	// Decided by content, not by name; a log collector may compress once more.
	for layer := 0; ; layer++ {
		c, err := in.compression()
		if err != nil || c == nil {
			return err
		}
		if layer == maxLayers {
			return fmt.Errorf("compressed more than %d times over: decompress it first", maxLayers)
		}
		if err := in.spool(c.decoder); err != nil {
			return fmt.Errorf("decompressing %s: %w", c.name, err)
		}
	}
}

// tracesIn suggests a file of a folder: users name the folder of a recording.
func tracesIn(dir string) string {
	for _, pattern := range []string{"*.dat", "*.txt", "*.gz", "*.xz", "*.zst"} {
		if found, _ := filepath.Glob(filepath.Join(dir, pattern)); len(found) > 0 {
			return ", such as " + found[0]
		}
	}
	return ""
}

// spool replaces the input by a temporary file with what decode makes of it. The
// temporary file loses its name at once where the system allows it, so that nothing
// is left behind however the program ends.
func (in *input) spool(decode decoder) error {
	// TMPDIR is honoured; the file is private to the user, as traces name programs.
	temp, err := os.CreateTemp("", "whylate-*")
	if err != nil {
		return fmt.Errorf("%w (set TMPDIR to a folder with room)", err)
	}
	path := temp.Name()
	if os.Remove(path) == nil {
		path = ""
	}
	n, cut, err := copyLimited(temp, in.file, decode)
	if err != nil {
		temp.Close()
		if path != "" {
			os.Remove(path)
		}
		return err
	}
	if _, err := temp.Seek(0, io.SeekStart); err != nil { // a further layer is read from here
		return errors.Join(err, temp.Close())
	}
	if err := in.close(); err != nil {
		return errors.Join(err, temp.Close())
	}
	in.file, in.size, in.temp, in.cut = temp, n, path, in.cut || cut
	return nil
}

// close closes the file, unless it is the process's standard input, and removes it if it
// is a temporary one.
func (in *input) close() error {
	var err error
	if in.file != os.Stdin {
		err = in.file.Close()
	}
	if in.temp != "" {
		err = errors.Join(err, os.Remove(in.temp))
		in.temp = ""
	}
	return err
}
