// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package steps

import (
	"maps"
	"slices"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/panel"
	"github.com/callvet/callvet/stats"
	"github.com/callvet/callvet/stats/exact"
)

// scoring is the part of a task record about how its attempt was made and scored.
type scoring struct {
	scorerResult               *ScorerResult
	outcome                    int8 // its position in panel.Outcomes, -1 for none
	why                        int8 // the position of its reason in panel.Reasons, -1 for none
	format                     callvet.Format
	scored, decided            bool
	unreadable                 bool // the attempt has a call that could not be read
	cached, unbilled, timedOut bool
	floor                      bool
	requests                   int64
	first                      float64 // ms; 0: not recorded
}

// ScorerResult is the result of a scorer, with numbers of SliceNames.Words for texts. It is immutable,
// so that all attempts with the same result may share it.
type ScorerResult struct {
	class         int8 // its position in panel.Classes, -1 for none
	scores        []scoreOf
	unknown       []uint32 // scores
	open          []uint32 // assertions with their reason
	signs         []Sign
	routes, tools [][2]uint32 // words
}

type scoreOf struct {
	name  uint32
	value int64 // in 1/exact.Scale
}

// ScorerResult converts the result of a scorer, for the tasks of any Worker of the Sheet.
func (w *Worker) ScorerResult(x *Scored) *ScorerResult {
	s := &ScorerResult{
		class: int8(slices.Index(panel.Classes(), x.Class)), signs: slices.Clone(x.Signs),
		routes: w.pairs(x.Routes), tools: w.pairs(x.Tools),
	}
	for _, x := range x.Scores {
		s.scores = append(s.scores, scoreOf{w.word(x.Name), int64(x.Value*exact.Scale + 0.5)})
	}
	for _, name := range x.Unknown {
		s.unknown = append(s.unknown, w.word(name))
	}
	for _, x := range x.NotEvaluated {
		s.open = append(s.open, w.word(x[0]+"\x00"+x[1]))
	}
	return s
}

// scoringOf is the scoring of a record; nil where the record has none.
func (w *Worker) scoringOf(t *Task) *scoring {
	s := scoring{
		scorerResult: t.ScorerResult, outcome: int8(slices.Index(panel.Outcomes(), t.Outcome)), format: t.Format, scored: t.ScorerResult != nil,
		decided:    t.Decided,
		unreadable: t.Outcome == callvet.OutcomeUnparseable, cached: t.Cached, unbilled: t.Unbilled,
		timedOut: t.TimedOut, floor: t.Floor, requests: t.Requests, first: t.FirstMS,
	}
	s.why = reasonOf(t)
	if !s.scored && !t.Cached && !t.Unbilled && !t.TimedOut && !t.Floor &&
		t.Requests == 0 && t.FirstMS <= 0 && s.outcome < 0 && s.why < 0 {
		return nil
	}
	if !s.scored {
		if w.noResult == nil {
			w.noResult = w.ScorerResult(&Scored{})
		}
		s.scorerResult = w.noResult
	}
	return &s
}

// reasonOf is the position of the reason why the attempt has no readable answer.
func reasonOf(t *Task) int8 {
	if !t.Fault && t.Outcome != callvet.OutcomeUnparseable {
		return -1
	}
	want := panel.Reasoned{Outcome: callvet.OutcomeUnparseable, Reason: string(t.Why)}
	if t.Fault {
		want = panel.Reasoned{Outcome: callvet.OutcomeError, Reason: string(t.Kind)}
	}
	return int8(slices.Index(panel.Reasons(), want))
}

// reason is why the attempt has no readable answer, "" where that is not known.
func (s *scoring) reason() string {
	if s == nil || s.why < 0 {
		return ""
	}
	return panel.Reasons()[s.why].Reason
}

func (w *Worker) pairs(list [][2]string) (out [][2]uint32) {
	for _, p := range list {
		out = append(out, [2]uint32{w.word(p[0]), w.word(p[1])})
	}
	return out
}

