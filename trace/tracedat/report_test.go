package tracedat

import (
	"bufio"
	"bytes"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/internal/shared"
)

// reportLine is one event as "trace-cmd report -t" prints it.
type reportLine struct {
	comm string
	pid  int64
	cpu  int64
	time int64 // ns
	name string
	body string
	lost string // of a line "CPU:1 [9601 EVENTS DROPPED]": the number

	flags string // with -l
}

// report runs trace-cmd report and hands over its lines one after the other.
func report(t *testing.T, path string, args []string, each func(reportLine) bool) {
	t.Helper()
	if _, err := exec.LookPath("trace-cmd"); err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal("trace-cmd is promised in CI: ", err)
		}
		t.Skip("trace-cmd is not installed")
	}
	cmd := exec.Command("trace-cmd", append([]string{"report", "-t", "-i", path}, args...)...)
	cmd.Stderr = io.Discard
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		io.Copy(io.Discard, out)
		if err := cmd.Wait(); err != nil {
			t.Errorf("trace-cmd report: %v", err)
		}
	}()
	var last *reportLine
	lines := bufio.NewReaderSize(out, 1<<20)
	for {
		line, err := lines.ReadString('\n')
		if err != nil {
			break
		}
		line = strings.TrimSuffix(line, "\n")
		if strings.HasPrefix(line, "cpus=") && last == nil {
			continue
		}
		if r, ok := parseReportLine(line); ok {
			if last != nil && !each(*last) {
				return
			}
			last = &r
		} else if last != nil { // a newline inside the message
			last.body += "\n" + line
		}
	}
	if last != nil {
		each(*last)
	}
}

func parseReportLine(line string) (r reportLine, ok bool) {
	if rest, found := strings.CutPrefix(line, "CPU:"); found && strings.HasSuffix(line, "EVENTS DROPPED]") {
		cpu, rest, _ := strings.Cut(rest, " [")
		r.cpu, _ = strconv.ParseInt(cpu, 10, 64)
		r.lost = strings.TrimSpace(strings.TrimSuffix(rest, "EVENTS DROPPED]"))
		return r, true
	}
	cpu, flags, task, rest, ok1 := cutCPU(line)
	dash := strings.LastIndexByte(task, '-')
	stamp, rest, ok2 := strings.Cut(rest, ": ")
	name, body, ok3 := strings.Cut(rest, ":")
	secs, ns, ok4 := strings.Cut(strings.TrimSpace(stamp), ".")
	if dash < 0 || !ok1 || !ok2 || !ok3 || !ok4 {
		return r, false
	}
	var errs [4]error
	r.comm, r.flags, r.name, r.body = task[:dash], flags, name, strings.TrimLeft(body, " ")
	r.pid, errs[0] = strconv.ParseInt(task[dash+1:], 10, 64)
	r.cpu, errs[1] = strconv.ParseInt(cpu, 10, 64)
	s, err := strconv.ParseInt(secs, 10, 64)
	errs[2] = err
	n, err := strconv.ParseInt(ns, 10, 64)
	errs[3] = err
	r.time = s*1e9 + n
	for _, err := range errs {
		if err != nil {
			return r, false
		}
	}
	return r, true
}

// cutCPU cuts "task-1  [000]  12.5: …", or "task-1  0d..2. 12.5: …" with -l, at the CPU.
func cutCPU(line string) (cpu, flags, task, rest string, ok bool) {
	for i := 0; i < len(line); i++ {
		if line[i] != '-' { // a comm may contain '-', ' ' and '['
			continue
		}
		j := i + 1
		for j < len(line) && line[j] >= '0' && line[j] <= '9' {
			j++
		}
		word, tail, found := strings.Cut(strings.TrimLeft(line[j:], " "), " ")
		if j == i+1 || j == len(line) || line[j] != ' ' || !found {
			continue
		}
		task = strings.TrimSpace(line[:j])
		if len(word) == 5 && word[0] == '[' && word[4] == ']' {
			return word[1:4], "", task, tail, true
		}
		if n := len(word) - 5; n > 0 && strings.Trim(word[:n], "0123456789") == "" {
			return word[:n], word[n:], task, tail, true
		}
	}
	return
}

// recordings lists every trace.dat that trace-cmd opens.
func recordings(t *testing.T) []string {
	t.Helper()
	var paths []string
	for _, pattern := range []string{"traces/*/*.dat", "samples/*/*.dat"} {
		dir := shared.Path(t, strings.SplitN(pattern, "/", 2)[0])
		found, err := filepath.Glob(filepath.Join(dir, filepath.FromSlash(strings.SplitN(pattern, "/", 2)[1])))
		if err != nil || len(found) == 0 {
			t.Fatalf("no recordings in %s: %v", dir, err)
		}
		paths = append(paths, found...)
	}
	return paths
}

// openFile opens a trace.dat for a test.
func openFile(t testing.TB, path string) *File {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { file.Close() })
	st, err := file.Stat()
	if err != nil {
		t.Fatal(err)
	}
	f, err := Open(file, st.Size(), event.NewNames())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

