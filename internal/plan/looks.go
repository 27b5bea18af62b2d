// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package plan

import (
	"math"
	"math/rand/v2"
	"slices"

	"github.com/callvet/callvet/panel"
	"github.com/callvet/callvet/panel/gates"
	"github.com/callvet/callvet/stats"
	"github.com/callvet/callvet/stats/gate"
)

// The values of Ask.Looks: how often the gate is looked at.
const (
	LooksOnce = "once" // also the empty value
	LooksAny  = "any"  // after any task
)

// Looks compares a gate for one look, which needs a fixed number of tasks, with a gate that is looked at
// after each task. Source: Statistics specification, section 16.6.
type Looks struct {
	// NoEarly is why the metric has no early decision; then there are no designs.
	NoEarly string    `json:"no_early_decision,omitempty"`
	Designs []Designs `json:"designs,omitempty"`
}

// Designs are two designs for the same decision with the same chance.
type Designs struct {
	Attempts int          `json:"attempts"`
	Verdict  gate.Verdict `json:"verdict"`
	// Change: they are of a difference to a baseline; else of a bound.
	Change bool `json:"against_baseline,omitempty"`
	// Breaks: of a loss, some tasks break; else all lose alike.
	Breaks bool `json:"breaking,omitempty"`
	// Once is the number of tasks for one look; 0 where no number is enough.
	Once  int       `json:"one_look"`
	Until UntilDone `json:"after_each_task"`
	// Take is the design with fewer tasks on average: LooksOnce, LooksAny, or TakeEither where they differ
	// by less than a tenth. "": neither is enough.
	Take string `json:"take,omitempty"`
}

// TakeEither is a value of Designs.Take.
const TakeEither = "either"

// UntilDone is the number of tasks of a gate that is looked at after each task.
type UntilDone struct {
	// Most is the number of tasks to plan: they suffice for the verdict with Chance, at least the
	// requested power. It is 0 where gates.MostTasks are not enough; then the rest is 0 too.
	Most   int     `json:"most"`
	Chance float64 `json:"chance"`
	// Mean is the mean number of tasks until a decision or Most; nine of ten decided gates need at most
	// NineInTen.
	Mean      float64 `json:"mean"`
	NineInTen int     `json:"nine_in_ten"`
	// Elsewhere is Mean for other true values: the bound itself, where it is largest; a value about twice as
	// far from it as the assumed one; and one as far on the other side. Of a loss it is twice the loss.
	Elsewhere []MeanAt `json:"elsewhere,omitempty"`
}

// MeanAt is the mean number of tasks for a true value, or for a true loss.
type MeanAt struct {
	Truth float64 `json:"truth"`
	Mean  float64 `json:"mean"`
}

// noEarly is why a metric has no early decision; "" if it has one.
func noEarly(metric string) string {
	if kindOf(metric) == incidents {
		return "its gate fails at the first incident, and passes after all of the exposure"
	}
	_, why := panel.TaskMeans(metric)
	return why
}

// law is the distribution of a task's value in a sequence, in [0,1]: values with their chances.
type law struct {
	values, upTo []float64
}

func lawOf(values, chances []float64) law {
	l := law{values: values, upTo: make([]float64, len(chances))}
	sum := 0.0
	for i, p := range chances {
		sum += p
		l.upTo[i] = sum
	}
	return l
}

func (l law) draw(rng *rand.Rand) float64 {
	u := rng.Float64()
	for i, p := range l.upTo {
		if u < p {
			return l.values[i]
		}
	}
	return l.values[len(l.values)-1]
}

// attemptsLaw is the distribution of the mean of the attempts at a task.
func attemptsLaw(attempts int, rate, icc float64) law {
	values := make([]float64, attempts+1)
	for i := range values {
		values[i] = float64(i) / float64(attempts)
	}
	return lawOf(values, stats.PassesLaw(attempts, rate, icc))
}

