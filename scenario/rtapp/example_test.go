package rtapp_test

import (
	"fmt"

	"github.com/whylate/whylate/scenario/rtapp"
)

// A file in rt-app's dialect: comments, single quotes, commas at the end. Its second run
// is lost, as it is in rt-app.
func ExampleParse() {
	src := `{
  'tasks': {
    "ctl": { "policy": "SCHED_FIFO", "loop": 3, "run": 100, "sleep": 400, "run": 50, }, // µs
  },
}
`
	f, warnings, err := rtapp.Parse("ctl.json", []byte(src), rtapp.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, w := range warnings {
		fmt.Println(w)
	}
	t := f.Task("ctl")
	fmt.Println(t.Comm(0), t.Props.Policy, t.Props.Priority, "loop", t.Phases[0].Loop)
	for _, e := range t.Phases[0].Events {
		fmt.Println(" ", e.Kind, int64(e.Duration), "ns")
	}
	// Output:
	// ctl.json:3:75: tasks.ctl.run: duplicate key: rt-app uses this value in the place of the one at 3:49, which is lost
	// ctl-0 SCHED_FIFO 10 loop 3
	//   run 50000 ns
	//   sleep 400000 ns
}
