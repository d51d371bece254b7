package workload

import "github.com/whylate/whylate/event"

// Job is what a thread does between two of its own sleeps: for a time, to a timer, or for a
// semaphore. What it does before the first of them, the start of the program, is none. A
// lock or a condition that it waits for lies within a job.
type Job struct {
	Thread int // global index
	Task   int // index of its task
	PID    event.PID
	// Released is when the sleep was to end: where the timer was missed, what the timer
	// counts on from; where a semaphore was waited for, when it was raised, or when the
	// thread came to it if that was earlier.
	Released event.Time
	// Expires is when the timer of the sleep fires: later than Released by the timer slack.
	Expires event.Time
	// Sleep is the number of the sleep before the job, counted over the thread's life from 0;
	// −1: it waited for a semaphore.
	Sleep int
	// Done is when the thread came to its next sleep, or to its end; NoTime: not yet.
	Done event.Time
}

// Response is how long the job took from its release on; of one that is not done, by now.
func (j *Job) Response(now event.Time) event.Time {
	if j.Done == event.NoTime {
		return now - j.Released
	}
	return j.Done - j.Released
}

// jobDone tells the job that ends here, if there is one.
func (p *thread) jobDone() {
	if p.run.OnJob != nil && p.released != event.NoTime {
		p.run.OnJob(p.job(p.run.m.Now()))
	}
	p.released = event.NoTime
	if !p.begun && !p.fork {
		p.begun = true
		if p.run.begun++; p.run.begun == p.run.start.parties {
			p.run.allBegun = p.run.m.Now()
		}
	}
}

func (p *thread) job(done event.Time) Job {
	return Job{Thread: p.index, Task: p.kind, PID: p.th.Task.PID, Released: p.released, Expires: p.released + p.slackOfJob, Sleep: p.sleepOfJob, Done: done}
}

// Pending tells f the jobs that are released and not done, in the order of the threads.
func (r *Run) Pending(f func(Job)) {
	for _, p := range r.threads {
		if p.dying == alive && p.released != event.NoTime && p.released <= r.m.Now() {
			f(p.job(event.NoTime))
		}
	}
}

// Begun is when the last of the threads that start together came to its first sleep, or to
// its end; NoTime: not yet. Before that some may have had the policy of the one that created
// them.
func (r *Run) Begun() event.Time { return r.allBegun }

// releaseAt says when the sleep that begins now is to end.
func (p *thread) releaseAt(at event.Time) {
	p.released, p.sleepOfJob, p.slackOfJob = at, p.slept-1, p.run.slack(p.th.Task)
}

// later is by how much longer the sleep that begins now is.
func (p *thread) later() event.Time {
	n := p.slept
	p.slept++
	if n < len(p.task.Later) {
		return p.task.Later[n]
	}
	return 0
}
