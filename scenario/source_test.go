package scenario_test

import (
	"testing"

	"github.com/whylate/whylate/scenario"
)

func sourceOf(p *scenario.Plan) (*scenario.Source, error) {
	setup, err := p.Setup()
	if err != nil {
		return nil, err
	}
	return scenario.NewSource(setup)
}

// mustSource is sourceOf where a plan that is refused ends the test.
func mustSource(t testing.TB, p *scenario.Plan) *scenario.Source {
	t.Helper()
	src, err := sourceOf(p)
	if err != nil {
		t.Fatal(err)
	}
	return src
}
