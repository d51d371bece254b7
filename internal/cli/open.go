package cli

import "github.com/whylate/whylate/event"

func openTrace(path string) (event.Source, error) { return nil, event.ErrNotSupported }
