// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package steps

import (
	"cmp"
	"slices"

	"github.com/callvet/callvet"
)

// The symptoms of the playbook, by position. Source: Evaluating Tool Calling, §7.
const (
	rejected = iota // S1
	wrongTool
	wrongArguments
	notExecuted
	chatter
	unsafeCalls
	unsteady
	slow         // B1
	limited      // B2
	loops        // L1
	SymptomKinds // their number
)

// codes are the codes of the playbook.
var codes = [SymptomKinds]string{"S1", "S2", "S3", "S4", "S5", "S6", "S7", "B1", "B2", "L1"}

// maxSightings is how many examples of a symptom are kept, maxPaths how many
// argument names.
const (
	maxSightings = 5
	maxPaths     = 512
)

// SymptomCounts counts symptoms. They are sums, and the examples are those with the lowest lines, so that
// parts merge in any order.
type SymptomCounts struct {
	Of    [SymptomKinds]Symptom
	Steps int64
	// looked counts the calls of Look by their known measurements, until tally; nil before the
	// first one.
	looked *[everything + 1]int64
	// times are executions compared with the latency budgets of their tools, by the tool's number.
	times []timed
}

// timed counts executions of a tool with a known time, and those over the budget; and the same for
// the budget of the median.
type timed struct{ of, over, ofMid, overMid int64 }

// everything is the set of all measurements of a call.
const everything = 1<<callvet.StepMetrics - 1

// Symptom is one symptom: Count of Of calls show it.
type Symptom struct {
	Count, Of int64
	Tools     []int64          // by the tool's number; short where no later tool has calls
	Paths     map[string]int64 // by the argument's name: S1 and S3
	Timeouts  int64            // of S4
	Beyond    int64            // of B2: calls beyond the limit
	Unnamed   int64            // of S2: names that are in no catalog
	First     []Sighting       // with the lowest lines
}

// Sighting is a call that shows a symptom, or an attempt.
type Sighting struct {
	Line               int64
	Target, Task, Call string
	Attempt            int
	Tool               uint32
	Passed             bool // the attempt
}

// SymptomCall is one call; its bytes are only read during Add and the other counting methods.
type SymptomCall struct {
	Line         int64
	Target, Task []byte
	Call         string
	Attempt      int
	Tool         uint32
	Score        callvet.StepScore
	// Paths are the names of wrong arguments, Fields the names of those that break the schema.
	Paths, Fields []string
	// Ended is how the attempt ended.
	Ended AttemptEnded
}

// AttemptEnded is how an attempt ended, by its task record.
type AttemptEnded uint8

// An attempt without a verdict, one that failed, one that passed, and one that ended in an error.
const (
	Unjudged AttemptEnded = iota
	Failed
	Passed
	Faulty
)

// Shows is a set of symptoms, one bit each.
type Shows uint16

func (s Shows) has(kind int) bool { return s>>kind&1 != 0 }

// cites reports whether a call of an attempt that ended so is an example of a symptom. A symptom of
// failures needs an attempt that did not pass. An attempt with an error shows nothing about the
// target, only about its tools and its safety. Symptoms that are no failures may have any attempt
// as an example.
func (e AttemptEnded) cites(kind int) bool {
	switch kind {
	case rejected, wrongTool, wrongArguments, chatter, loops:
		return e == Unjudged || e == Failed
	case notExecuted, unsafeCalls:
		return e != Passed
	}
	return true
}

// NewSymptomCounts makes empty SymptomCounts.
func NewSymptomCounts() SymptomCounts {
	var s SymptomCounts
	for i := range s.Of {
		s.Of[i].Paths = map[string]int64{}
	}
	return s
}

const (
	bitRejected = 1 << callvet.StepRejected
	bitSchema   = 1 << callvet.StepSchemaValid
	bitSelected = 1 << callvet.StepSelection
	bitNeeded   = 1 << callvet.StepNeeded
	bitEM       = 1 << callvet.StepArgEM
	bitExecuted = 1 << callvet.StepExecuted
	bitSafe     = 1 << callvet.StepSafe
	bitKnown    = 1 << callvet.StepKnownTool
	bitLimited  = 1 << callvet.StepRateLimited
	bitBudget   = 1 << callvet.StepInBudget
	bitMid      = 1 << callvet.StepInP50
)

