package machine

import (
	"github.com/whylate/whylate/engine"
	"github.com/whylate/whylate/event"
)

// Span is a length in ns between Min and Max, each as likely. The zero Span takes no time.
type Span struct{ Min, Max event.Time }

// draw takes a length out of the span. Where there is only one, no number is drawn.
func (s Span) draw(r *engine.Stream) event.Time {
	return event.Time(r.Between(int64(s.Min), int64(s.Max)))
}