// changeLaw draws the change of a task against a baseline with a rate and a correlation of the attempts
// at a task, as gates.PairedRateTrial does. The value in a sequence is (1+change)/2.
func changeLaw(attempts int, rate, icc, loss float64, breaks bool) drawn {
	kept := 1 - loss/rate
	if attempts == 1 {
		both := kept * (rate*rate + icc*rate*(1-rate))
		worse, better := rate-both, rate*kept-both
		return lawOf([]float64{0, 1, 0.5}, []float64{worse, better, 1 - worse - better}).draw
	}
	return func(rng *rand.Rand) float64 {
		before := stats.DrawRate(rng, rate, icc)
		after := before
		switch {
		case !breaks:
			after *= kept
		case rng.Float64() >= kept:
			after = 0
		}
		change := stats.DrawPasses(rng, attempts, after) - stats.DrawPasses(rng, attempts, before)
		return (1 + float64(change)/float64(attempts)) / 2
	}
}

const (
	// looksSeed, with the number of the trial, seeds a simulated gate.
	looksSeed = 0x6c6f6f6b73
	// looksTrials and fewestTrials bound the number of simulated gates; looksTasks is about how
	// many tasks all of them have together. elsewhereTrials is the number of simulated gates for
	// another true value, with a rougher mean.
	looksTrials, fewestTrials, looksTasks, elsewhereTrials = 2000, 400, 3_000_000, 200
)

// drawn draws the value of a task in a sequence.
type drawn = func(*rand.Rand) float64

// drawnAt draws tasks with another true value.
type drawnAt struct {
	truth float64
	draw  drawn
}

// pathOf is the state of a simulated gate.
type pathOf struct {
	*gate.Sequence
	rng *rand.Rand
}

// follow continues simulated gates until each is decided or has most tasks.
func follow(paths []pathOf, draw drawn, most int) {
	for _, p := range paths {
		for !p.Decided() && p.N() < most {
			x := draw(p.rng)
			p.Add(gate.Task{Low: x, High: x})
		}
	}
}

func simulate(rule gate.SequenceRule, n int) []pathOf {
	paths := make([]pathOf, n)
	for i := range paths {
		s, _ := gate.NewSequence(rule) // the bounds were checked
		paths[i] = pathOf{s, rand.New(rand.NewPCG(looksSeed, uint64(i)))}
	}
	return paths
}

// until returns the smallest number of tasks that lets a sequence reach the wanted verdict with
// the given chance. once is the number of tasks for one look, 0 if no number is enough; the
// maximum of a sequence is larger. elsewhere draws tasks with other true values.
func until(rule gate.SequenceRule, want gate.Verdict, power float64, once int, draw drawn,
	elsewhere []drawnAt,
) (u UntilDone) {
	if once == 0 || once > gates.MostTasks {
		return u
	}
	limit := max(2*once, 2*rule.MinUnits)
	n := min(looksTrials, max(fewestTrials, looksTasks/limit))
	needed := int(math.Ceil(power * float64(n)))
	paths := simulate(rule, n)
	var after []int
	for ; ; limit *= 2 {
		limit = min(limit, gates.MostTasks)
		follow(paths, draw, limit)
		after = after[:0]
		for _, p := range paths {
			if p.Decision().Verdict == want {
				after = append(after, p.After())
			}
		}
		if len(after) >= needed {
			break
		}
		if limit == gates.MostTasks {
			return UntilDone{}
		}
	}
	slices.Sort(after)
	u.Most = after[needed-1]
	reached, _ := slices.BinarySearch(after, u.Most+1)
	u.Chance = float64(reached) / float64(n)
	u.Mean = meanTasks(paths, u.Most)
	var decided []int
	for _, p := range paths {
		if p.Decided() && p.After() <= u.Most {
			decided = append(decided, p.After())
		}
	}
	slices.Sort(decided)
	u.NineInTen = decided[int(math.Ceil(0.9*float64(len(decided))))-1]
	for _, e := range elsewhere {
		others := simulate(rule, elsewhereTrials)
		follow(others, e.draw, u.Most)
		u.Elsewhere = append(u.Elsewhere, MeanAt{e.truth, meanTasks(others, u.Most)})
	}
	return u
}

