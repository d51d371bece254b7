package ftracetext

import "bytes"

// htmlFilter takes the trace out of a systrace page: a viewer in JavaScript with the
// text of tracefs inside, in a <script class="trace-data"> or, in old ones, in a
// JavaScript string. The zero filter passes every line of a file that is no such page.
type htmlFilter struct {
	page   bool // the file is a page
	inside bool // the lines are those of the trace
}

// isPage reports whether a file that begins with head is a web page.
func isPage(head []byte) bool {
	head = bytes.TrimLeft(head[:min(len(head), 512)], " \t\r\n\xef\xbb\xbf")
	return len(head) > 0 && head[0] == '<' && (bytes.HasPrefix(bytes.ToLower(head), []byte("<!doctype html")) ||
		bytes.HasPrefix(bytes.ToLower(head), []byte("<html")))
}

// line returns the line as tracefs wrote it, and whether it belongs to the trace.
func (h *htmlFilter) line(b []byte) ([]byte, bool) {
	if !h.page {
		return b, true
	}
	// The header of tracefs begins the trace; the tags around it vary with the tool's age.
	if !h.inside {
		h.inside = hasPrefix(b, "# tracer:")
		return b, h.inside
	}
	if indexOf(b, "</script>") >= 0 {
		h.inside = false
		return b, false
	}
	b = bytes.TrimSuffix(b, []byte(`\n\`))
	if bytes.IndexByte(b, '&') >= 0 {
		b = unescape(b)
	}
	return b, true
}

// entities are the characters that a page must not contain as themselves.
var entities = [...]struct {
	name string
	char byte
}{{"&lt;", '<'}, {"&gt;", '>'}, {"&amp;", '&'}, {"&quot;", '"'}, {"&#39;", '\''}}

// unescape resolves entities in place: the text only becomes shorter.
func unescape(b []byte) []byte {
	out := b[:0]
	for i := 0; i < len(b); i++ {
		c := b[i]
		if c == '&' {
			for _, e := range entities {
				if hasPrefix(b[i:], e.name) {
					c = e.char
					i += len(e.name) - 1
					break
				}
			}
		}
		out = append(out, c)
	}
	return out
}
