// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package tune

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"slices"
	"strings"

	"github.com/callvet/callvet/internal/report/plain"
	"github.com/callvet/callvet/value"
)

// Side is the half of a suite that a case is in.
type Side string

// The sides. A search sees only training cases; held-out cases are for one confirmation.
const (
	Train   Side = "train"
	Holdout Side = "holdout"
)

// Assigned is the side of a case in an earlier split of the suite.
type Assigned struct {
	Case string `json:"case"`
	// Asks is Member.Asks: the same question under a new id stays on its side.
	Asks string `json:"asks"`
	// Family is the family of the case at that time.
	Family string `json:"family"`
	Side   Side   `json:"side"`
}

// Halves are the two sides of a suite.
type Halves struct {
	// Cases are the cases in the order of the suite, each with its side. They are the earlier
	// assignments of a later Split.
	Cases []Assigned `json:"cases"`
	// TrainFamilies and HoldoutFamilies are numbers of families.
	TrainFamilies   int `json:"train_families"`
	HoldoutFamilies int `json:"holdout_families"`
	// Share is the requested share of held-out families.
	Share float64 `json:"share"`
	// Moved are held-out cases of earlier splits that are training cases now, because their family
	// now has a case that a search has seen.
	Moved []string `json:"moved,omitempty"`
}

// DefaultShare is the share of families that is held out.
const DefaultShare = 0.5

// Split divides the cases of a suite by family, so that share of the families, in [0,1], is held
// out. It is stratified: of the families with the same tier and the same commonest tool, the share
// is held out with an error below one, and so is of all families of a tier. The division depends on
// the names of the suite and of families, not on the order of cases: the same suite is always
// divided the same way.
//
// before are the assignments of earlier splits of the suite, in any order. A family with a case
// that was a training case is training; else one with a case that was held out stays held out. A
// case is recognized by its id, and by the family that the suite names or else by its question.
func Split(members []Member, share float64, before []Assigned, suite string) *Halves {
	families := familiesOf(members)
	sides := make(map[string]Side, len(families))
	earlier := newEarlier(before)
	for i := range families {
		f := &families[i]
		for _, m := range f.members {
			if side := earlier.side(m); side != "" && sides[f.name] != Train {
				sides[f.name] = side
			}
		}
	}
	draw(families, sides, share, suite)
	h := &Halves{Share: share}
	for _, side := range sides {
		if side == Train {
			h.TrainFamilies++
		} else {
			h.HoldoutFamilies++
		}
	}
	for _, m := range members {
		a := Assigned{Case: m.Case.ID, Asks: m.Asks, Family: m.Family, Side: sides[m.Family]}
		if a.Side == Train && earlier.side(m) == Holdout {
			h.Moved = append(h.Moved, a.Case)
		}
		h.Cases = append(h.Cases, a)
	}
	return h
}

// Of returns the side of a case; "" if it was not divided.
func (h *Halves) Of(id string) Side {
	for i := range h.Cases {
		if h.Cases[i].Case == id {
			return h.Cases[i].Side
		}
	}
	return ""
}

// LeftOut returns the number of cases that earlier splits held out and that the suite no longer
// has. A case with a new id is still in the suite.
func LeftOut(members []Member, before []Assigned) int {
	old, now, renamed, out := map[string]bool{}, map[string]bool{}, map[string]bool{}, map[string]bool{}
	for _, a := range before {
		old[a.Case] = true
	}
	for _, m := range members {
		now[m.Case.ID] = true
		if !old[m.Case.ID] {
			renamed[m.Asks] = true
		}
	}
	for _, a := range before {
		if a.Side == Holdout && !now[a.Case] && !renamed[a.Asks] {
			out[a.Case] = true
		}
	}
	return len(out)
}

// Same reports whether these cases are those of the split, perhaps under new ids. They are if at least half of the
// questions of the smaller suite are also in the other one.
func (h *Halves) Same(members []Member) bool {
	before, now := map[string]bool{}, map[string]bool{}
	for i := range h.Cases {
		before[h.Cases[i].Asks] = true
	}
	for _, m := range members {
		now[m.Asks] = true
	}
	both := 0
	for asks := range now {
		if asks != "" && before[asks] {
			both++
		}
	}
	return both > 0 && 2*both >= min(len(before), len(now))
}

