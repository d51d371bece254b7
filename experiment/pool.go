package experiment

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"
)

// each calls do for 0 to n−1, in several goroutines where there are several processors, and
// returns the error of the lowest number that has one. After an error, or when ctx ends, it
// starts no more.
func each(ctx context.Context, n int, do func(context.Context, int) error) error {
	return eachOn(ctx, runtime.GOMAXPROCS(0), n, do)
}

// eachOn is each with a number of goroutines.
func eachOn(ctx context.Context, workers, n int, do func(context.Context, int) error) error {
	errs := make([]error, n)
	var next atomic.Int64
	var failed atomic.Bool
	var wg sync.WaitGroup
	for range min(n, workers) {
		wg.Go(func() {
			for !failed.Load() && ctx.Err() == nil {
				i := int(next.Add(1)) - 1
				if i >= n {
					return
				}
				if errs[i] = do(ctx, i); errs[i] != nil {
					failed.Store(true)
				}
			}
		})
	}
	wg.Wait()
	// Numbers are taken in order, so all below the first error were done: which error is
	// told does not depend on the processors.
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return ctx.Err()
}
