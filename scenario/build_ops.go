package scenario

import (
	"fmt"
	"math"

	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/machine"
	"github.com/whylate/whylate/scenario/rtapp"
	"github.com/whylate/whylate/workload"
)

// op turns an event of the file into an operation.
func (b *builder) op(e *rtapp.Event) (workload.Op, error) {
	op := workload.Op{NS: e.Duration}
	switch e.Kind {
	case rtapp.Run:
		op.Kind, op.NS = workload.OpRun, b.loops(e.Duration)
	case rtapp.Runtime:
		op.Kind, op.Piece = workload.OpRuntime, max(b.loops(runtimePiece), 1000)
	case rtapp.Sleep:
		op.Kind = workload.OpSleep
	case rtapp.Timer:
		op.Kind, op.Ref = workload.OpTimer, 0
		if e.Unique {
			op.Kind, op.Ref = workload.OpUnique, b.unique.of(e.Ref)
		} else {
			op.Ref = b.timers.of(e.Ref)
		}
		if e.Absolute {
			op.Timer = workload.TimerAbsolute
		}
	case rtapp.IORun:
		return b.io(e)
	case rtapp.Mem, rtapp.MemRun:
		return b.memory(e)
	case rtapp.Fork:
		op.Kind, op.Ref, op.Site = workload.OpFork, -1, b.plan.Load.Forks
		b.plan.Load.Forks++
		for i := range b.file.Tasks {
			if b.file.Tasks[i].Name == e.Ref {
				op.Ref = i
			}
		}
	default:
		return b.sync(e)
	}
	return op, nil
}

// sync turns the events in which tasks wait for each other into operations.
func (b *builder) sync(e *rtapp.Event) (workload.Op, error) {
	op := workload.Op{}
	switch e.Kind {
	case rtapp.Lock:
		op.Kind, op.Ref = workload.OpLock, b.mutexes.of(e.Ref)
	case rtapp.Unlock:
		op.Kind, op.Ref = workload.OpUnlock, b.mutexes.of(e.Ref)
	case rtapp.Wait:
		op.Kind, op.Ref, op.Mutex = workload.OpWait, b.conds.of(e.Ref), b.mutexes.of(e.Mutex)
	case rtapp.Sync:
		op.Kind, op.Ref, op.Mutex = workload.OpSync, b.conds.of(e.Ref), b.mutexes.of(e.Mutex)
	case rtapp.Suspend:
		op.Kind, op.Ref, op.Mutex = workload.OpSuspend, b.conds.of(e.Ref), b.mutexes.of(e.Mutex)
	case rtapp.Resume:
		op.Kind, op.Ref, op.Mutex = workload.OpResume, b.conds.of(e.Ref), b.mutexes.of(e.Mutex)
	case rtapp.Signal:
		op.Kind, op.Ref = workload.OpSignal, b.conds.of(e.Ref)
	case rtapp.Broad:
		op.Kind, op.Ref = workload.OpBroadcast, b.conds.of(e.Ref)
	case rtapp.Barrier:
		op.Kind, op.Ref = workload.OpBarrier, b.barriers.of(e.Ref)
	case rtapp.SemPost:
		op.Kind, op.Ref = workload.OpSemPost, b.sems.of(e.Ref)
	case rtapp.SemWait:
		op.Kind, op.Ref = workload.OpSemWait, b.sems.of(e.Ref)
	case rtapp.Yield:
		op.Kind = workload.OpYield
	default:
		return op, fmt.Errorf("event %s is %w", e.Kind, ErrNotModelled)
	}
	return op, nil
}

// runtimePiece is how much rt-app works between two looks at the clock.
const runtimePiece event.Time = 32_000

// loops is what rt-app makes of a length of work: whole loops, where the file says how long
// one takes; where rt-app measures that, the work takes as long as it says. Whole seconds
// are run one by one, so that loops are lost for each. The model's CPUs are all of one
// capacity and frequency.
func (b *builder) loops(ns event.Time) event.Time {
	per := event.Time(b.file.Global.NsPerLoop)
	if per <= 0 {
		return ns
	}
	const second = 1_000_000_000
	return ns/second*(second/per*per) + ns%second/per*per
}

// What memory takes. The model has no caches: these are the order of magnitude of a
// buffer that fits into one.
const (
	setBytesPerNS     = 8 // memset
	touchBytesPerNS   = 1 // one byte after the other
	chaseNS           = 4 // a load that depends on the one before
	writeCall         = 400
	longestMemory     = event.Time(3600 * 1_000_000_000)
	memoryNote        = "memory: mem, memrun and iorun take a time by their bytes alone, without caches or bandwidth"
	nullDevice        = "/dev/null"
	mostMemoryForever = math.MaxInt64 / chaseNS
)

// io is a write to the file's io_device: to /dev/null it takes time in the kernel, to the
// path of a device of "whylate" it is a request that is waited for. What a page cache would
// do for it is not modelled.
func (b *builder) io(e *rtapp.Event) (workload.Op, error) {
	path := b.file.Global.IODevice
	if w := b.file.Whylate; w != nil {
		for i := range w.Devices {
			if w.Devices[i].Path == path {
				if e.Bytes == 0 {
					return workload.Op{Kind: workload.OpRun, Mode: machine.Kernel}, nil
				}
				return workload.Op{Kind: workload.OpIO, Ref: i, Bytes: e.Bytes}, nil
			}
		}
	}
	if path != nullDevice {
		return workload.Op{}, fmt.Errorf("io_device %s is the path of no device in \"whylate\": other devices are %w; %s can be written to", path, ErrNotModelled, nullDevice)
	}
	b.note(memoryNote)
	// One system call for each buffer full, which /dev/null throws away.
	calls := (e.Bytes + b.file.Global.MemBufferSize - 1) / max(b.file.Global.MemBufferSize, 1)
	op := workload.Op{Kind: workload.OpRun, NS: event.Time(min(calls, mostMemoryForever/writeCall) * writeCall), Mode: machine.Kernel}
	if op.NS > longestMemory {
		return op, fmt.Errorf("takes more than an hour")
	}
	return op, nil
}

// memory turns work in memory into time, which is noted: on a real machine it depends on
// what else is in the caches.
func (b *builder) memory(e *rtapp.Event) (workload.Op, error) {
	b.note(memoryNote)
	op := workload.Op{Kind: workload.OpRun}
	switch {
	case e.Kind == rtapp.Mem:
		op.NS = event.Time(e.Bytes / setBytesPerNS)
	case e.Memory == nil:
	case e.Memory.Op == "chase":
		if e.Memory.Size >= 2*e.Memory.Stride {
			op.NS = event.Time(min(e.Memory.Count, mostMemoryForever) * chaseNS)
		}
	default:
		op.NS = event.Time(e.Memory.Count / touchBytesPerNS)
	}
	if op.NS > longestMemory {
		return op, fmt.Errorf("takes more than an hour")
	}
	return op, nil
}
