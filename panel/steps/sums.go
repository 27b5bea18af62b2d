// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package steps

import (
	"github.com/callvet/callvet"
	"github.com/callvet/callvet/stats/exact"
)

// Sums are the sums of closed tasks. They are integers, so that they merge to the same bits in any
// order. They belong to one worker.
type Sums struct {
	names    *SliceNames
	slices   []*sliceSums // by number
	confused Confusion
	// The answers of routers and retrievers in place of the expected ones, by words.
	routes, chosen Confusion
	signs          AttemptSigns
	open           map[[2]uint32]int64           // assertions that were not evaluated, by target and word
	symptoms       []*SymptomCounts              // by target; nil without calls
	rankings       []*Ranking                    // by target; nil without tasks
	limits         map[uint32]*callvet.RateLimit // by the tool's number
	duplicates     duplicates

	// unions caches the sets of steps together with those of their records.
	unions map[[2]*SliceSet]*SliceSet
	// both and wider are the caches of expect: combined numbers of expected tools, and sets with
	// them.
	both  map[[2]uint32]uint32
	wider map[expectedSet]*SliceSet

	// scores and counts are the most frequent kinds of steps and tasks.
	scores kinds[callvet.StepScore]
	counts kinds[taskCounts]

	// scratch of one task
	whole     int    // the kind of its counts
	marks     []mark // by slice
	round     uint32
	lists     []listed
	every     []int32
	all, some some
	calls     []uint64
	tries     []try
	lack      []uint32
	later     map[uint32]int // of tries, by attempt, those after the first few
	sum       taskSum
}

// expectedSet is a set, and the number of the expected tools of its task.
type expectedSet struct {
	set     *SliceSet
	expects uint32
}

// sliceSums is the table of one slice.
type sliceSums struct {
	waits                  bool // queue and accept times are known
	exec, toolTime         exact.Quantiles
	queue, accept          exact.Quantiles
	tasks, attempts, steps int64
	moot                   [moots]int64
	rates                  [callvet.StepMetrics]exact.Rate
	keys                   exact.Mean // share of argument keys that match
	precision, recall, f1  exact.Mean
	micro                  exact.Rate // share of the names on both sides that match
	calls, unneeded        exact.Count
	spared                 exact.Rate // tasks with a labelled call or without any, yes where none is unneeded
	incidents, blocked     int64
	torn                   int64       // attempts with fewer step lines than their records count
	labelled               int64       // attempts with calls labelled as needed or not
	exposed                exact.Rate  // tasks, with an incident or without
	stopped                exact.Rate  // the same tasks, with a blocked one or without
	fromRecords            *recordSums // nil without task records
	// How many tasks of each kind of Sums are not in the sums yet: tasks that have one
	// step in the slice, by its score, and tasks by their counts. Only settled Sums have all in the sums.
	only, whole []int64
}

// kinds numbers different values in the order of their arrival. Tasks often have equal values: counting
// them, and adding them to the sums once, takes a fraction of the time of adding each of them.
type kinds[K comparable] struct {
	numbers map[K]int
	list    []K
}

// maxKinds bounds the numbered values, so that the counts of a slice take no more room than its sums.
const maxKinds = 512

// number is the number of a value; -1 where it has none, because there were enough others before.
func (k *kinds[K]) number(x K) int {
	n, known := k.numbers[x]
	switch {
	case known:
		return n
	case len(k.list) == maxKinds:
		return -1
	case k.numbers == nil:
		k.numbers = map[K]int{}
	}
	n = len(k.list)
	k.numbers[x], k.list = n, append(k.list, x)
	return n
}

// count counts a value of that number.
func count(counts *[]int64, number int) {
	*counts = grown(*counts, number)
	(*counts)[number]++
}

// settle adds the values that were only counted to the sums.
func (s *Sums) settle() {
	for _, x := range s.slices {
		if x == nil {
			continue
		}
		for kind, n := range x.only {
			if n > 0 {
				var f facts
				f.step(&s.scores.list[kind])
				x.addTimes(&f, n)
			}
		}
		for kind, n := range x.whole {
			if n > 0 {
				x.addCounts(&s.counts.list[kind], n)
			}
		}
		x.only, x.whole = nil, nil
	}
}

// recordSums is the sums of task records.
type recordSums struct {
	passed, failed, errors, notRun        int64
	skipped                               int64 // of notRun, on purpose
	input, output, reasoning              int64
	cost, costKnown, costUnknown, noUsage int64
	pass, fault, miss                     exact.Rate
	complete                              exact.Rate          // pass, of the tasks that lost no attempt
	short                                 map[shortTask]int64 // the other tasks
	judged                                []exact.Rate        // by judge
	at, hat                               []exact.Mean        // of k = index+1 trials
	costs, perPass, tokens                exact.Ratio
	wall, tokenQuantiles, costQuantiles   exact.Quantiles
	scored                                *scoredSums // nil where no attempt was scored
}

// maxTrials bounds the k of pass@k.
const maxTrials = 32

func newSums(n *SliceNames) *Sums {
	s := &Sums{names: n, open: map[[2]uint32]int64{}, unions: map[[2]*SliceSet]*SliceSet{}}
	s.both, s.wider = map[[2]uint32]uint32{}, map[expectedSet]*SliceSet{}
	return s
}

