package cli

import (
	"fmt"
	"io"
	"math/big"
	"slices"
	"text/tabwriter"

	"github.com/whylate/whylate/report"
	"github.com/whylate/whylate/result"
)

// repeated is what --repeat prints: of each task the percentiles of its wakeup waits over
// runs that differ in their seed only.
type repeated struct {
	Schema string         `json:"schema"`
	Input  result.Input   `json:"input"` // of the first run
	Runs   int            `json:"runs"`
	Tasks  []repeatedTask `json:"tasks"`
}

type repeatedTask struct {
	Comm  string   `json:"comm"`
	PID   int32    `json:"pid"`
	Class string   `json:"class"`
	Prio  int32    `json:"prio"`
	Group string   `json:"group,omitempty"`
	P50   interval `json:"p50_ns"`
	P99   interval `json:"p99_ns"`
	Max   interval `json:"max_ns"`
}

// interval is the median over the runs and where that of all runs lies: between two of
// the values, with a confidence that depends on nothing but their number.
type interval struct {
	Median     int64 `json:"median"`
	Low        int64 `json:"low"`
	High       int64 `json:"high"`
	Confidence int   `json:"confidence_percent"` // rounded down; less than 95 with fewer than 6 runs
}

// medianOf sorts values, of which there is at least one. The interval is the narrowest
// pair of order statistics around the median that covers it with 95 %, by the binomial
// distribution, or the whole range.
func medianOf(values []int64) interval {
	slices.Sort(values)
	n := len(values)
	i := interval{Median: values[(n-1)/2]}
	// Between the values number k and n−1−k the median lies unless k or fewer of n coins
	// show heads, or k or fewer tails: 2·Σ C(n, 0…k) of 2^n.
	all := new(big.Int).Lsh(big.NewInt(1), uint(n))
	miss := new(big.Int)
	for k := 0; k <= (n-1)/2; k++ {
		miss.Add(miss, new(big.Int).Lsh(new(big.Int).Binomial(int64(n), int64(k)), 1))
		sure := new(big.Int).Sub(all, miss)
		percent := int(sure.Mul(sure, big.NewInt(100)).Div(sure, all).Int64())
		if k > 0 && percent < 95 {
			break
		}
		i.Low, i.High, i.Confidence = values[k], values[n-1-k], max(percent, 0)
	}
	return i
}

// repeat sums up the answers of several runs. A task is the same in another run if name,
// pid, class and priority are.
func repeat(answers []*answer) *answer {
	type key struct {
		comm, class, group string
		pid, prio          int32
	}
	type samples struct{ p50, p99, worst []int64 }
	of := make(map[key]*samples)
	var order []key
	r := repeated{Schema: "whylate.repeat/1", Runs: len(answers), Input: answers[0].input}
	for _, a := range answers {
		x, ok := a.value.(*result.Explain)
		if !ok {
			continue
		}
		for i := range x.Tasks {
			t := &x.Tasks[i]
			if t.Wakeup.Waits == 0 {
				continue
			}
			k := key{t.Comm, t.Class, t.Group, t.PID, int32(t.Prio)}
			s := of[k]
			if s == nil {
				s = &samples{}
				of[k] = s
				order = append(order, k)
			}
			s.p50, s.p99, s.worst = append(s.p50, t.Wakeup.P50NS), append(s.p99, t.Wakeup.P99NS), append(s.worst, t.Wakeup.MaxNS)
		}
	}
	for _, k := range order {
		s := of[k]
		r.Tasks = append(r.Tasks, repeatedTask{k.comm, k.pid, k.class, k.prio, k.group, medianOf(s.p50), medianOf(s.p99), medianOf(s.worst)})
	}
	return &answer{value: r, input: r.Input, diagnostics: answers[0].diagnostics, text: r.print}
}

// print is the table for people; times in µs.
func (r repeated) print(w io.Writer, _ report.Options) error {
	fmt.Fprintf(w, "%s   %s · %s · %d CPUs · %d runs\n\n", r.Input.File, r.Input.Format, r.Input.Kernel, r.Input.CPUs, r.Runs)
	t := tabwriter.NewWriter(w, 0, 0, 3, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "wakeup waits, µs: median of the runs (low–high)\tP50\tP99\tMAX\tSURE\t")
	for i := range r.Tasks {
		k := &r.Tasks[i]
		name := fmt.Sprintf("%s/%d %s %d", k.Comm, k.PID, k.Class, k.Prio)
		if k.Group != "" {
			name = k.Group
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%d %%\t\n", name, k.P50, k.P99, k.Max, k.P50.Confidence)
	}
	return t.Flush()
}

// String prints µs: "12.3 (11.9–13.0)".
func (i interval) String() string {
	us := func(ns int64) string { return fmt.Sprintf("%d.%d", ns/1000, ns%1000/100) }
	return fmt.Sprintf("%s (%s–%s)", us(i.Median), us(i.Low), us(i.High))
}
