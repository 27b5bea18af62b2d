// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package judge

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/callvet/callvet"
	stat "github.com/callvet/callvet/stats/judge"
)

// auditSubjects are attempts at as many tasks, every third passed by callvet itself.
func auditSubjects(n int) (all []Subject, cs []Candidate) {
	for i := range n {
		c := weather(fmt.Sprint("c", i))
		c.Result = json.RawMessage(fmt.Sprintf(`{"celsius":%d}`, i))
		at := attemptOf(fmt.Sprintf("It is %d degrees.", i), c)
		at.Trace.CaseID = fmt.Sprint("task-", i)
		next := weather(fmt.Sprint("d", i))
		at.Trace.Turns = slices.Insert(at.Trace.Turns, 1,
			callvet.Turn{Role: callvet.RoleAssistant, Calls: []callvet.Call{next}})
		passed := i%3 == 0
		all = append(all, Subject{
			Attempt: at, Tools: []callvet.Tool{{Name: "get_weather"}, {Name: "get_news"}},
			Expect: &callvet.Expect{Rubric: []callvet.RubricDimension{{
				Dimension: "tone", MaxScore: 3,
				Criteria: "3 is kind",
			}, {Dimension: "depth", MaxScore: 1, Criteria: "-"}}},
		})
		cs = append(cs, Candidate{Key: Key{Target: at.Trace.Target, Task: at.Trace.CaseID}, Passed: &passed})
	}
	return all, cs
}

// TestChangesAreSeen: each change is in its question and in no other, the results stay JSON, and
// the attempt itself is not written to.
func TestChangesAreSeen(t *testing.T) {
	t.Parallel()
	all, _ := auditSubjects(24)
	judges := []*Judge{ownOf(t, Task), ownOf(t, Call), ownOf(t, Turn)}
	for _, j := range All() {
		if j.Unit != Target {
			judges = append(judges, &j)
		}
	}
	for _, j := range judges {
		for n, s := range all {
			if j.Unit == Call { // of the second call, before which there is a result
				n = 2*n + 1
			} else if j.Unit == Turn {
				n = 3*n + 1
			}
			before, err := json.Marshal(s.Attempt)
			if err != nil {
				t.Fatal(err)
			}
			var against *Subject
			if j.Unit == Pair {
				against = &all[(n+1)%len(all)]
			}
			qs, none := j.Probed(s, against, n)
			if len(none) > 0 {
				t.Fatalf("%s: %v", j.Name, none)
			}
			if against == nil && len(qs) != 1+len(j.Probes()) {
				t.Fatalf("%s: %d questions on one attempt", j.Name, len(qs))
			}
			of := map[Probe][]Question{}
			names := map[string]bool{}
			for _, q := range qs {
				of[q.Key.Probe] = append(of[q.Key.Probe], q)
				if names[q.Key.String()] {
					t.Errorf("two questions are called %s", q.Key)
				}
				names[q.Key.String()] = true
			}
			for _, p := range j.Probes() {
				for i, q := range of[p] {
					plain := of[""][i].Evidence
					if len(q.Evidence) <= len(plain) {
						t.Errorf("%s: %s adds nothing:\n%s", j.Name, p, q.Evidence)
					}
					want, told := j.best(&q), q.Evidence
					if p == InResult || p == InCall { // in a text of JSON
						told = strings.ReplaceAll(told, `\"`, `"`)
					}
					if strings.Contains(told, want) != (p != Length) || strings.Contains(plain, want) {
						t.Errorf("%s: %s and %s:\n%s", j.Name, p, want, q.Evidence)
					}
				}
			}
			if after, err := json.Marshal(s.Attempt); err != nil || string(after) != string(before) {
				t.Errorf("the attempt was changed: %s", after)
			}
		}
	}
}

func TestWithNote(t *testing.T) {
	t.Parallel()
	for _, tc := range [][2]string{
		{`{"a":1}`, `{"a":1,"note":"x \"y\""}`},
		{`{ }`, `{ "note":"x \"y\""}`},
		{`[]`, `["x \"y\""]`},
		{`[1]`, `[1,"x \"y\""]`},
		{`"t"`, `"t\nx \"y\""`},
		{`7`, `{"result":7,"note":"x \"y\""}`},
		{`it is 7`, "it is 7\nx \"y\""},
	} {
		out, put := withNote([]byte(tc[0]), `x "y"`)
		if string(out) != tc[1] || !strings.Contains(string(out), put) || json.Valid([]byte(tc[0])) != json.Valid(out) {
			t.Errorf("%s is %s with %s, want %s", tc[0], out, put, tc[1])
		}
	}
}

