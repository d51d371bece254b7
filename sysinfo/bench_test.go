package sysinfo

import (
	"bytes"
	"fmt"
	"testing"
)

// crowd is a machine with 20,000 tasks in 500 groups on 256 CPUs.
func crowd() *Snapshot {
	s := machine()
	s.Tasks, s.CPUs = nil, nil
	for c := range int32(256) {
		s.CPUs = append(s.CPUs, CPU{CPU: c, Online: true, Core: c / 2, Siblings: CPUList{c &^ 1, c | 1}})
	}
	for i := range int32(20_000) {
		s.Tasks = append(s.Tasks, Task{PID: 100 + i, TGID: 100 + i&^7, Comm: fmt.Sprintf("worker-%d", i%50), Policy: Other, CPUs: CPUList{i % 256},
			CGroup: fmt.Sprintf("/kubepods.slice/pod%d/container", i%500)})
	}
	return s
}

func BenchmarkWrite(b *testing.B) {
	s := crowd()
	for b.Loop() {
		if _, err := Pack(s); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkRead(b *testing.B) {
	var text bytes.Buffer
	if err := Write(&text, crowd()); err != nil {
		b.Fatal(err)
	}
	data, err := Pack(crowd())
	if err != nil {
		b.Fatal(err)
	}
	b.ReportMetric(float64(len(data)), "packed-B")
	b.SetBytes(int64(text.Len()))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Unpack(data); err != nil {
			b.Fatal(err)
		}
	}
}
