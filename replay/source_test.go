package replay

import (
	"testing"

	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/explain"
)

func TestARunReadsLikeAFile(t *testing.T) {
	l := handMade(
		Task{Attr: fifo(50), Begin: BeginBlocked, Ops: []Op{{Kind: OpSleep, At: at(10 * ms)}, run(1 * ms), {Kind: OpSleep, At: at(30 * ms)}, run(1 * ms)}},
		Task{Attr: fifo(60), Begin: BeginBlocked, Ops: []Op{{Kind: OpSleep, At: at(29 * ms)}, run(4 * ms)}})
	for i, name := range []string{"late", "hog"} {
		l.Tasks[i].Comm = l.Names.Intern(name)
	}
	src, err := l.Source()
	if err != nil {
		t.Fatal(err)
	}
	got, err := explain.Explain(src, explain.Options{From: event.NoTime, To: event.NoTime})
	if err != nil {
		t.Fatal(err)
	}
	if len(got.Late) != 1 || got.Late[0].ID != "100@100.030000" || got.Late[0].WaitNS != int64(3*ms) {
		t.Fatalf("late: %+v", got.Late)
	}
	if c := got.Late[0].Causes; len(c) != 1 || c[0].Comm != "hog" || c[0].NS != int64(3*ms) {
		t.Errorf("causes: %+v", c)
	}
}
