// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package tune

import (
	"math"

	"github.com/callvet/callvet/panel"
	"github.com/callvet/callvet/stats"
	"github.com/callvet/callvet/stats/gate"
)

// RaceConfig is how candidates compete.
type RaceConfig struct {
	// Tasks is the number of tasks, in an order that was fixed before the first one ran.
	Tasks int
	// Block is how many tasks run in a round, between two looks. 0: a tenth of Tasks, at least 5.
	Block int
	// Alpha bounds the chance that a candidate is dropped although no other is better. 0: RaceAlpha.
	Alpha float64
	// NoRace runs all tasks for all candidates.
	NoRace bool
}

// RaceAlpha is the default of RaceConfig.Alpha. In simulations up to 2 % of equal candidates are dropped.
const RaceAlpha = gate.Alpha

// Round is the next step: each of the candidates runs each of the tasks.
type Round struct {
	Candidates []int `json:"candidates"`
	Tasks      []int `json:"tasks"`
}

// Race compares candidates on the same tasks, block by block. A candidate that is worse than the
// leader is dropped. Candidate 0 is the base and stays until the end, so that the gain over it is
// known on all tasks.
//
// The evidence is a bet on (1-d)/2 against 1/2, task by task, where d is the candidate's mean minus
// a rival's, in the planned order of the tasks. The rival of each block is the candidate with the
// best mean over the tasks before it; the rival of the first block is the base. So the leader's
// luck on a block is never evidence, and the chance to drop the best candidate does not grow with
// the number of candidates. The evidence may be looked at after each round, and is computed from
// the means each time. Lost attempts count for the candidate and against the rival. Source:
// Statistics specification, section 16.6.
type Race struct {
	cfg RaceConfig
	all []entrant
}

// entrant is a candidate in a race.
type entrant struct {
	means   []panel.TaskMean // by task
	known   []bool
	asked   int // tasks from the first one without a gap
	dropped *Drop
	broken  string
}

// Drop is why a candidate was dropped.
type Drop struct {
	// By is the leader at that time, After the number of tasks that both ran.
	By    int `json:"by"`
	After int `json:"after"`
	// Ranked: it was not in the best third of its round (halving), which is not evidence that it is
	// worse.
	Ranked bool `json:"ranked,omitempty"`
}

// Standing is the state of a candidate.
type Standing struct {
	// Asked is the number of tasks that it ran, Mean the mean over them, in [0,1], with lost
	// attempts as 0.
	Asked   int     `json:"asked"`
	Mean    float64 `json:"mean"`
	Dropped *Drop   `json:"dropped,omitempty"`
	// Broken is the constraint that the candidate breaks. It cannot win.
	Broken string `json:"broken,omitempty"`
}

// In reports whether the candidate can win.
func (s *Standing) In() bool { return s.Dropped == nil && s.Broken == "" }

// NewRace starts a race without candidates.
func NewRace(cfg RaceConfig) *Race {
	if cfg.Block <= 0 {
		cfg.Block = max(5, (cfg.Tasks+9)/10)
	}
	if cfg.Alpha <= 0 {
		cfg.Alpha = RaceAlpha
	}
	return &Race{cfg: cfg}
}

// Add enters n further candidates. They are numbered in order; the first of all is the base.
func (r *Race) Add(n int) {
	for range n {
		r.all = append(r.all, entrant{means: make([]panel.TaskMean, r.cfg.Tasks), known: make([]bool, r.cfg.Tasks)})
	}
}

// Next returns the candidates in the race with the fewest tasks, and their next block of tasks.
// Until Take gets the outcome, it returns the same again. ok is false when the race is over.
func (r *Race) Next() (Round, bool) { return r.next(r.cfg.Tasks) }

// next is Next for the first tasks only.
func (r *Race) next(limit int) (Round, bool) {
	least := limit
	for i := range r.all {
		if r.in(i) {
			least = min(least, r.all[i].asked)
		}
	}
	if least >= limit {
		return Round{}, false
	}
	var round Round
	for i := range r.all {
		if r.in(i) && r.all[i].asked == least {
			round.Candidates = append(round.Candidates, i)
		}
	}
	for t := least; t < min(limit, (least/r.cfg.Block+1)*r.cfg.Block); t++ {
		round.Tasks = append(round.Tasks, t)
	}
	return round, true
}

func (r *Race) in(i int) bool { return r.all[i].dropped == nil && r.all[i].broken == "" }

// Take records the mean of a candidate at a task. A task without any outcome is {0, 1}.
func (r *Race) Take(candidate, task int, m panel.TaskMean) {
	e := &r.all[candidate]
	e.means[task], e.known[task] = m, true
	for e.asked < len(e.known) && e.known[e.asked] {
		e.asked++
	}
}

