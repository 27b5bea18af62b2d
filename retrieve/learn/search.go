// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package learn

import (
	"context"
	"fmt"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/retrieve"
)

// Search searches options with a larger goal, one number at a time. The same goal gives the same
// search.
type Search struct {
	// Start are the initial options, and Knobs the numbers that it may change.
	Start retrieve.Options
	Knobs []Knob
	// Rounds is the largest number of passes over all knobs; 0: 4. It ends earlier after a round
	// without an improvement.
	Rounds int
	// Least is the least increase of the goal to keep a move.
	Least float64
	// Most is how many options are tried, at most; 0: 2000.
	Most int
	// Kept is called with each kept move; it may be nil.
	Kept func(Move)
}

// Move is one kept change of a knob, and the goal after it.
type Move struct {
	Round int     `json:"round"`
	Knob  string  `json:"weight"`
	From  float64 `json:"from"`
	To    float64 `json:"to"`
	Goal  float64 `json:"goal"`
}

// Found is the end of a search.
type Found struct {
	Options retrieve.Options
	// Start and Goal are the goal's values at the beginning and at the end.
	Start, Goal float64
	Moves       []Move
	// Tried is how many options were tried. Cut is true where there were more to try.
	Tried int
	Cut   bool
}

// Goal is the function that a search maximizes; its values are finite.
type Goal func(ctx context.Context, o retrieve.Options) (float64, error)

const (
	usualRounds = 4
	usualMost   = 2000
)

// Run searches. Errors are errors of the goal and of a canceled context, and ErrInvalid for
// bounds below 0.
func (s *Search) Run(ctx context.Context, goal Goal) (Found, error) {
	if s.Rounds < 0 || s.Most < 0 || !(s.Least >= 0) {
		return Found{}, fmt.Errorf("search weights: %d rounds, at most %d options, least %v: %w", s.Rounds, s.Most,
			s.Least, callvet.ErrInvalid)
	}
	rounds, most := s.Rounds, s.Most
	if rounds == 0 {
		rounds = usualRounds
	}
	if most == 0 {
		most = usualMost
	}
	start, err := goal(ctx, s.Start)
	if err != nil {
		return Found{}, err
	}
	f := Found{Options: s.Start, Start: start, Goal: start, Tried: 1}
	for round := range rounds {
		before := len(f.Moves)
		for i := range s.Knobs {
			for _, move := range s.Knobs[i].moves {
				if f.Tried >= most {
					f.Cut = true
					return f, nil
				}
				if err := s.try(ctx, goal, &f, &s.Knobs[i], move, round+1); err != nil {
					return f, err
				}
			}
		}
		if len(f.Moves) == before {
			break
		}
	}
	return f, nil
}

// try makes one move from the best options so far, and keeps it if it is better.
func (s *Search) try(ctx context.Context, goal Goal, f *Found, k *Knob, move float64, round int) error {
	o := f.Options
	v := k.At(&o)
	from := *v
	if *v = k.to(from, move); *v == from {
		return nil
	}
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("search weights: %w", err)
	}
	g, err := goal(ctx, o)
	if err != nil {
		return err
	}
	f.Tried++
	if g > f.Goal+s.Least {
		m := Move{Round: round, Knob: k.Name, From: from, To: *v, Goal: g}
		f.Options, f.Goal, f.Moves = o, g, append(f.Moves, m)
		if s.Kept != nil {
			s.Kept(m)
		}
	}
	return nil
}

// Changed are the knobs that differ between two options, with the values of the second.
func Changed(from, to retrieve.Options, knobs []Knob) map[string]float64 {
	out := map[string]float64{}
	for _, k := range knobs {
		if v := *k.At(&to); v != *k.At(&from) {
			out[k.Name] = v
		}
	}
	return out
}