// IDs returns the cases of a side, in the order of the suite.
func (h *Halves) IDs(side Side) []string {
	var out []string
	for i := range h.Cases {
		if h.Cases[i].Side == side {
			out = append(out, h.Cases[i].Case)
		}
	}
	return out
}

// Few returns the reason why the split is too small for a promotion; "" if it is large enough.
func (h *Halves) Few() string {
	small := min(h.TrainFamilies, h.HoldoutFamilies)
	if small >= MinFamilies {
		return ""
	}
	return fmt.Sprintf("%s of cases for the search and %d held out: a promotion needs %d of each",
		plain.Count(h.TrainFamilies, "family", "families"), h.HoldoutFamilies, MinFamilies)
}

// earlier has the sides of earlier splits. A search has seen each case that was in a training half
// once.
type earlier struct{ byID, byAsks, byFamily map[string]Side }

func newEarlier(before []Assigned) earlier {
	e := earlier{byID: map[string]Side{}, byAsks: map[string]Side{}, byFamily: map[string]Side{}}
	for _, a := range before {
		for _, of := range []struct {
			sides map[string]Side
			key   string
		}{{e.byID, a.Case}, {e.byAsks, a.Asks}, {e.byFamily, a.Family}} {
			if of.sides[of.key] != Train {
				of.sides[of.key] = a.Side
			}
		}
	}
	return e
}

func (e earlier) side(m Member) Side {
	id := e.byID[m.Case.ID]
	var asks, family Side
	switch {
	case m.Case.Family != "": // cases of different named families may have the same question
		family = e.byFamily[m.Case.Family]
	case m.Asks != "":
		asks = e.byAsks[m.Asks]
	}
	if id == Train || asks == Train || family == Train {
		return Train
	}
	return cmp.Or(id, asks, family)
}

// family is a family with its stratum.
type family struct {
	name, tier, tool string
	members          []Member
	rank             uint64
}

func familiesOf(members []Member) []family {
	at := map[string]int{}
	var out []family
	for _, m := range members {
		i, known := at[m.Family]
		if !known {
			i = len(out)
			at[m.Family], out = i, append(out, family{name: m.Family})
		}
		out[i].members = append(out[i].members, m)
	}
	for i := range out {
		f := &out[i]
		tiers, tools := map[string]int{}, map[string]int{}
		for _, m := range f.members {
			tiers[string(m.Case.Tier)]++
			for _, tool := range m.Case.Expect.Tools() {
				tools[tool]++
			}
		}
		f.tier, f.tool = commonest(tiers), commonest(tools)
	}
	return out
}

// commonest returns the most frequent text, of several the smallest; "" without one.
func commonest(counts map[string]int) string {
	best, most := "", 0
	for s, n := range counts {
		if n > most || n == most && s < best {
			best, most = s, n
		}
	}
	return best
}

// draw chooses a side for each family without one. Families are sorted by tier, tool and a hash.
// The sum of the shares grows with each family, and a family is held out when the sum passes a
// whole number. So each sequence of neighbours has its share, with an error below one. Families
// that have a side already count in the sum. The sum is bounded, so that one stratum does not
// compensate for many families of another.
func draw(families []family, sides map[string]Side, share float64, suite string) {
	for i := range families {
		families[i].rank = seeded(suite, families[i].name)
	}
	order := slices.Clone(families)
	slices.SortFunc(order, func(a, b family) int {
		return cmp.Or(strings.Compare(a.tier, b.tier), strings.Compare(a.tool, b.tool),
			cmp.Compare(a.rank, b.rank), strings.Compare(a.name, b.name))
	})
	debt := value.Fraction(seeded(suite, "", "start"))
	for i := range order {
		name := order[i].name
		debt = min(2, debt+share)
		switch side, decided := sides[name]; {
		case decided && side == Holdout:
			debt = max(-1, debt-1)
		case decided:
		case debt >= 1-1e-9:
			sides[name] = Holdout
			debt--
		default:
			sides[name] = Train
		}
	}
}

// seeded returns a hash of texts. Moving a letter from one text to the next changes it.
func seeded(parts ...string) uint64 {
	h := fnv.New64a()
	for _, p := range parts {
		fmt.Fprintf(h, "%d:%s", len(p), p)
	}
	return value.Scattered(h.Sum64())
}
