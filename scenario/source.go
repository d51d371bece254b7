package scenario

import (
	"errors"
	"fmt"
	"io"

	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/machine"
	"github.com/whylate/whylate/sched"
	"github.com/whylate/whylate/sysinfo"
	"github.com/whylate/whylate/workload"
)

// Setup is everything that determines a run of the model: two runs of one Setup yield the
// same events, on any machine.
type Setup struct {
	Kernel  Kernel
	Machine machine.Config
	Load    *workload.Spec
	// Start is when the program begins, on the machine's clock, whose ticks are at
	// multiples of their distance.
	Start event.Time
	// Until is when the run ends at the latest, in ns from its start.
	Until event.Time
	// Limits says what the model leaves out and this run may depend on, and what the file
	// says that hardly anybody means: they become diagnostics of every result.
	Limits []event.Diagnostic

	settings []sysinfo.Setting // as they are now
	features []sysinfo.Feature
	isolcpus []event.CPU // of the command line
	cpusets  *workload.Cpusets
}

// Reseeded returns s with a seed that lies n behind its own: another run of what is random.
func (s *Setup) Reseeded(n uint64) *Setup {
	once, load := *s, *s.Load
	load.Seed += n
	once.Load, once.Machine.Seed, once.Machine.Sched.Fair.QuotaTimerSeed = &load, load.Seed, load.Seed
	once.Machine.Sched.Fair.NewidleSeed = load.Seed
	return &once
}

// GroupUse is what cpu.stat of a control group says at the end of a run.
type GroupUse = workload.GroupUse

// Round is a finished round of a task's phase, as rt-app logs it.
type Round = workload.Loop

// Source is a run of the model as a source of events. Every stream runs the model anew and
// yields the same events.
type Source struct {
	// OnRound, where set, is told every finished round of a phase in streams that are opened
	// afterwards: after the events before it and before those that follow.
	OnRound func(*Round)

	// OnMachine, where set, is given the machine of streams that are opened afterwards, before
	// anything runs: for who counts what leaves no events. It must not be changed.
	OnMachine func(*machine.Machine)

	// OnGroups, where set, is told what the control groups have used, at the end of streams that
	// are opened afterwards.
	OnGroups func([]GroupUse)

	setup *Setup
	names *event.Names
	info  event.Info
	// snapshot is made when somebody asks for it.
	snapshot *sysinfo.Snapshot
}

// NewSource returns the source of a setup. Errors are those of the setup.
func NewSource(s *Setup) (*Source, error) {
	src := &Source{setup: s, names: event.NewNames()}
	src.info = event.Info{Format: "model", Kernel: s.Kernel.Release, Machine: "x86_64", CPUs: s.Machine.Sched.CPUs,
		Clock: "global", Resolution: 1, TGIDs: s.processes(), Events: Emitted(&s.Machine)}
	if _, err := src.start(nil); err != nil {
		return nil, err
	}
	return src, nil
}

// Emitted names the events that the model can emit, for who asks which verdicts a trace
// supports.
func Emitted(m *machine.Config) []string {
	kinds := []event.Kind{event.SchedSwitch, event.SchedWaking, event.SchedWakeup, event.SchedWakeupNew,
		event.SchedMigrateTask, event.SchedStatRuntime, event.SchedPISetprio, event.SchedProcessFork,
		event.SchedProcessExit, event.TaskNewtask, event.TaskRename, event.SignalGenerate,
		event.IRQHandlerEntry, event.IRQHandlerExit, event.SoftirqRaise, event.SoftirqEntry, event.SoftirqExit, event.HrtimerExpireExit, event.HrtimerCancel,
		event.HrtimerStart, event.HrtimerExpireEntry, event.SignalDeliver, event.SchedProcessExec, event.SysEnter, event.SysExit}
	if len(m.IdleStates) > 0 {
		kinds = append(kinds, event.CPUIdle, event.SchedWakeIdle)
	}
	list := make([]string, 0, len(kinds))
	for _, k := range kinds {
		if m.Without&(1<<k) == 0 {
			list = append(list, k.String())
		}
	}
	return list
}

// processes maps the threads that the main thread creates to their process. Those that are
// forked later are not known before the run.
func (s *Setup) processes() map[event.PID]event.PID {
	n := 1
	for i := range s.Load.Tasks {
		n += s.Load.Tasks[i].Instances
	}
	of := make(map[event.PID]event.PID, n)
	for i := range n {
		of[s.Load.PID+event.PID(i)] = s.Load.PID
	}
	return of
}

// Info describes the run as a reader describes its file.
func (s *Source) Info() *event.Info { return &s.info }

// Names resolves the names of the events.
func (s *Source) Names() *event.Names { return s.names }

// Close releases nothing: the model holds no files.
func (s *Source) Close() error { return nil }

// Events starts the model at time 0.
func (s *Source) Events(o event.Options) (event.Stream, error) {
	st, err := s.open(o, nil)
	if err != nil {
		return nil, err
	}
	return st, nil
}

// open starts the model; decide, where not nil, sees every pick.
func (s *Source) open(o event.Options, decide func(*sched.Decision)) (*stream, error) {
	st := &stream{src: s, opts: o, slice: firstSlice}
	m, err := s.start(st.take)
	if err != nil {
		return nil, err
	}
	m.Sched.OnDecision(decide)
	st.m, st.now = m, s.setup.Start
	if s.OnMachine != nil {
		s.OnMachine(m)
	}
	if err := m.RunUntil(st.now); err != nil {
		return nil, fmt.Errorf("starting the machine: %w", err)
	}
	if st.run, err = workload.Load(m, s.setup.Load); err != nil {
		return nil, fmt.Errorf("starting the scenario: %w", err)
	}
	st.run.OnVerdict = func(err error) { st.verdict = err }
	st.onGroups = s.OnGroups
	if st.onRound = s.OnRound; st.onRound != nil {
		st.run.OnLoop = func(l workload.Loop) { st.rounds = append(st.rounds, finished{l, len(st.buf)}) }
	}
	return st, nil
}

