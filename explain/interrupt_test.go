package explain_test

import (
	"context"
	"errors"
	"io"
	"testing"

	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/explain"
)

// fakeSource is a trace of n events.
type fakeSource struct {
	n     int
	names *event.Names
}

func (f *fakeSource) Info() *event.Info                          { return &event.Info{} }
func (f *fakeSource) Names() *event.Names                        { return f.names }
func (f *fakeSource) Events(event.Options) (event.Stream, error) { return &fakeStream{left: f.n}, nil }
func (f *fakeSource) Close() error                               { return nil }

type fakeStream struct {
	event.Stream
	left int
	ev   event.Event
}

func (s *fakeStream) Next() (*event.Event, error) {
	if s.left == 0 {
		return nil, io.EOF
	}
	s.left--
	return &s.ev, nil
}

func TestAStreamEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	src := explain.Interruptible(ctx, &fakeSource{n: 10 * explain.InterruptEvery})
	stream, err := src.Events(event.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for range 3*explain.InterruptEvery + 1 {
		if _, err := stream.Next(); err != nil {
			t.Fatal(err)
		}
	}
	cancel()
	for n := 0; ; n++ {
		_, err := stream.Next()
		if errors.Is(err, context.Canceled) {
			break
		}
		if err != nil || n > explain.InterruptEvery {
			t.Fatalf("after %d more events: %v", n, err)
		}
	}
	if _, err := src.Events(event.Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("a new stream: %v", err)
	}
}