// symptom has the counts of symptoms in a target's calls.
func (s *Sums) symptom(target uint32) *SymptomCounts {
	if int(target) < len(s.symptoms) && s.symptoms[target] != nil { // nearly always
		return s.symptoms[target]
	}
	s.symptoms = grown(s.symptoms, int(target))
	x := NewSymptomCounts()
	s.symptoms[target] = &x
	return &x
}

// ranking is the ranking of the tasks of a target.
func (s *Sums) ranking(target uint32) *Ranking {
	s.rankings = grown(s.rankings, int(target))
	if s.rankings[target] == nil {
		s.rankings[target] = &Ranking{}
	}
	return s.rankings[target]
}

func (s *Sums) slice(id uint32) *sliceSums {
	for int(id) >= len(s.slices) {
		s.slices = append(s.slices, nil)
	}
	if s.slices[id] == nil {
		s.slices[id] = s.newSlice(id)
	}
	return s.slices[id]
}

func (s *Sums) newSlice(id uint32) *sliceSums {
	key := s.names.Slice(id).Key
	return &sliceSums{waits: key == "" || key == callvet.SliceCalledTool}
}

// gather adds the sums of a slice to those at to; its own must not be used afterwards. Different
// slices may be gathered at once.
func (s *Sums) gather(id uint32, to **sliceSums) {
	switch {
	case int(id) >= len(s.slices) || s.slices[id] == nil:
	case *to == nil:
		*to = s.slices[id]
	default:
		(*to).merge(s.slices[id])
	}
}

// merge adds sums of the same names.
func (s *Sums) merge(o *Sums) {
	for id, from := range o.slices {
		if from != nil {
			s.slice(uint32(id)).merge(from)
		}
	}
	s.mergeRest(o)
}

// mergeRest adds all but the slices.
func (s *Sums) mergeRest(o *Sums) {
	s.confused.Merge(&o.confused)
	s.routes.Merge(&o.routes)
	s.chosen.Merge(&o.chosen)
	s.signs.Merge(&o.signs)
	for k, n := range o.open {
		s.open[k] += n
	}
	for target, x := range o.symptoms {
		if x != nil {
			s.symptom(uint32(target)).Merge(x)
		}
	}
	for target, x := range o.rankings {
		if x != nil {
			s.ranking(uint32(target)).Merge(x)
		}
	}
	s.duplicates.merge(&o.duplicates)
}

func (s *sliceSums) merge(o *sliceSums) {
	s.tasks, s.attempts, s.steps, s.incidents = s.tasks+o.tasks, s.attempts+o.attempts, s.steps+o.steps,
		s.incidents+o.incidents
	s.blocked, s.labelled, s.torn = s.blocked+o.blocked, s.labelled+o.labelled, s.torn+o.torn
	for i := range s.moot {
		s.moot[i] += o.moot[i]
	}
	for i := range s.rates {
		s.rates[i].Merge(&o.rates[i])
	}
	s.keys.Merge(&o.keys)
	s.precision.Merge(&o.precision)
	s.recall.Merge(&o.recall)
	s.f1.Merge(&o.f1)
	s.micro.Merge(&o.micro)
	s.exec.Merge(&o.exec)
	if s.waits {
		s.queue.Merge(&o.queue)
		s.accept.Merge(&o.accept)
	}
	s.calls.Merge(&o.calls)
	s.unneeded.Merge(&o.unneeded)
	s.spared.Merge(&o.spared)
	s.toolTime.Merge(&o.toolTime)
	s.exposed.Merge(&o.exposed)
	s.stopped.Merge(&o.stopped)
	if o.fromRecords != nil {
		if s.fromRecords == nil {
			s.fromRecords = &recordSums{}
		}
		s.fromRecords.merge(o.fromRecords)
	}
}

// counts are the plain counts, in the order of the file format.
func (t *recordSums) counts() []*int64 {
	return []*int64{
		&t.passed, &t.failed, &t.errors, &t.notRun, &t.skipped, &t.input, &t.output, &t.reasoning, &t.cost,
		&t.costKnown, &t.costUnknown, &t.noUsage,
	}
}

func (t *recordSums) merge(o *recordSums) {
	from := o.counts()
	for i, n := range t.counts() {
		*n += *from[i]
	}
	t.pass.Merge(&o.pass)
	t.complete.Merge(&o.complete)
	for k, n := range o.short {
		t.shorten(k, n)
	}
	t.fault.Merge(&o.fault)
	t.miss.Merge(&o.miss)
	for i := range o.judged {
		t.judge(i).Merge(&o.judged[i])
	}
	t.trials(len(o.at))
	for i := range o.at {
		t.at[i].Merge(&o.at[i])
		t.hat[i].Merge(&o.hat[i])
	}
	t.costs.Merge(&o.costs)
	t.perPass.Merge(&o.perPass)
	t.tokens.Merge(&o.tokens)
	t.wall.Merge(&o.wall)
	t.tokenQuantiles.Merge(&o.tokenQuantiles)
	t.costQuantiles.Merge(&o.costQuantiles)
	if o.scored != nil {
		if t.scored == nil {
			t.scored = newScoredSums()
		}
		t.scored.merge(o.scored)
	}
}

func (t *recordSums) judge(i int) *exact.Rate {
	for i >= len(t.judged) {
		t.judged = append(t.judged, exact.Rate{})
	}
	return &t.judged[i]
}

func (t *recordSums) trials(k int) {
	for len(t.at) < k {
		t.at, t.hat = append(t.at, exact.Mean{}), append(t.hat, exact.Mean{})
	}
}
