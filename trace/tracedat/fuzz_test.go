package tracedat

import "testing"

// FuzzOpen opens any bytes and reads all events. readAny fails on a panic, an error that
// is no *event.FormatError, and events out of order.
func FuzzOpen(f *testing.F) {
	for _, shape := range []testFile{
		{version: 6, kernelLong: 4}, {version: 6, big: true}, {version: 7}, {version: 7, codec: "zlib"}, {version: 7, codec: "zstd", big: true},
	} {
		for _, test := range builtFiles {
			file := shape
			file.pageSize = 512 // small seeds are mutated where it matters
			test.build(&file)
			file.cmdlines, file.printk = "1 init\n", "0x10 : \"x\"\n"
			f.Add(file.file(f))
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) { readAny(t, data) })
}
