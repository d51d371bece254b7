package stats

import (
	"math/rand/v2"
	"testing"
)

func TestDrift(t *testing.T) {
	up := []int64{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}
	// Of 1…n in order: Σd² = n(n²−1)/12 = 82.5, the neighbours' products sum to 57.75: 0.7.
	if got := Drift(up); got != 700 {
		t.Errorf("of a rise: %d", got)
	}
	if got := Drift([]int64{1, 9, 1, 9, 1, 9, 1, 9}); got > -800 {
		t.Errorf("to and fro: %d", got)
	}
	if Drift([]int64{5, 5, 5, 5, 5, 5}) != 0 || Drift(up[:4]) != 0 {
		t.Error("of equal or few values")
	}
	r := rand.New(rand.NewPCG(8, 9))
	seldom := 0
	for range 2000 {
		if Drift(draw(r, 10, 0)) > 500 {
			seldom++
		}
	}
	if seldom > 40 { // the normal approximation says 0.5/√(1/10) = 1.6 σ and a bias of −0.1: 3 %
		t.Errorf("%d of 2000 independent lists seem to drift", seldom)
	}
}
