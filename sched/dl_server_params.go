package sched

import "github.com/whylate/whylate/event"

// SetFairServer is a write of runtime and period into the server's files in debugfs, CPU by
// CPU, before the machine runs; sched_fair_server_write(). EINVAL: the runtime is more than
// the period, or that is not from 100 µs to 4.19 s. EBUSY: the bandwidth does not fit.
//
// Kernels without ServersCounted have forgotten what the servers got at boot: the total is
// too small by it. They compute without signs, so that a runtime that takes bandwidth back is
// refused with EBUSY, 0 among them, while deadline tasks have not got as much.
func (c *Config) SetFairServer(runtime, period event.Time) error {
	if err := checkServer(runtime, period); err != nil {
		return err
	}
	b := c.servers()
	for range c.CPUs {
		if err := b.replace(toRatio(c.FairServerPeriod, c.FairServerRuntime), toRatio(period, runtime)); err != nil {
			return err
		}
	}
	c.FairServerRuntime, c.FairServerPeriod, c.ServersBW = runtime, period, b.total
	return nil
}

func checkServer(runtime, period event.Time) error {
	if runtime < 0 || runtime > period || period < dlPeriodMin || period > dlPeriodMax {
		return verdict(ErrInval, "runtime %d ns of a server is more than its period %d, or that is not between %d and %d",
			runtime, period, dlPeriodMin, dlPeriodMax)
	}
	return nil
}

// servedBW is what a root domain has given away, and may; dl_bw.
type servedBW struct {
	most, total int64
	unlimited   bool
}

func (c *Config) servers() servedBW {
	return servedBW{most: c.DLBandwidth * int64(c.CPUs), total: c.ServersBW, unlimited: c.DLBandwidth < 0}
}

// replace gives back old and takes now; __dl_overflow() with its unsigned numbers.
func (b *servedBW) replace(old, now int64) error {
	if !b.unlimited && uint64(b.most) < uint64(b.total-old+now) {
		if b.total-old+now < 0 {
			return verdict(ErrBusy, "this kernel has lost count of what its servers were given, and lets none become smaller by more than %d/%d of a CPU",
				max(0, b.total), bwUnit)
		}
		return verdict(ErrBusy, "the bandwidth %d/%d of a server does not fit beside %d of %d", now, bwUnit, b.total-old, b.most)
	}
	b.total += now - old
	return nil
}

// SetFairServer is the same write for the server of one CPU while the machine runs, executed
// on CPU from.
func (s *Sched) SetFairServer(from, c event.CPU, runtime, period event.Time) (Work, error) {
	s.begin(from)
	rq := s.rqs[c]
	sv := &rq.server
	if sv.task == nil {
		return s.work, verdict(ErrInval, "this kernel has no fair server")
	}
	if err := checkServer(runtime, period); err != nil {
		return s.work, err
	}
	s.updateRQClock(rq)
	s.dlServerStop(rq)
	b := s.cfg.servers()
	b.total = s.dlBW
	d := &sv.task.dl
	err := b.replace(d.dlBW, toRatio(period, runtime))
	if err == nil {
		if d.nonContending {
			rq.dl.subRunningBW(d.dlBW)
			d.nonContending = false
			s.cancelInactive(sv.task)
		}
		old := d.dlBW
		s.setServerParams(d, runtime, period)
		rq.dl.addThisBW(d.dlBW - old)
		s.addTotalBW(d.dlBW - old)
		s.serversBW += d.dlBW - old
	}
	if rq.cfs.hNrRunning > 0 {
		s.dlServerStart(rq)
	}
	return s.work, err
}
