package ringbuf

import (
	"bytes"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// TestBuilderMakesThePagesOfTheKernel compares with pages that are put together by hand
// from the words that events/header_event describes.
func TestBuilderMakesThePagesOfTheKernel(t *testing.T) {
	type rec struct {
		time uint64
		data []byte
	}
	four, odd, long := []byte{0xaa, 0, 0, 0}, []byte{1, 0, 0, 0, 2}, append([]byte{1}, make([]byte, 115)...)
	for _, test := range []struct {
		name  string
		stamp uint64
		lost  int64
		recs  []rec
		want  []byte
	}{
		{"two records", 100, 0, []rec{{100, four}, {107, four}}, pageOf(le64, 100, 16, 256, word(1, 0), 0xaa, word(1, 7), 0xaa)},
		{"padded to words", 100, 0, []rec{{105, odd}}, pageOf(le64, 100, 12, 256, word(2, 5), 1, 2)},
		{"a long record", 0, 0, []rec{{1, long}}, pageOf(le64, 0, 8+116, 256, word(0, 1), 120, 1)},
		{"the longest delta", 0, 0, []rec{{1<<27 - 1, four}}, pageOf(le64, 0, 8, 256, word(1, 1<<27-1), 0xaa)},
		{"time extend", 7, 0, []rec{{7 + 2<<27 + 3, four}}, pageOf(le64, 7, 16, 256, word(30, 3), 2, word(1, 0), 0xaa)},
		{"lost, counted", 5, 42, []rec{{5, four}}, pageOf(le64, 5, 8|1<<31|1<<30, 256, word(1, 0), 0xaa, 42)},
		{"lost, not counted", 5, UnknownLoss, []rec{{5, four}}, pageOf(le64, 5, 8|1<<31, 256, word(1, 0), 0xaa)},
		{"lost at the end", 5, 42, nil, pageOf(le64, 5, 1<<31|1<<30, 256, 42)},
	} {
		var b Builder
		b.Reset(256, 1, 0)
		b.Add(1, bytes.Repeat([]byte{0xff}, 200)) // nothing of an older page may show
		b.Reset(256, test.stamp, test.lost)
		for _, r := range test.recs {
			if !b.Add(r.time, r.data) {
				t.Errorf("%s: no room", test.name)
			}
		}
		if diff := cmp.Diff(test.want, b.Bytes()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.name, diff)
		}
	}
}

func TestBuilderRefusesWhatDoesNotFit(t *testing.T) {
	var b Builder
	if !b.Empty() {
		t.Error("a new one is not empty")
	}
	b.Reset(128, 100, 3)
	if b.Add(100, make([]byte, 112)) {
		t.Error("a record lies over the number of lost events")
	}
	if b.Add(99, nil) {
		t.Error("a record lies before its page")
	}
	if b.Add(100+1<<59, nil) {
		t.Error("a time extend has 59 bits")
	}
	if !b.Empty() || !b.Add(100, make([]byte, MaxPayload(128))) || b.Empty() {
		t.Error("the longest record has no room")
	}
	if b.Add(100, nil) {
		t.Error("there is room left behind the longest record")
	}
}

// TestBuiltPagesAreRead: what was added comes back from Page, whatever it is.
func TestBuiltPagesAreRead(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		time := rapid.Uint64Range(0, 1<<62).Draw(t, "stamp")
		lost := rapid.SampledFrom([]int64{0, 1, 1 << 40, UnknownLoss}).Draw(t, "lost")
		var b Builder
		b.Reset(512, time, lost)
		var want, got []string
		for range rapid.IntRange(0, 30).Draw(t, "records") {
			time += rapid.OneOf(rapid.Uint64Range(0, 3), rapid.Uint64Range(1<<27-2, 1<<27+2), rapid.Uint64Range(0, 1<<58)).Draw(t, "delta")
			rec := rapid.SliceOfN(rapid.Byte(), 1, 140).Draw(t, "record")
			if !b.Add(time, rec) {
				break
			}
			want = append(want, string(append(rec, make([]byte, -len(rec)&3)...)))
		}
		var p Page
		if err := p.Reset(BuildLayout, b.Bytes()); err != nil {
			t.Fatal(err)
		}
		for rec, ok := p.Next(); ok; rec, ok = p.Next() {
			got = append(got, string(rec))
		}
		if diff := cmp.Diff(want, got); diff != "" || p.Err() != nil || p.Lost() != lost {
			t.Errorf("lost %d, want %d; %v; records (-want +got):\n%s", p.Lost(), lost, p.Err(), diff)
		}
		if len(want) > 0 && p.Time() != b.time {
			t.Errorf("the last record is at %d, want %d", p.Time(), b.time)
		}
	})
}

func BenchmarkBuilder(b *testing.B) {
	rec := make([]byte, 36)
	var p Builder
	b.ReportAllocs()
	b.SetBytes(40)
	p.Reset(4096, 0, 0)
	for time := uint64(0); b.Loop(); time += 1000 {
		if !p.Add(time, rec) {
			p.Bytes()
			p.Reset(4096, time, 0)
			p.Add(time, rec)
		}
	}
}