// TestEventsAgreeWithReport compares every event of every recording with what trace-cmd
// makes of it: count, order, time, CPU, task, type and all fields.
func TestEventsAgreeWithReport(t *testing.T) {
	for _, path := range recordings(t) {
		t.Run(filepath.Base(filepath.Dir(path))+"/"+filepath.Base(path), func(t *testing.T) {
			if testing.Short() && strings.Contains(path, "hackbench") {
				t.Skip("2.5 million events")
			}
			f := openFile(t, path)
			s, err := f.stream(f.main(), event.Options{})
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			cmp := comparer{t: t, f: f, s: s, fields: map[event.Name][]string{}}
			report(t, path, []string{"-R"}, cmp.line)
			if _, err := s.Next(); err != io.EOF {
				t.Errorf("more events than trace-cmd reports: %v after %d", err, cmp.n)
			}
			if cmp.n < 500 {
				t.Errorf("only %d events compared", cmp.n)
			}
			for _, d := range s.Diagnostics() {
				t.Errorf("diagnostic on a sound file: %+v", d)
			}
		})
	}
}

type comparer struct {
	t      *testing.T
	f      *File
	s      *stream
	n      int
	fails  int
	fields map[event.Name][]string
	text   []byte
}

// fail reports a difference and stops after some.
func (c *comparer) fail(format string, args ...any) bool {
	c.t.Helper()
	c.t.Errorf("event %d: "+format, append([]any{c.n}, args...)...)
	c.fails++
	return c.fails < 10
}

func (c *comparer) line(r reportLine) bool {
	e, err := c.s.Next()
	if err != nil {
		c.fail("trace-cmd has %+v, the stream %v", r, err)
		return false
	}
	c.n++
	name := c.s.names.String
	if int64(e.Time) != r.time || int64(e.CPU) != r.cpu || int64(e.PID) != r.pid || name(e.Name) != r.name {
		return c.fail("%d [%d] %d %s, trace-cmd has %+v", e.PID, e.CPU, e.Time, name(e.Name), r)
	}
	if comm := name(e.Comm); comm != r.comm && !(comm == "" && r.comm == "<...>") {
		return c.fail("comm %q, trace-cmd has %q", comm, r.comm)
	}
	rec := c.s.heap[0].rec
	fields, ok := c.fields[e.Name]
	if !ok {
		format, err := c.f.formats.Format(c.s.decoder.Type(rec))
		if err != nil {
			return c.fail("%v", err)
		}
		for _, field := range format.Fields {
			if !strings.HasPrefix(field.Name, "common_") {
				fields = append(fields, field.Name)
			}
		}
		c.fields[e.Name] = fields
	}
	c.text = c.s.decoder.AppendFields(c.text[:0], rec)
	ours, theirs := splitFields(string(c.text), fields), splitFields(r.body, fields)
	for i, field := range fields {
		if !c.same(r.name, field, ours[i], theirs[i]) {
			return c.fail("%s: %s is %q, trace-cmd has %q\n%s\n%s", r.name, field, ours[i], theirs[i], c.text, r.body)
		}
		if got, ok := typed(e, r.name, field, name); ok && !c.same(r.name, field, got, theirs[i]) {
			return c.fail("%s: %s is %q in the event, trace-cmd has %q", r.name, field, got, theirs[i])
		}
	}
	return true
}

// splitFields cuts "a=1 b=x y c=3" at the names, which come in this order.
func splitFields(text string, names []string) []string {
	values := make([]string, len(names))
	for i, name := range names {
		rest, ok := strings.CutPrefix(text, name+"=")
		if !ok {
			values[i] = "missing in " + text
			return values
		}
		if i+1 < len(names) {
			end := strings.Index(rest, " "+names[i+1]+"=")
			if end < 0 {
				values[i] = "end missing in " + text
				return values
			}
			values[i], text = rest[:end], rest[end+1:]
		} else {
			values[i] = rest
		}
	}
	return values
}

// same compares two prints of a field: trace-cmd takes the number base from the print
// format, names functions where it finds %ps, and does not print what print's buf ends
// with.
func (c *comparer) same(event, field, ours, theirs string) bool {
	if ours == theirs || strings.TrimRight(ours, "\n") == strings.TrimRight(theirs, "\n") {
		return true
	}
	if event == "bprint" && field == "buf" { // trace-cmd prints no array there
		return theirs == "0" && strings.HasPrefix(ours, "ARRAY[")
	}
	a, okA := number(ours, false)
	b, okB := number(theirs, false)
	if okA && okB && (a == b || uint32(a) == uint32(b) && int64(int32(a)) == int64(int32(b)) && (a>>32 == 0 || b>>32 == 0)) {
		return true
	}
	if b, okB = number(theirs, true); okA && okB && a == b { // %x and %llx print no 0x
		return true
	}
	if okA && bytes.Equal(c.f.symbols.Lookup(a), []byte(theirs)) {
		return true
	}
	b, okB = number(theirs, false)
	if text, ok := c.f.strings[b]; okB && ok && text == ours {
		return true // the event's constant text instead of its address
	}
	return okB && string(c.f.symbols.Lookup(b)) == ours
}

func number(s string, hex bool) (uint64, bool) {
	base := 10
	if rest, ok := strings.CutPrefix(s, "0x"); ok || hex {
		s, base = rest, 16
	}
	if strings.HasPrefix(s, "-") {
		n, err := strconv.ParseInt(s, base, 64)
		return uint64(n), err == nil
	}
	n, err := strconv.ParseUint(s, base, 64)
	return n, err == nil
}