// meanTasks is the mean number of tasks of gates that end after at most most tasks.
func meanTasks(paths []pathOf, most int) float64 {
	sum := 0
	for _, p := range paths {
		sum += min(p.N(), most)
	}
	return float64(sum) / float64(len(paths))
}

// looks plans the two designs if they were requested. It is called after the plan for one look, and
// adds the searches that depend on it.
func (p *Plan) looks(q *Ask) {
	if q.Looks != LooksAny {
		return
	}
	p.Looks = &Looks{NoEarly: noEarly(p.Metric)}
	if p.Judge != nil && p.Looks.NoEarly == "" {
		p.Looks.NoEarly = "its judge is corrected by all labels together"
	}
	if p.Looks.NoEarly != "" {
		return
	}
	if p.Rate != nil {
		p.looksAtBound(q.levels())
	}
	if p.Paired != nil {
		p.looksAtChange(q.MinEffect)
	}
}

func (p *Plan) looksAtBound(levels []int) {
	r := p.Rate
	direction, icc := gate.AtLeast, r.Alike.Correlation
	if r.AtMost {
		direction = gate.AtMost
	}
	rule, flip := gate.Bounded(direction, r.Bound)
	rule.MinUnits = p.MinUnits
	once := map[int]int{1: r.Tasks}
	for _, s := range r.Several {
		once[s.Attempts] = s.Tasks
	}
	best := 1.0
	if flip {
		best = 0
	}
	far := 2*r.Truth - r.Bound
	if !(far > 0 && far < 1) {
		far = (r.Truth + best) / 2
	}
	for _, k := range levels {
		at := func(truth float64) drawn {
			if flip {
				truth = 1 - truth
			}
			return attemptsLaw(k, truth, icc).draw
		}
		var elsewhere []drawnAt
		for _, truth := range []float64{r.Bound, far, max(0, min(1, 2*r.Bound-r.Truth))} {
			elsewhere = append(elsewhere, drawnAt{truth, at(truth)})
		}
		p.design(Designs{Attempts: k, Verdict: gate.Pass, Once: once[k]}, rule, at(r.Truth), elsewhere)
	}
}

func (p *Plan) looksAtChange(minEffect *float64) {
	d := p.Paired
	effect := gate.MinEffect
	if minEffect != nil {
		effect = *minEffect
	}
	rule := gate.Paired(d.Margin, effect)
	rule.MinUnits = p.MinUnits
	good := d.Rate
	if d.LowerIsBetter {
		good = 1 - d.Rate
	}
	for _, row := range d.Rows {
		enter := func(loss float64, breaks bool) drawn {
			return changeLaw(row.Attempts, good, d.Correlation, loss, breaks)
		}
		losses := []bool{false}
		if row.Attempts > 1 {
			losses = []bool{false, true}
		}
		for _, breaks := range losses {
			once := row.Fails
			if breaks {
				once = row.Breaks
			}
			twice := min(2*d.Diff, good)
			p.design(Designs{Attempts: row.Attempts, Verdict: gate.Fail, Change: true, Breaks: breaks, Once: once},
				rule, enter(d.Diff, breaks), []drawnAt{{twice, enter(twice, breaks)}})
		}
		p.design(Designs{Attempts: row.Attempts, Verdict: gate.Pass, Change: true, Once: row.Passes}, rule,
			enter(0, false), nil)
	}
}

// design adds the search for a design.
func (p *Plan) design(d Designs, rule gate.SequenceRule, draw drawn, elsewhere []drawnAt) {
	l := p.Looks
	at := len(l.Designs)
	l.Designs = append(l.Designs, d)
	p.later(func() {
		to := &l.Designs[at]
		to.Until = until(rule, d.Verdict, p.Power, d.Once, draw, elsewhere)
		to.Take = to.take()
	})
}

// take returns the design with fewer tasks on average.
func (d *Designs) take() string {
	const alike = 0.1
	switch u, once := &d.Until, float64(d.Once); {
	case u.Most == 0 && d.Once == 0:
		return ""
	case u.Most == 0:
		return LooksOnce
	case u.Mean < (1-alike)*once:
		return LooksAny
	case u.Mean <= (1+alike)*once:
		return TakeEither
	}
	return LooksOnce
}
