package cli

import (
	"github.com/spf13/cobra"

	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/explain"
)

// selection holds the flags that say which part of a trace is looked at.
type selection struct {
	tasks []string
	pids  []event.PID
	cpus  []event.CPU
	span  timeSpan
	by    string
}

// register adds the flags to cmd. byUsage says what --by changes there.
func (s *selection) register(cmd *cobra.Command, byUsage string) {
	s.span = timeSpan{event.NoTime, event.NoTime}
	s.by = string(explain.ByTask)
	f := cmd.Flags()
	f.Func("task", "only tasks whose name matches the shell pattern `GLOB` (may be repeated)",
		appendInto(&s.tasks, parseGlob))
	f.FuncP("pid", "p", "only the tasks of `LIST`: 311,412",
		appendAllInto(&s.pids, parsePIDs))
	f.FuncP("cpu", "C", "only waits on the CPUs of `LIST`: 0-3,5",
		appendAllInto(&s.cpus, parseCPUs))
	f.Func("time", "only the part `START,STOP` of the trace, in seconds on its own clock;\neither may be empty",
		into(&s.span, parseTimeSpan))
	words := []string{string(explain.ByTask), string(explain.ByComm), string(explain.ByProcess),
		string(explain.ByCGroup), string(explain.ByCPU)}
	f.Func("by", byUsage, into(&s.by, oneOf(words...)))
	completeWords(cmd, "by", words)
	completeTasks(cmd)
}

// options starts the options of the analysis.
func (s *selection) options() explain.Options {
	return explain.Options{
		Tasks: s.tasks, PIDs: s.pids, CPUs: s.cpus,
		From: s.span.from, To: s.span.to,
		By: explain.By(s.by),
	}
}

// completeWords makes the shell offer words for the flag.
func completeWords(cmd *cobra.Command, flag string, words []string) {
	err := cmd.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp))
	if err != nil {
		panic(err) // the flag was not registered: a mistake in this package, met at every start
	}
}