// bad are the measurements where "no" is a symptom.
const bad = bitSchema | bitSelected | bitNeeded | bitEM | bitExecuted | bitSafe | bitKnown

// Look counts the known measurements of a call and reports whether anything is wrong with it; a
// wrong call must then be passed to Add.
func (s *SymptomCounts) Look(score callvet.StepScore) (wrong bool) {
	if s.looked == nil {
		s.looked = new([everything + 1]int64)
	}
	s.looked[score.Known&everything]++
	return score.Known&(^score.True&bad|score.True&(bitRejected|bitLimited)) != 0
}

// WrongCall reports whether anything is wrong with a call, its time included.
func WrongCall(score callvet.StepScore) bool {
	return score.Known&(^score.True&(bad|bitBudget)|score.True&(bitRejected|bitLimited)) != 0
}

// tally adds the counts of Look to the sums.
func (s *SymptomCounts) tally() {
	if s.looked == nil {
		return
	}
	of := &s.Of
	for known, n := range s.looked {
		if n == 0 {
			continue
		}
		s.Steps += n
		of[rejected].Of += n * oneSymptom(known&(bitRejected|bitSchema) != 0)
		of[wrongTool].Of += n * oneSymptom(known&(bitSelected|bitKnown) != 0)
		of[wrongArguments].Of += n * oneSymptom(known&bitEM != 0)
		of[notExecuted].Of += n * oneSymptom(known&bitExecuted != 0)
		of[chatter].Of += n * oneSymptom(known&bitNeeded != 0)
		of[unsafeCalls].Of += n * oneSymptom(known&bitSafe != 0)
		of[limited].Of += n * oneSymptom(known&bitLimited != 0)
	}
	s.looked = nil
}

// Add counts the symptoms of a wrong call, and returns them.
func (s *SymptomCounts) Add(l *SymptomCall) (shows Shows) {
	known, right := l.Score.Known, l.Score.True
	bad, of := known&^right, &s.Of
	see := func(kind int) {
		of[kind].see(kind, l)
		shows |= 1 << kind
	}
	if bad&bitSchema != 0 || known&right&bitRejected != 0 {
		for _, f := range l.Fields {
			of[rejected].path(f)
		}
		see(rejected)
	}
	if unneeded := bad&bitNeeded != 0; unneeded {
		see(chatter)
	} else if bad&(bitSelected|bitKnown) != 0 {
		of[wrongTool].Unnamed += oneSymptom(bad&bitKnown != 0)
		see(wrongTool)
	}
	if bad&bitEM != 0 && bad&bitSelected == 0 {
		for _, p := range l.Paths {
			of[wrongArguments].path(p)
		}
		see(wrongArguments)
	}
	if bad&bitExecuted != 0 {
		of[notExecuted].Timeouts += oneSymptom(right&(1<<callvet.StepTimeout) != 0)
		see(notExecuted)
	}
	if known&right&bitLimited != 0 {
		see(limited)
	}
	if bad&bitSafe != 0 {
		see(unsafeCalls)
	}
	return shows
}

// Timed counts a call that is known to keep or break a budget.
func (s *SymptomCounts) Timed(l *SymptomCall) {
	at, known, right := s.at(int(l.Tool)), l.Score.Known, l.Score.True
	at.of += oneSymptom(known&bitBudget != 0)
	at.over += oneSymptom(known&^right&bitBudget != 0)
	at.ofMid += oneSymptom(known&bitMid != 0)
	at.overMid += oneSymptom(known&^right&bitMid != 0)
	if known&^right&bitBudget != 0 {
		s.Of[slow].see(slow, l)
	}
}