// word returns the number of a text.
func (w *Worker) word(s string) uint32 {
	if n, ok := w.words[s]; ok {
		return n
	}
	if w.words == nil {
		w.words = map[string]uint32{}
	}
	n := w.names.Word(s)
	w.words[s] = n
	return n
}

// scoredSums are the sums of the scoring of attempts in a slice.
type scoredSums struct {
	outcomes, classes, reasons   []int64 // by their positions
	attempts                     int64   // with a result of a scorer
	assertions, inPart, unjudged int64
	requests, cached             int64
	unparseable, repaired        exact.Rate
	native                       exact.Rate
	means                        []exact.Mean // by the word of the score
	unknown                      []int64      // by the word of the score
	first                        exact.Quantiles
}

func newScoredSums() *scoredSums {
	return &scoredSums{
		outcomes: make([]int64, len(panel.Outcomes())), classes: make([]int64, len(panel.Classes())),
		reasons: make([]int64, len(panel.Reasons())),
	}
}

func grown[T any](list []T, n int) []T {
	for len(list) <= n {
		var zero T
		list = append(list, zero)
	}
	return list
}

func (s *scoredSums) mean(word uint32) *exact.Mean {
	s.means = grown(s.means, int(word))
	return &s.means[word]
}

func (s *scoredSums) open(word uint32, n int64) {
	s.unknown = grown(s.unknown, int(word))
	s.unknown[word] += n
}

// counts are the plain counts, in the order of the file format.
func (s *scoredSums) counts() []*int64 {
	out := []*int64{&s.attempts, &s.assertions, &s.inPart, &s.unjudged, &s.requests, &s.cached}
	for _, list := range [][]int64{s.outcomes, s.classes, s.reasons} {
		for i := range list {
			out = append(out, &list[i])
		}
	}
	return out
}

func (s *scoredSums) exact() []summed {
	return []summed{&s.unparseable, &s.repaired, &s.native, &s.first}
}

func (s *scoredSums) merge(o *scoredSums) {
	from := o.counts()
	for i, n := range s.counts() {
		*n += *from[i]
	}
	s.unparseable.Merge(&o.unparseable)
	s.repaired.Merge(&o.repaired)
	s.native.Merge(&o.native)
	s.first.Merge(&o.first)
	for w := range o.means {
		s.mean(uint32(w)).Merge(&o.means[w])
	}
	for w, n := range o.unknown {
		s.open(uint32(w), n)
	}
}

// addScored adds the attempts at a task.
func (t *recordSums) addScored(tries []try) {
	var recorded bool
	for i := range tries {
		if r := tries[i].record; r != nil && r.scoring != nil {
			recorded = true
		}
	}
	if !recorded {
		return
	}
	if t.scored == nil {
		t.scored = newScoredSums()
	}
	s := t.scored
	var unreadable, repaired, native, judged int
	var first []float64
	for i := range tries {
		r := tries[i].record
		if r == nil || r.scoring == nil {
			continue
		}
		x := r.scoring
		s.count(r)
		if x.first > 0 && !r.notRun && !x.cached && !r.fault {
			first = append(first, x.first)
		}
		if r.pass < 0 || x.format == "" || x.decided {
			continue
		}
		judged++
		unreadable += one(x.unreadable)
		repaired += one(x.format == callvet.FormatNormalized)
		native += one(x.format == callvet.FormatPass)
	}
	s.unparseable.AddAttempts(unreadable, judged, stats.AttemptsOf(unreadable, judged))
	s.repaired.AddAttempts(repaired, judged, stats.AttemptsOf(repaired, judged))
	s.native.AddAttempts(native, judged, stats.AttemptsOf(native, judged))
	s.first.Add(first, 0)
	s.scores(tries)
}

// count adds the plain counts of an attempt.
func (s *scoredSums) count(r *record) {
	x := r.scoring
	s.attempts += int64(one(x.scored))
	if x.outcome >= 0 {
		s.outcomes[x.outcome]++
	}
	if x.why >= 0 {
		s.reasons[x.why]++
	}
	if x.scorerResult.class >= 0 && r.pass != 1 {
		s.classes[x.scorerResult.class]++
	}
	s.requests += x.requests
	s.cached += int64(one(x.cached))
	if r.fault {
		return
	}
	s.assertions += int64(len(x.scorerResult.open))
	s.inPart += int64(one(r.pass == 1 && len(x.scorerResult.open) > 0))
	s.unjudged += int64(one(x.scored && r.pass < 0 && !r.notRun))
	if r.pass >= 0 {
		for _, w := range x.scorerResult.unknown {
			s.open(w, 1)
		}
	}
}

