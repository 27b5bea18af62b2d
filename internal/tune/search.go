// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package tune

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/doc"
	"github.com/callvet/callvet/panel"
)

// Mode is how a search chooses its candidates.
type Mode string

// The modes.
const (
	// Grid tries all candidates.
	Grid Mode = "grid"
	// Random tries some, drawn at random.
	Random Mode = "random"
	// Bayesian tries some at random, then those that the scores so far suggest (TPE).
	Bayesian Mode = "bayesian"
	// Halving tries some with few tasks, then the best third with three times as many, and so on.
	Halving Mode = "halving"
)

// Modes are the modes by name.
func Modes() []string {
	return []string{string(Grid), string(Random), string(Bayesian), string(Halving)}
}

// DefaultTrials is how many candidates the modes other than grid try unless a number is given.
const DefaultTrials = 50

// Tried returns how many of n candidates a search tries in addition to the base. trials is
// SearchConfig.Trials.
func Tried(mode Mode, n, trials int) int {
	if mode == "" || mode == Grid {
		return n
	}
	return min(n, cmp.Or(trials, DefaultTrials))
}

// SearchConfig has the candidates and the settings of a search.
type SearchConfig struct {
	Mode Mode // "": Grid
	// Points are the values of the candidates, the base first: see Matrix.Points.
	Points [][]json.RawMessage
	// Trials is how many candidates are tried in addition to the base; 0: DefaultTrials. Grid tries
	// all.
	Trials int
	// Seed is the seed of the random choices.
	Seed uint64
	Race RaceConfig
}

// Search chooses candidates and lets them race. It depends only on its configuration and on the
// results that it takes: to resume it, make it again and take the same results in the same order. A
// candidate keeps its number in the matrix, even if trials have a different order; 0 is the base.
// Of equal candidates the first one tried wins.
//
//	for round, ok := s.Next(); ok; round, ok = s.Next() {
//		… ask, then Take each result …
//		s.Look()
//	}
type Search struct {
	cfg    SearchConfig
	race   *Race
	chosen []int       // candidates by their number in the race
	entry  map[int]int // numbers in the race, by candidate
	queue  []int       // candidates still to enter, in their order
	rungs  []int       // halving: the number of tasks of each rung that is not over
	space  *tpe        // bayesian
}

// NewSearch starts a search. The error wraps callvet.ErrInvalid.
func NewSearch(cfg SearchConfig) (*Search, error) {
	wrong := func(field, text, fix string) error { return &callvet.FieldError{Field: field, Text: text, Fix: fix} }
	cfg.Mode = cmp.Or(cfg.Mode, Grid)
	n := len(cfg.Points) - 1 // without the base
	switch {
	case !slices.Contains(Modes(), string(cfg.Mode)):
		return nil, wrong("mode", fmt.Sprintf("{mode} %q is not known", doc.Clip(string(cfg.Mode), 60)),
			"modes: "+strings.Join(Modes(), ", "))
	case cfg.Trials < 0:
		return nil, wrong("trials", "{trials} is below 0", "")
	case cfg.Race.Tasks < 1:
		return nil, wrong("cases", "there is no case to search with", "")
	case n < 1:
		return nil, wrong("space", "no combination of the {space} differs from the base", "list other values")
	}
	cfg.Trials = Tried(cfg.Mode, n, cfg.Trials)
	s := &Search{cfg: cfg, race: NewRace(cfg.Race), entry: map[int]int{}}
	for i := range n {
		s.queue = append(s.queue, i+1)
	}
	if cfg.Mode != Grid {
		rng := rand.New(rand.NewPCG(cfg.Seed, 0x7e57))
		rng.Shuffle(n, func(i, j int) { s.queue[i], s.queue[j] = s.queue[j], s.queue[i] })
	}
	s.enter(0)
	switch cfg.Mode {
	case Bayesian:
		s.space = newTPE(cfg.Points)
		s.enter(s.queue[:min(startOf(cfg.Trials), cfg.Trials)]...)
	case Halving:
		s.rungs = rungsOf(cfg.Trials, s.race.cfg.Tasks)
		fallthrough
	default:
		s.enter(s.queue[:cfg.Trials]...)
	}
	return s, nil
}

// enter lets candidates enter the race.
func (s *Search) enter(candidates ...int) {
	for _, c := range candidates {
		s.entry[c] = len(s.chosen)
		s.chosen = append(s.chosen, c)
	}
	s.race.Add(len(candidates))
}

// Next returns the next round; ok is false when the search is over.
func (s *Search) Next() (Round, bool) {
	for {
		round, ok := s.race.next(s.limit())
		if ok {
			for i, e := range round.Candidates {
				round.Candidates[i] = s.chosen[e]
			}
			return round, true
		}
		switch {
		case len(s.rungs) > 1:
			s.cut()
		case s.cfg.Mode == Bayesian && len(s.chosen)-1 < s.cfg.Trials:
			s.propose()
		default:
			return Round{}, false
		}
	}
}

// limit returns the number of tasks of the present rung.
func (s *Search) limit() int {
	if len(s.rungs) > 0 {
		return s.rungs[0]
	}
	return s.race.cfg.Tasks
}

// at returns the number in the race of a chosen candidate.
func (s *Search) at(candidate int) int {
	e, ok := s.entry[candidate]
	if !ok {
		panic(fmt.Sprintf("candidate %d was not chosen", candidate)) // otherwise the base would get its results
	}
	return e
}

// Take records the mean of a candidate at a task.
func (s *Search) Take(candidate, task int, m panel.TaskMean) {
	s.race.Take(s.at(candidate), task, m)
}

// Look drops candidates that are worse than the leader.
func (s *Search) Look() { s.race.Look() }

// Break removes a candidate because it breaks a constraint.
func (s *Search) Break(candidate int, why string) { s.race.Break(s.at(candidate), why) }

// Standing returns the standing of a chosen candidate.
func (s *Search) Standing(candidate int) Standing {
	st := s.race.Standing(s.at(candidate))
	if st.Dropped != nil {
		d := *st.Dropped
		d.By = s.chosen[d.By]
		st.Dropped = &d
	}
	return st
}

// Leader returns the best candidate so far.
func (s *Search) Leader() int { return s.chosen[s.race.Leader()] }

// Alike returns the candidates that cannot be distinguished from the leader, the leader first.
func (s *Search) Alike() []int {
	alike := s.race.Alike()
	for i, e := range alike {
		alike[i] = s.chosen[e]
	}
	return alike
}

// Chosen returns the candidates in the order of their entry.
func (s *Search) Chosen() []int { return slices.Clone(s.chosen) }