// TestNotProbed: an attempt without a place for the change is not asked about, and the reason is
// reported.
func TestNotProbed(t *testing.T) {
	t.Parallel()
	j := builtinOf(t, "task")
	bare := Subject{Attempt: attemptOf("hello")}
	qs, none := j.Probed(bare, nil, 0)
	if len(qs) != 4 || none[InResult] == "" {
		t.Errorf("%d questions without a call, %v", len(qs), none)
	}
	failed := Subject{Attempt: attemptOf("hello")}
	failed.Attempt.Trace.Outcome = callvet.OutcomeError
	if qs, none := j.Probed(failed, nil, 0); len(qs) != 0 || none[""] == "" {
		t.Errorf("%d questions on a failed attempt, %v", len(qs), none)
	}
	// The result of a call is not there yet when it, or its turn, is judged.
	first := Subject{Attempt: attemptOf("hello", weather("c")), Tools: []callvet.Tool{{Name: "get_weather"}}}
	for _, name := range []string{"arguments", "necessity"} {
		if qs, none := builtinOf(t, name).Probed(first, nil, 0); none[InResult] == "" || len(none) != 1 ||
			len(qs) != len(builtinOf(t, name).Probes()) {
			t.Errorf("%s: %d questions on a first call, %v", name, len(qs), none)
		}
	}
	long := Subject{Attempt: attemptOf("hello " + strings.Repeat("word ", 2000) + "end")}
	j.MaxEvidence = MinEvidence
	if _, none := j.Probed(long, nil, 0); none[Length] != cutOut {
		t.Errorf("a change that is cut out: %v", none)
	}
}

func TestDraw(t *testing.T) {
	t.Parallel()
	_, cs := auditSubjects(90)
	second := slices.Clone(cs[:30])
	for i := range second {
		second[i].Attempt = 1
	}
	cs = append(cs, second...)
	got := Draw(cs, 60, 7)
	if !slices.Equal(got, Draw(cs, 60, 7)) || slices.Equal(got, Draw(cs, 60, 8)) {
		t.Error("the draw does not follow from its seed alone")
	}
	tasks, passed := map[string]int{}, 0
	for _, at := range got {
		tasks[cs[at].Task]++
		if *cs[at].Passed {
			passed++
		}
	}
	if len(tasks) != 60 || passed != 30 {
		t.Errorf("%d tasks, %d passed; want 60 tasks, half of them passed", len(tasks), passed)
	}
	every := Draw(cs, 1000, 7)
	slices.Sort(every)
	if len(every) != 120 || len(slices.Compact(every)) != 120 {
		t.Errorf("%d of 120 are drawn", len(every))
	}
}

// simulated is a judge of chance. Each attempt has a chance to pass that the judge is noisy
// about; toward moves that chance for one change.
type simulated struct {
	good     float64 // share of attempts that are good
	noise    float64 // chance of the wrong verdict, each time it is asked
	unscored float64
	probe    Probe   // what moves it; "": nothing
	up       bool    // the change helps
	points   float64 // how much, of all verdicts
}

// says returns the answer to one question on an attempt that is good, or not.
func (m *simulated) says(rng *rand.Rand, k Key, good bool) string {
	if rng.Float64() < m.unscored {
		return "I would rather not say."
	}
	p := m.noise
	if good {
		p = 1 - m.noise
	}
	if k.Probe == m.probe && m.probe != "" {
		mean := m.good*(1-m.noise) + (1-m.good)*m.noise
		if m.up { // so many failing attempts pass that the mean rises by the points
			p += (1 - p) * m.points / (1 - mean)
		} else {
			p -= p * m.points / mean
		}
	}
	return fmt.Sprintf(`{"pass": %v, "fail_reasons": [], "unnecessary_calls": [], "notes": "-"}`, rng.Float64() < p)
}

// inForm returns a verdict on a task in the form of another judge.
func inForm(j *Judge, q *Question, text string) string {
	pass := strings.Contains(text, "true")
	switch {
	case !strings.HasPrefix(text, "{"):
	case j.Unit == Call:
		return fmt.Sprintf(`{"args_correct": %v}`, pass)
	case j.Unit == Turn: // the turn that calls nothing is right where no tool is needed
		if pass == (len(q.Did.Tools) > 0) {
			return `{"needed": true, "best_tool": "get_weather"}`
		}
		return `{"needed": false, "best_tool": null}`
	}
	return text
}

// wins is the answer to a comparison. The first place gets points more of all verdicts than the
// second where the judge is moved by the position.
func (m *simulated) wins(rng *rand.Rand, k Key, better bool) string {
	if rng.Float64() < m.unscored {
		return ""
	}
	first := better != k.Swapped // the better one is first
	if rng.Float64() < m.noise {
		first = !first
	}
	if m.probe == Position && rng.Float64() < m.points {
		first = m.up
	}
	return fmt.Sprintf(`{"winner": "%s", "rationale": "-"}`, map[bool]string{true: "a", false: "b"}[first])
}

