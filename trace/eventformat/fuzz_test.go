package eventformat

import (
	"encoding/binary"
	"testing"

	"github.com/whylate/whylate/event"
)

// FuzzFormat takes any text as a format file and any bytes as a record of it.
func FuzzFormat(f *testing.F) {
	for _, test := range kindTests {
		f.Add(formatText(test.event, 99, commonText, test.fields, `""`), string(recordOf(binary.LittleEndian, 99, 1, 1, 1, test.size)), true)
	}
	for _, print := range []string{statePrint32, statePrint414, statePrintSymbolic} {
		f.Add(formatText("sched_switch", 99, commonText, []string{"long prev_state;8;8;1"}, `"%s%s", `+print),
			string(recordOf(binary.BigEndian, 99, 1, 1, 1, 16)), false)
	}
	f.Add(formatText("bprint", 99, commonText, []string{"const char * fmt;8;8;0", "u32 buf[];16;0;0"}, `""`),
		string(recordOf(binary.LittleEndian, 99, 1, 1, 1, 16))+"\x01\x02\x03\x04%s%5d", true)
	f.Fuzz(func(t *testing.T, text, record string, little bool) {
		s := &Set{BigEndian: !little, LongSize: 8}
		if err := s.Add("ftrace", []byte(text)); err != nil {
			return
		}
		rec := []byte(record)
		strings := ParseStrings([]byte(text))
		strings[0] = record // the format of trace_printk comes from the trace too
		d, err := s.NewDecoder(Context{Names: event.NewNames(), Strings: strings, OtherText: true,
			Symbols: NewSymbols(func() []byte { return []byte(text) })})
		if err != nil {
			return
		}
		var e event.Event
		for range 2 {
			d.Decode(&e, rec)
			d.AppendFields(nil, rec)
		}
		if e.Kind >= event.NumKinds {
			t.Errorf("kind %d", e.Kind)
		}
	})
}