// Look drops the candidates that are worse than the best, for good.
func (r *Race) Look() {
	if r.cfg.NoRace {
		return
	}
	lead, rivals := r.Leader(), r.rivals()
	for i := 1; i < len(r.all); i++ {
		if i != lead && r.in(i) && r.worse(i, lead, rivals) {
			r.all[i].dropped = &Drop{By: lead, After: r.common(i, lead)}
		}
	}
}

// rivals returns, for each block of tasks, the two candidates with the best means over the tasks
// before it, among those that ran the block too. The first block has only the base. A candidate
// that breaks a constraint is no rival: it cannot win, so being worse than it is no reason to be
// dropped.
func (r *Race) rivals() (blocks [][2]int) {
	sums := make([]float64, len(r.all))
	for start := 0; start < r.cfg.Tasks; start += r.cfg.Block {
		end, best := min(start+r.cfg.Block, r.cfg.Tasks), [2]int{0, 0}
		for i := 1; i < len(r.all) && start > 0; i++ {
			switch {
			case r.all[i].asked < end || r.all[i].broken != "":
			case sums[i] > sums[best[0]]+1e-12:
				best = [2]int{i, best[0]}
			case best[0] == best[1] || sums[i] > sums[best[1]]+1e-12:
				best[1] = i
			}
		}
		blocks = append(blocks, best)
		for i := range r.all {
			for _, m := range r.all[i].means[start:end] {
				sums[i] += m.Low
			}
		}
	}
	return blocks
}

// worse reports whether there is enough evidence that candidate i is not the best.
func (r *Race) worse(i, lead int, rivals [][2]int) bool {
	bets := gate.Bets{Bound: 0.5}
	for t, m := range r.all[i].means[:r.all[i].asked] {
		rival := rivals[t/r.cfg.Block][0]
		if rival == i {
			rival = rivals[t/r.cfg.Block][1]
		}
		if t < r.all[rival].asked {
			bets.Add((1 - (m.High - r.all[rival].means[t].Low)) / 2)
		}
	}
	sum := 0.0
	for _, d := range r.differences(i, lead) {
		sum += d
	}
	return sum < 0 && bets.Log() >= -math.Log(r.cfg.Alpha)
}

// common returns how many tasks both candidates ran, from the first one.
func (r *Race) common(i, j int) int { return min(r.all[i].asked, r.all[j].asked) }

// differences returns candidate i minus candidate j, task by task, with lost attempts in favour of
// i.
func (r *Race) differences(i, j int) []float64 {
	d := make([]float64, r.common(i, j))
	for t := range d {
		d[t] = r.all[i].means[t].High - r.all[j].means[t].Low
	}
	return d
}

// Break takes a candidate out of the race because it breaks a constraint.
func (r *Race) Break(i int, why string) { r.all[i].broken = why }

// Standing returns the standing of a candidate.
func (r *Race) Standing(i int) Standing {
	e := &r.all[i]
	return Standing{Asked: e.asked, Mean: r.mean(i, e.asked), Dropped: e.dropped, Broken: e.broken}
}

// mean is the mean over the first n tasks.
func (r *Race) mean(i, n int) float64 {
	sum := 0.0
	for _, m := range r.all[i].means[:n] {
		sum += m.Low
	}
	return sum / float64(max(n, 1))
}

// Leader returns the candidate with the highest mean among those in the race that ran the most
// tasks; of equal ones the earliest.
func (r *Race) Leader() int {
	most := 0
	for i := range r.all {
		if r.in(i) {
			most = max(most, r.all[i].asked)
		}
	}
	best, top := 0, math.Inf(-1)
	for i := range r.all {
		if !r.in(i) || r.all[i].asked < most {
			continue
		}
		if m := r.mean(i, most); m > top+1e-12 { // sums of thirds differ by their order
			best, top = i, m
		}
	}
	return best
}

// Alike returns the candidates in the race that cannot be distinguished from the leader, the leader
// first. Their paired p value, adjusted for their number (Holm), is 0.05 or more.
func (r *Race) Alike() []int {
	lead := r.Leader()
	alike := []int{lead}
	var others []int
	var p []float64
	for i := range r.all {
		if i != lead && r.in(i) {
			others, p = append(others, i), append(p, pairedP(r.differences(i, lead)))
		}
	}
	for k, q := range stats.Holm(p) {
		if q >= 0.05 {
			alike = append(alike, others[k])
		}
	}
	return alike
}

// fewTasks is up to which number of tasks the exact test of a difference is used.
const fewTasks = 15

// pairedP returns the two-sided p value of no difference.
func pairedP(d []float64) float64 {
	if len(d) < fewTasks {
		if p, ok := stats.SignFlip(d); ok {
			return p
		}
	}
	_, p := stats.PairedMean(d, 0.95)
	return p
}