// audited is one audit by a simulated judge. names are those of the questions, and read are the
// earlier results.
func (m *simulated) audited(j *Judge, qs []Question, names []string, read map[string]Combined,
	rng *rand.Rand,
) map[Probe]stat.Sway {
	good := map[string]bool{}
	said := make(map[string]Combined, len(qs))
	for i := range qs {
		k := qs[i].Key
		if _, drawn := good[k.Task]; !drawn {
			good[k.Task] = rng.Float64() < m.good
		}
		var text string
		if j.Unit == Pair {
			text = m.wins(rng, k, good[k.Task])
		} else {
			text = inForm(j, &qs[i], m.says(rng, k, good[k.Task]))
		}
		as := fmt.Sprintf("%s %v", text, qs[i].Did)
		c, known := read[as]
		if !known {
			c = Combine([]Verdict{j.Read(text, qs[i].Did)})
			read[as] = c
		}
		said[names[i]] = c
	}
	moved := j.Compare(qs, func(k Key) (Combined, bool) { c, ok := said[k.String()]; return c, ok })
	var cs []stat.Change
	for _, c := range moved {
		cs = append(cs, stat.Change{Rose: c.Rose, Fell: c.Fell, Same: c.Same})
	}
	out := map[Probe]stat.Sway{}
	for i, s := range stat.Sways(cs, 0.95) {
		out[moved[i].Probe] = s
	}
	return out
}

// TestUnracedAuditFindsBias uses the default number of attempts. At least 95 of 100 audits find a
// judge that a change moves by 30 points, in the right direction. At most 5 of 100 report a judge
// that nothing moves. Both are noisy, and some of their answers have no verdict.
func TestUnracedAuditFindsBias(t *testing.T) {
	t.Parallel()
	all, cs := auditSubjects(DefaultPairs + 60)
	drawn := Draw(cs, DefaultPairs, 1)
	ask := func(j *Judge) (qs []Question) {
		for n, at := range drawn {
			var against *Subject
			if j.Unit == Pair {
				against = &all[(at+1)%len(all)]
			}
			more, none := j.Probed(all[at], against, n)
			if len(none) > 0 && (j.Unit == Task || j.Unit == Pair) {
				t.Fatal(none)
			}
			qs = append(qs, more...)
		}
		return qs
	}
	asked := map[*Judge][]Question{}
	for _, name := range []string{"task", "compare", "arguments", "necessity"} { // a rubric has the probes of a task
		j := builtinOf(t, name)
		asked[j] = ask(j)
	}
	falsely, audits := 0, 0
	for i, m := range []simulated{
		{good: 0.5, noise: 0.1, unscored: 0.03},
		{good: 0.6, noise: 0.15, unscored: 0.05},
		{good: 0.8, noise: 0.05, unscored: 0.03},
		{good: 0.5, noise: 0.3, unscored: 0.1},
		{good: 0.6, noise: 0.1, unscored: 0.03, probe: Length, up: true, points: 0.3},
		{good: 0.5, noise: 0.15, unscored: 0.05, probe: Length, points: 0.3},
		{good: 0.5, noise: 0.1, unscored: 0.03, probe: InAnswer, up: true, points: 0.3},
		{good: 0.3, noise: 0.1, unscored: 0.03, probe: InAnswer, up: true, points: 0.3},
		{good: 0.6, noise: 0.15, unscored: 0.05, probe: InResult, up: true, points: 0.3},
		{good: 0.8, noise: 0.1, unscored: 0.03, probe: InResult, points: 0.3},
		{good: 0.5, noise: 0.15, unscored: 0.05, probe: InUser, up: true, points: 0.3},
		{good: 0.5, noise: 0.15, unscored: 0.05, probe: InCall, up: true, points: 0.3},
		{good: 0.5, noise: 0.15, unscored: 0.05, probe: Position, up: true, points: 0.3},
		{good: 0.5, noise: 0.25, unscored: 0.05, probe: Position, points: 0.3},
	} {
		for j, qs := range asked {
			switch { // a third of the attempts have no result before the turn that is judged
			case m.probe != "" && !slices.Contains(j.Probes(), m.probe), m.probe == InResult && j.Unit != Task,
				(j.Unit == Pair) != (m.probe == Position) && m.probe != "":
				continue
			}
			found, others := 0, 0
			names, read := make([]string, len(qs)), map[string]Combined{}
			for k := range qs {
				names[k] = qs[k].Key.String()
			}
			for sim := range 100 {
				rng := rand.New(rand.NewPCG(uint64(sim), uint64(i)))
				other := false
				for p, s := range m.audited(j, qs, names, read, rng) {
					switch {
					case !s.Swayed:
					case p == m.probe && s.Difference.Point > 0 == m.up:
						found++
					default:
						other = true
					}
				}
				if other {
					others++
				}
			}
			t.Logf("%s, %+v: found in %d, another in %d of 100", j.Name, m, found, others)
			switch {
			case m.probe == "" && others > 5 && (j.Unit == Task || j.Unit == Pair):
				t.Errorf("%s: %+v: a judge that nothing moves is taken for moved in %d of 100 audits",
					j.Name, m, others)
			case m.probe != "" && found < 95:
				t.Errorf("%s: %+v is found in %d of 100 audits", j.Name, m, found)
			}
			if m.probe != "" || j.Unit == Call || j.Unit == Turn {
				falsely, audits = falsely+others, audits+100
			}
		}
	}
	if 20*falsely > audits {
		t.Errorf("a change that moves nothing is found in %d of %d audits", falsely, audits)
	}
}
