package explain

import (
	"context"

	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/sysinfo"
)

// Interruptible returns src with streams that end with the error of ctx when that ends. The
// analysis knows no context: for it the stream fails, and it unwinds and tidies up as after
// any error.
func Interruptible(ctx context.Context, src Source) Source { return &interruptible{src, ctx} }

type interruptible struct {
	Source
	ctx context.Context
}

// Snapshot passes the answer of the source on; see sysinfo.Of.
func (s *interruptible) Snapshot() *sysinfo.Snapshot { return sysinfo.Of(s.Source) }

func (s *interruptible) Events(o event.Options) (event.Stream, error) {
	if err := s.ctx.Err(); err != nil {
		return nil, err
	}
	stream, err := s.Source.Events(o)
	if err != nil {
		return nil, err
	}
	return &interruptibleStream{Stream: stream, ctx: s.ctx}, nil
}

type interruptibleStream struct {
	event.Stream
	ctx context.Context
	n   uint
}

// InterruptEvery is how many events pass between two looks at the context, which takes a
// lock: well under a millisecond of reading.
const InterruptEvery = 4096

func (s *interruptibleStream) Next() (*event.Event, error) {
	if s.n++; s.n%InterruptEvery == 0 {
		if err := s.ctx.Err(); err != nil {
			return nil, err
		}
	}
	return s.Stream.Next()
}

// PassedOver passes the answer of the stream on; see event.Counter.
func (s *interruptibleStream) PassedOver() int64 { return event.PassedOver(s.Stream) }