// Decisions runs the model and shows f every pick of its scheduler, until the run is over.
// Names of tasks are resolved by Names.
func (s *Source) Decisions(f func(*sched.Decision)) error {
	events, err := s.open(event.Options{Want: event.Kinds(event.SchedProcessExit)}, f)
	if err != nil {
		return err
	}
	defer events.Close()
	for {
		if _, err := events.Next(); err != nil {
			if errors.Is(err, io.EOF) {
				return nil
			}
			return err
		}
	}
}

// start builds the machine of the setup. The table of names is that of the source: a second
// run finds its names there, with the same numbers.
func (s *Source) start(sink func(*event.Event)) (*machine.Machine, error) {
	if s.setup.Machine.Sched.CPUs < 1 {
		return nil, errNoCPU
	}
	return machine.New(s.setup.Machine, s.names, sink), nil
}

// firstSlice is how far the model runs before somebody looks at its events. It shrinks and
// grows with their number, so that the buffer stays small on a busy machine and an idle one
// costs few calls.
const firstSlice event.Time = 1_000_000

// The numbers of events in a slice at which the next one becomes longer or shorter.
const (
	fewEvents  = 256
	manyEvents = 4096
)

// mostBuffered bounds the events between two looks: no scenario of sense has so many, and
// whatever loops in one moment must not fill the memory.
const mostBuffered = 1 << 20

var errFlood = errors.New("more than a million events in one moment")

// stream pulls events out of a run: it lets the model go on for a while whenever the last
// ones are used up. There is no goroutine: the reader's pace is the model's, and the order
// of the events is the model's own. At zero costs several CPUs act in one nanosecond, where
// that order has cause before effect; a file orders such events by CPU.
type stream struct {
	src     *Source
	opts    event.Options
	m       *machine.Machine
	run     *workload.Run
	buf     []event.Event
	at      int
	rounds  []finished // that are not told yet
	onRound func(*Round)

	onGroups func([]GroupUse)

	slice   event.Time
	now     event.Time
	passed  int64
	verdict error
	over    bool
	err     error
	diags   []event.Diagnostic
}

// finished is a round that ended before the event number before in the buffer.
type finished struct {
	round  Round
	before int
}

// tell tells the rounds that ended before event number at.
func (s *stream) tell(at int) {
	n := 0
	for n < len(s.rounds) && s.rounds[n].before <= at {
		s.onRound(&s.rounds[n].round)
		n++
	}
	s.rounds = s.rounds[:copy(s.rounds, s.rounds[n:])]
}

// take is the machine's sink.
func (s *stream) take(ev *event.Event) {
	if s.verdict != nil {
		return // the process has exited; what its threads still do never happened
	}
	if !s.opts.Want.Has(ev.Kind) {
		s.passed++
		return
	}
	if len(s.buf) >= mostBuffered {
		s.m.Fail(errFlood)
		return
	}
	s.buf = append(s.buf, *ev)
}

// Next returns the next event of the run.
func (s *stream) Next() (*event.Event, error) {
	for s.at == len(s.buf) {
		s.tell(s.at)
		if s.over {
			if s.err != nil {
				return nil, s.err
			}
			return nil, io.EOF
		}
		s.goOn()
	}
	if len(s.rounds) > 0 {
		s.tell(s.at)
	}
	ev := &s.buf[s.at]
	s.at++
	return ev, nil
}

// goOn lets the model run for a slice of its time. Where slices begin and end changes
// nothing in the run.
func (s *stream) goOn() {
	s.buf, s.at = s.buf[:0], 0
	until := min(s.now+s.slice, s.src.setup.Until)
	err := s.m.RunUntil(until)
	s.now = until
	switch n := len(s.buf); {
	case n < fewEvents:
		s.slice *= 2
	case n > manyEvents && s.slice > 1000:
		s.slice /= 2
	}
	if s.opts.Progress != nil {
		s.opts.Progress(int64(s.now), int64(s.src.setup.Until))
	}
	switch {
	case err != nil:
		s.end(fmt.Errorf("running the model: %w", err))
	case s.verdict != nil, s.run.Done(), s.now >= s.src.setup.Until:
		s.end(nil)
	}
}

// end notes why and how the run is over.
func (s *stream) end(err error) {
	s.over, s.err = true, err
	if s.onGroups != nil && err == nil {
		s.onGroups(s.run.Groups())
	}
	for _, d := range s.src.setup.Limits {
		s.diags = event.Diagnose(s.diags, d.Kind, d.Count, d.Text)
	}
	if s.verdict != nil {
		s.diags = event.Diagnose(s.diags, "verdict", 1, s.verdict.Error()+"; the program exits here")
	} else if err == nil && !s.run.Done() {
		s.diags = event.Diagnose(s.diags, "unfinished", 1, "the run ended before its program did")
	}
}

// Names resolves the names of the events.
func (s *stream) Names() *event.Names { return s.src.names }

// Diagnostics says what the model leaves out and what the kernel refused.
func (s *stream) Diagnostics() []event.Diagnostic { return s.diags }

// PassedOver counts the events that nobody wanted.
func (s *stream) PassedOver() int64 { return s.passed }

// Close ends the run.
func (s *stream) Close() error {
	s.over = true
	return nil
}
