package trace_test

import (
	"encoding/binary"
	"path/filepath"
	"strings"
	"testing"

	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/trace"
)

// twoBuffers is a trace.dat v6 of one CPU with a main buffer and an instance "rt tasks",
// each with one event. It follows trace-cmd.dat.v6(5), not the reader.
func twoBuffers() []byte {
	o := binary.LittleEndian
	const layout = "\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n\tfield: local_t commit;\toffset:8;\tsize:8;\tsigned:1;\n" +
		"\tfield: char data;\toffset:16;\tsize:4080;\tsigned:1;\n"
	const format = "name: sched_wake_idle_without_ipi\nID: 300\nformat:\n" +
		"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n" +
		"\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n" +
		"\tfield:int cpu;\toffset:8;\tsize:4;\tsigned:1;\n\nprint fmt: \"cpu=%d\", REC->cpu\n"
	b := []byte("\x17\x08\x44tracing6\x00\x00\x08\x00\x10\x00\x00header_page\x00")
	b = append(o.AppendUint64(b, uint64(len(layout))), layout...)
	b = o.AppendUint64(append(b, "header_event\x00"...), 0)
	b = append(o.AppendUint32(o.AppendUint32(b, 0), 1), "sched\x00"...)
	b = append(o.AppendUint64(o.AppendUint32(b, 1), uint64(len(format))), format...)
	b = o.AppendUint64(o.AppendUint32(o.AppendUint32(b, 0), 0), 0) // no kallsyms, printk, cmdlines
	b = append(o.AppendUint32(b, 1), "options  \x00"...)
	const name = "rt tasks\x00"
	b = o.AppendUint32(o.AppendUint16(b, 3), uint32(8+len(name)))
	instance := len(b)
	b = o.AppendUint16(append(o.AppendUint64(b, 0), name...), 0)
	for i := range 2 {
		if i == 1 {
			o.PutUint64(b[instance:], uint64(len(b)))
		}
		b = append(b, "flyrecord\x00"...)
		page := (len(b) + 24 + 4095) &^ 4095
		b = o.AppendUint64(o.AppendUint64(o.AppendUint64(b, uint64(page)), 4096), 0)
		b = append(b, make([]byte, page-len(b))...)
		b = o.AppendUint64(o.AppendUint64(b, uint64(1000*(i+1))), 16)
		b = append(o.AppendUint16(o.AppendUint32(b, 5<<5|3), 300), 1, 0) // 5 ns later, 12 bytes: type, flags, count
		b = o.AppendUint32(o.AppendUint32(b, 42), uint32(i+1))
		b = append(b, make([]byte, page+4096-len(b))...)
	}
	return b
}

// TestBuffers reads the ring buffers of a file, each as a source of its own.
func TestBuffers(t *testing.T) {
	f, err := trace.Open(write(t, "two.dat", twoBuffers()))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for i, name := range f.Info().Buffers {
		b, err := f.Buffer(name)
		if err != nil {
			t.Fatal(err)
		}
		var src interface {
			event.Source
			Names() *event.Names
		} = b
		list := collect(t, src)
		want := event.Time(1000*(i+1) + 5)
		if len(list) != 1 || list[0].Time != want || list[0].Target != event.CPU(i+1) || list[0].PID != 42 ||
			src.Names().String(list[0].Name) != "sched_wake_idle_without_ipi" {
			t.Errorf("buffer %q: %+v, want one event at %d to CPU %d", name, list, want, i+1)
		}
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	}
	if n := len(collect(t, f)); n != 1 {
		t.Errorf("after closing its buffers the file has %d events", n)
	}
	if _, err := f.Buffer("no such"); err == nil || !strings.Contains(err.Error(), `"rt tasks"`) || !strings.Contains(err.Error(), "two.dat") {
		t.Errorf("the error does not tell the buffers: %v", err)
	}
}

// TestTextHasOneBuffer: a format without instances says so, and gives its only buffer.
func TestTextHasOneBuffer(t *testing.T) {
	path := write(t, "x.txt", []byte(twoLines))
	f, err := trace.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	b, err := f.Buffer("")
	if err != nil {
		t.Fatal(err)
	}
	if n := len(collect(t, b)); n != 2 {
		t.Errorf("%d events, want 2", n)
	}
	if _, err := f.Buffer("foo"); err == nil || !strings.Contains(err.Error(), "ftrace text") || !strings.Contains(err.Error(), filepath.Base(path)) {
		t.Errorf("error %v", err)
	}
}