// scores adds each score of the judged attempts, once for the task.
func (s *scoredSums) scores(tries []try) {
	for i := range tries {
		for k := range tries[i].judgedScores() {
			name := tries[i].record.scoring.scorerResult.scores[k].name
			if before(tries, i, name) {
				continue
			}
			sum, n, sameCounts := int64(0), 0, true
			for j := i; j < len(tries); j++ {
				for _, x := range tries[j].judgedScores() {
					if x.name == name {
						sameCounts = sameCounts && sum == int64(n)*x.value
						sum, n = sum+x.value, n+1
					}
				}
			}
			s.mean(name).AddAttempts(sum, n, stats.Attempts{N: n, Alike: sameCounts}, 1)
		}
	}
}

// before reports whether an earlier attempt has the score.
func before(tries []try, i int, name uint32) bool {
	for j := range i {
		if slices.ContainsFunc(tries[j].judgedScores(), func(x scoreOf) bool { return x.name == name }) {
			return true
		}
	}
	return false
}

// judgedScores are the scores of the attempt; empty where it was not judged. An error has scores
// where the provider blocked a drill.
func (a *try) judgedScores() []scoreOf {
	if r := a.record; r != nil && r.scoring != nil && (r.pass >= 0 || r.fault) {
		return r.scoring.scorerResult.scores
	}
	return nil
}

// attempts adds what is summed only for the whole target: signs of issues, confusions, and
// assertions that were not evaluated.
func (s *Sums) attempts(t *task) {
	for i := range s.tries {
		r := s.tries[i].record
		if r == nil {
			continue
		}
		lacks := !s.tries[i].torn() && s.absent(t, r)
		x, target := r.scoring, r.set.Target
		at := SymptomCall{
			Line: r.line, Target: t.target, Task: t.id, Attempt: int(r.attempt),
			Ended: s.tries[i].ended(),
		}
		whole := SymptomAttempt{Ended: at.Ended, Shows: s.tries[i].shows, Missed: lacks}
		if !r.notRun {
			s.signs.End(target, r.outcome(), x.reason(), &at)
		}
		if x == nil {
			s.signs.Attempt(target, &whole, &at)
			continue
		}
		whole.Floor, whole.Unread, whole.Args = x.floor, x.unreadable, x.scorerResult.differing()
		if x.scorerResult.class >= 0 {
			whole.Class = panel.Classes()[x.scorerResult.class]
		}
		s.signs.Attempt(target, &whole, &at)
		if !r.fault {
			for _, w := range x.scorerResult.open {
				s.open[[2]uint32{target, w}]++
			}
		}
		if r.pass < 0 {
			continue
		}
		for _, sign := range x.scorerResult.signs {
			s.signs.See(target, sign.Issue, sign.Shown, sign.Why, &at)
		}
		for _, p := range x.scorerResult.routes {
			s.routes.Add(ConfusedPair{Target: target, Expected: p[0], Called: p[1]}, 1)
		}
		for _, p := range x.scorerResult.tools {
			s.chosen.Add(ConfusedPair{Target: target, Expected: p[0], Called: p[1]}, 1)
		}
	}
}

// outcome is the outcome of an attempt that ran: an error where its record has a fault, "" where it
// is not known.
func (r *record) outcome() callvet.Outcome {
	switch {
	case r.fault:
		return callvet.OutcomeError
	case r.scoring != nil && r.scoring.outcome >= 0:
		return panel.Outcomes()[r.scoring.outcome]
	}
	return ""
}

// differing are the arguments that differ, as far as a scorer names them.
func (s *ScorerResult) differing() []string {
	for _, x := range s.signs {
		if x.Issue == issueSpoiled {
			return x.Why
		}
	}
	return nil
}