// at are the times of a tool by its number.
func (s *SymptomCounts) at(tool int) *timed {
	for tool >= len(s.times) {
		s.times = append(s.times, timed{})
	}
	return &s.times[tool]
}

func (t *timed) add(o timed) {
	t.of, t.over, t.ofMid, t.overMid = t.of+o.of, t.over+o.over, t.ofMid+o.ofMid, t.overMid+o.overMid
}

// HasBudget reports whether a call is one for Timed.
func HasBudget(score callvet.StepScore) bool { return score.Known&(bitBudget|bitMid) != 0 }

// Beyond counts calls of a tool beyond its rate limit; l is the first call of the attempt.
func (s *SymptomCounts) Beyond(calls int, l *SymptomCall) {
	x := &s.Of[limited]
	x.Beyond += int64(calls)
	x.count(l.Tool, int64(calls))
	x.Keep(l.sighting())
}

// Repeated counts a call of a tool with the arguments of an earlier one at the task (S7); same: the
// results are equal.
func (s *SymptomCounts) Repeated(same bool, l *SymptomCall) {
	u := &s.Of[unsteady]
	u.Of++
	if !same {
		u.see(unsteady, l)
	}
}

// Again counts a call of a tool with the arguments of an earlier one of its attempt (L1); same: no
// different result is recorded.
func (s *SymptomCounts) Again(same bool, l *SymptomCall) (shows Shows) {
	u := &s.Of[loops]
	u.Of++
	if !same {
		return 0
	}
	u.see(loops, l)
	return 1 << loops
}

// see counts a call that shows the symptom of a kind.
func (s *Symptom) see(kind int, l *SymptomCall) {
	s.Count++
	s.count(l.Tool, 1)
	if l.Ended.cites(kind) && (len(s.First) < maxSightings || l.Line < s.First[len(s.First)-1].Line) {
		s.Keep(l.sighting())
	}
}

func (l *SymptomCall) sighting() Sighting {
	return Sighting{l.Line, string(l.Target), string(l.Task), l.Call, l.Attempt, l.Tool, l.Ended == Passed}
}

// path counts the name of an argument.
func (s *Symptom) path(p string) {
	if _, ok := s.Paths[p]; !ok && len(s.Paths) >= maxPaths {
		p = beyond
	}
	s.Paths[p]++
}

// count counts calls of a tool; there are MaxTools.
func (s *Symptom) count(tool uint32, n int64) {
	if int(tool) >= len(s.Tools) {
		s.Tools = append(s.Tools, make([]int64, int(tool)+1-len(s.Tools))...)
	}
	s.Tools[tool] += n
}

// beyond stands for names over the limit.
const beyond = "(other)"

func oneSymptom(yes bool) int64 {
	if yes {
		return 1
	}
	return 0
}

// Keep keeps a sighting if it is among the first.
func (s *Symptom) Keep(at Sighting) { keep(&s.First, at) }

func keep(first *[]Sighting, at Sighting) {
	i, _ := slices.BinarySearchFunc(*first, at, func(a, b Sighting) int { return cmp.Compare(a.Line, b.Line) })
	*first = slices.Insert(*first, i, at)
	*first = (*first)[:min(len(*first), maxSightings)]
}

// Merge adds the counts of other calls.
func (s *SymptomCounts) Merge(o *SymptomCounts) {
	s.tally()
	o.tally()
	s.Steps += o.Steps
	for n, t := range o.times {
		s.at(n).add(t)
	}
	for i := range s.Of {
		a, b := &s.Of[i], &o.Of[i]
		a.Count, a.Of, a.Timeouts, a.Unnamed, a.Beyond = a.Count+b.Count, a.Of+b.Of, a.Timeouts+b.Timeouts,
			a.Unnamed+b.Unnamed, a.Beyond+b.Beyond
		for k, n := range b.Tools {
			a.count(uint32(k), n)
		}
		for k, n := range b.Paths {
			a.Paths[k] += n
		}
		for _, f := range b.First {
			a.Keep(f)
		}
	}
}
