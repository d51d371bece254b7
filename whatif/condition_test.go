package whatif

import (
	"errors"
	"strings"
	"testing"
)

func TestParseCondition(t *testing.T) {
	p999 := Measure{Stat: Percentile, Num: 999, Den: 1000}
	for text, want := range map[string]Condition{
		"p99.9<100us":               {Measure: p999, Op: Less, Limit: 100_000},
		" hi25 : p99.9 <= 1.5ms ":   {Task: "hi25", Measure: p999, Op: AtMost, Limit: 1_500_000},
		"kworker/0:2:max<20":        {Task: "kworker/0:2", Measure: Measure{Stat: Max}, Op: Less, Limit: 20_000},
		"ctl-*:preempted.mean>=3ns": {Task: "ctl-*", Measure: Measure{Series: Preempted, Stat: Mean}, Op: AtLeast, Limit: 3},
		"lateness.p50≤7µs":          {Measure: Measure{Series: Lateness, Num: 50, Den: 100}, Op: AtMost, Limit: 7_000},
		"response.total<2s":         {Measure: Measure{Series: Response, Stat: Total}, Op: Less, Limit: 2_000_000_000},
		"rt_throttled==0":           {Measure: Measure{Stat: Total, Kind: "rt_throttled"}, Op: Equal},
		"rt_throttled=0":            {Measure: Measure{Stat: Total, Kind: "rt_throttled"}, Op: Equal},
		"irq.max<50us":              {Measure: Measure{Stat: Max, Kind: "irq"}, Op: Less, Limit: 50_000},
		"exit_teardown.waits<3":     {Measure: Measure{Stat: Waits, Kind: "exit_teardown"}, Op: Less, Limit: 3},
		"deadline_misses==0":        {Measure: Measure{Stat: Misses}, Op: Equal},
		"waits>=1000":               {Measure: Measure{Stat: Waits}, Op: AtLeast, Limit: 1000},
		"p99>+10%":                  {Measure: Measure{Num: 99, Den: 100}, Op: Greater, Limit: 1000, Change: true, Percent: true},
		"p99>+0.25%":                {Measure: Measure{Num: 99, Den: 100}, Op: Greater, Limit: 25, Change: true, Percent: true},
		"max<-100us":                {Measure: Measure{Stat: Max}, Op: Less, Limit: -100_000, Change: true},
		"unknown.total!=0":          {Measure: Measure{Stat: Total, Kind: "unknown"}, Op: Unequal},
		"p100<4611686018427387us":   {Measure: Measure{Num: 100, Den: 100}, Op: Less, Limit: 4_611_686_018_427_387_000},
		"p99.999999<1us":            {Measure: Measure{Num: 99_999_999, Den: 100_000_000}, Op: Less, Limit: 1000},
		"a<b:max<1":                 {Task: "a<b", Measure: Measure{Stat: Max}, Op: Less, Limit: 1000},
	} {
		got, err := ParseCondition(text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if want.Text = strings.TrimSpace(text); *got != want {
			t.Errorf("%s: %+v, want %+v", text, *got, want)
		}
	}
}

func TestConditionErrorsShowThePlace(t *testing.T) {
	for _, c := range []struct {
		text string
		at   int
		says string
	}{
		{"", 0, "nothing is compared"},
		{"p99", 3, "nothing is compared"},
		{"p99!5", 5, "nothing is compared"},
		{"<5us", 0, "nothing to compare"},
		{"p99<", 4, "no limit"},
		{"p99<us", 4, "no limit"},
		{"p99<100xs", 7, `"xs" is no unit`},
		{"p99 < 1.2.3us", 6, "is no number"},
		{"p99<.5us", 4, "is no number"},
		{"p99<5.us", 4, "is no number"},
		{"p99<0.1ns", 4, "too fine"},
		{"p99<99999999999s", 4, "does not fit"},
		{"p0<1us", 1, "no percentile"},
		{"p101<1us", 1, "no percentile"},
		{"p99.<1us", 1, "no percentile"},
		{"p99.1234567<1us", 1, "finer"},
		{"rt_throtled==0", 0, "did you mean rt_throttled?"},
		{"hi25:maxx<1us", 5, "did you mean max?"},
		{"wakeup<1us", 6, "which number"},
		{"wakeup.foo<1us", 7, "neither"},
		{"irq.p99<1us", 4, "total, max, mean and waits"},
		{"waits<5us", 7, "no unit"},
		{"waits<1.5", 6, "too fine"},
		{"p99>10%", 4, "sign"},
		{":max<1us", 0, "no task before the colon"},
		{"[a:max<1us", 0, "no shell pattern"},
		{"a\x1b[31m<5", 0, "neither"},
	} {
		_, err := ParseCondition(c.text)
		var syntax *SyntaxError
		if !errors.As(err, &syntax) {
			t.Errorf("%q: error %v", c.text, err)
			continue
		}
		if syntax.At != c.at || !strings.Contains(syntax.Msg, c.says) {
			t.Errorf("%q: at %d: %s; want at %d: …%s…", c.text, syntax.At, syntax.Msg, c.at, c.says)
		}
		if strings.Contains(err.Error(), "\x1b") {
			t.Errorf("%q: the error prints a control character", c.text)
		}
	}
	err := (&SyntaxError{Text: "µ<5", At: 3, Msg: "no"}).Error()
	if want := "condition µ<5: no\n    µ<5\n      ^"; err != want {
		t.Errorf("the mark is misplaced:\n%s", err)
	}
}

// TestLimits: a change counts from what was before.
func TestLimits(t *testing.T) {
	for _, c := range []struct {
		text          string
		before, after int64
		holds         bool
	}{
		{"p99>+10%", 100, 110, false}, {"p99>+10%", 100, 111, true}, {"p99>+10%", 0, 1, true},
		{"max>+1us", 500, 1500, false}, {"max>+1us", 500, 1501, true}, {"max<-1us", 5000, 3999, true}, {"max<-1us", 5000, 4000, false},
		{"max>1us", 5000, 1001, true},
	} {
		p, err := ParseCondition(c.text)
		if err != nil {
			t.Fatal(err)
		}
		if got := p.Op.Holds(c.after, p.limitOf(c.before)); got != c.holds {
			t.Errorf("%s from %d to %d: %v", c.text, c.before, c.after, got)
		}
	}
}

func FuzzParseCondition(f *testing.F) {
	for _, s := range []string{"p99.9<100us", "hi25:max<1ms", "rt_throttled==0", "a:b:irq.max≤+10%", "preempted.waits!=-5", "µ<5", "deadline_misses>=0"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		c, err := ParseCondition(text)
		if err != nil {
			var syntax *SyntaxError
			if !errors.As(err, &syntax) || syntax.At < 0 || syntax.At > len(syntax.Text) {
				t.Fatalf("%q: %#v", text, err)
			}
			_ = err.Error()
			return
		}
		m := &c.Measure
		if m.Stat == Percentile && (m.Num < 1 || m.Num > m.Den) || c.Percent && !c.Change || !c.Change && c.Limit < 0 {
			t.Fatalf("%q: %+v", text, c)
		}
		again, err := ParseCondition(c.Text)
		if err != nil || *again != *c {
			t.Fatalf("%q: read again: %+v, %v", text, again, err)
		}
	})
}