// issueSpoiled is the position of T2. Its reasons are arguments.
const issueSpoiled = 1

// absent adds to the confusion table the needed calls that were not made, or an abstention where
// none was needed. It reports whether calls are missing.
func (s *Sums) absent(t *task, r *record) bool {
	if !r.gold || r.fault || r.notRun || r.scoring == nil || r.scoring.decided {
		return false
	}
	called := uint32(NoTool)
	if r.scoring.unreadable {
		called = UnreadableCall
	}
	missing, made, wrong := lacking(t, r, s.lack[:0])
	for _, tool := range missing[min(wrong, len(missing)):] { // a call of a wrong tool replaces one of them
		s.confused.Add(ConfusedPair{Target: r.set.Target, Expected: tool, Called: called}, 1)
	}
	s.lack = missing
	if len(r.needed) == 0 && made == 0 {
		s.confused.Add(ConfusedPair{Target: r.set.Target, Expected: NoTool, Called: called}, 1)
	}
	return len(missing) > 0
}

// fill writes the counts into a slice.
func (s *scoredSums) fill(out *panel.Slice) {
	for i, o := range panel.Outcomes() {
		if s.attempts == 0 { // records of other programs rarely have all outcomes
			break
		}
		out.Outcomes = append(out.Outcomes, panel.Count{Name: string(o), N: int(s.outcomes[i])})
	}
	for i, c := range panel.Classes() {
		if s.classes[i] > 0 {
			out.Classes = append(out.Classes, panel.Count{Name: string(c), N: int(s.classes[i])})
		}
	}
	for i, r := range panel.Reasons() {
		if r.N = int(s.reasons[i]); r.N > 0 {
			out.Reasons = append(out.Reasons, r)
		}
	}
	out.NotEvaluated = panel.Unevaluated{
		Assertions: int(s.assertions), Passed: int(s.inPart),
		Unjudged: int(s.unjudged),
	}
	out.Verdicts.NotRun += int(s.unjudged)
	out.Usage.Requests, out.Usage.Cached = int(s.requests), int(s.cached)
}

// scoreAbstention is the score of attempts at cases that want no call.
const scoreAbstention = "abstention"

// scored adds the metrics of scores and of the format of calls.
func (t *tabler) scored(x *scoredSums, judged int) {
	of := map[string]uint32{}
	for w := range x.means {
		if x.means[w].N() > 0 {
			of[t.names.Words.All[w]] = uint32(w)
		}
	}
	addScore := func(name string, iv stats.Interval, n int, unknown int64, fractional bool) {
		m := panel.Describe(name)
		m.Interval, m.Unknown, m.Fractional = iv, int(unknown), fractional
		m.Agree(n)
		if m.Of == "attempts" {
			m.Excluded = max(0, judged-n)
		}
		m.Warnings = panel.RateWarnings(&m, judged)
		t.out = append(t.out, m)
	}
	for _, r := range []struct {
		name string
		rate *exact.Rate
	}{{panel.MetricUnparseable, &x.unparseable}, {panel.MetricRepaired, &x.repaired}, {panel.MetricNative, &x.native}} {
		if r.rate.N() > 0 {
			addScore(r.name, r.rate.Interval(t.cfg.Confidence, stats.DefaultRho0), r.rate.N(), 0, false)
		}
	}
	if w, ok := of[scoreAbstention]; ok {
		addScore(panel.MetricAbstention, x.means[w].Interval(t.cfg.Confidence, stats.DefaultRho0), x.means[w].N(), 0,
			x.means[w].Fractional())
		delete(of, scoreAbstention)
	}
	for _, name := range panel.ScoreOrder(slices.Collect(maps.Keys(of))) {
		w, unknown := of[name], int64(0)
		if int(w) < len(x.unknown) {
			unknown = x.unknown[w]
		}
		addScore(panel.MetricName(name), x.means[w].Interval(t.cfg.Confidence, stats.DefaultRho0), x.means[w].N(), unknown,
			x.means[w].Fractional())
	}
}
