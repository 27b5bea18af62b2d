// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package labels

import (
	"slices"
)

// index finds the judge's verdicts on the outputs of a run.
type index struct {
	at map[Thing][]Judgement
	// outputs counts the attempts with a fingerprint; keys and tasks are the attempts and the tasks
	// of the run, with and without a target.
	outputs map[string]int
	keys    map[Key]bool
	tasks   map[string]bool
	all     []JudgeOutput // of the unit
	whole   int
	// known are outputs with labels or verdicts from other runs.
	known map[string]bool
}

func newIndex(in CalibrationInput, j Judge) index {
	x := index{map[Thing][]Judgement{}, map[string]int{}, map[Key]bool{}, map[string]bool{}, nil, 0, knownElsewhere(in)}
	outputs := in.Outputs
	if outputs == nil {
		seen := map[Key]bool{}
		for i := range in.Run {
			k := ofAttempt(in.Run[i].Key)
			if !seen[k] {
				seen[k] = true
				outputs = append(outputs, JudgeOutput{k, in.Run[i].Fingerprint})
			}
		}
	}
	x.all = outputs
	for _, o := range outputs {
		k := ofAttempt(o.Key)
		x.whole++
		x.outputs[o.Fingerprint]++
		x.tasks[k.TaskID], x.keys[k] = true, true
		k.Target = ""
		x.keys[k] = true
	}
	if in.Unit.Part() {
		x.all = nil
	}
	id, parts := j.ID(), map[Key]bool{}
	for _, r := range in.Run {
		if r.ID() != id {
			continue
		}
		if in.Unit.Part() && r.Unit == in.Unit && !parts[r.Key] {
			parts[r.Key] = true
			x.all = append(x.all, JudgeOutput{r.Key, r.Fingerprint})
		}
		if r.Fingerprint != "" {
			thing := ThingOf(r.Key, r.Fingerprint)
			x.at[thing] = append(x.at[thing], r)
		}
	}
	if in.Unit.Part() {
		x.whole = len(x.all)
	}
	return x
}

// ofAttempt is the key of a thing's attempt.
func ofAttempt(k Key) Key {
	return Key{Target: k.Target, TaskID: k.TaskID, Attempt: k.Attempt, Unit: Task}
}

// stratum is an output's stratum by the judge's verdict; "" without a readable one.
func (x *index) stratum(thing Thing) Stratum {
	if judged := x.at[thing]; len(judged) > 0 {
		if pass, known := readable(judged).Passed(); known && pass {
			return JudgePass
		} else if known {
			return JudgeFail
		}
	}
	return ""
}

// has reports whether an attempt of the run made this output.
func (x *index) has(fingerprint string) bool { return fingerprint != "" && x.outputs[fingerprint] > 0 }

// present leaves out labels without a fingerprint on attempts that the run does not have, if the
// file has other labels on the run. A file without any belongs to a different run: its labels
// were made elsewhere.
func (j *join) present(ls []Label) []Label {
	ours := func(l Label) bool { return j.run.has(l.Fingerprint) || j.run.tasks[l.TaskID] }
	if !slices.ContainsFunc(ls, ours) {
		return ls
	}
	return slices.DeleteFunc(slices.Clone(ls), func(l Label) bool {
		absent := l.Fingerprint == "" && !j.run.keys[ofAttempt(l.Key)]
		if absent {
			j.Absent++
		}
		return absent
	})
}

// readable is the first verdict that is a pass or a fail; otherwise the first verdict.
func readable(judged []Judgement) Judgement {
	for _, v := range judged {
		if _, known := v.Passed(); known {
			return v
		}
	}
	return judged[0]
}

// rejudged counts outputs with two verdicts of the judge, and outputs with two different ones.
type rejudged struct{ N, Changed int }

// drifted reports whether the judge's verdicts changed too often to come from one judge.
func (t rejudged) drifted() bool { return float64(t.Changed) > maxChanged*float64(t.N) }

// maxChanged is the largest share of changed verdicts on unchanged outputs.
const maxChanged = 0.05

// compareVerdicts compares the run's verdicts with the judge's earlier verdicts on the same
// outputs.
func compareVerdicts(in CalibrationInput, j *join) (out rejudged) {
	id := j.judge.ID()
	changed := map[Thing]bool{}
	hear := func(ls []Label) {
		for i := range ls {
			l := &ls[i]
			judged := j.run.at[l.Thing()]
			if len(judged) == 0 || l.Run != "" && l.Run == in.RunID {
				continue
			}
			for _, v := range l.Judged {
				now, known := readable(judged).Passed()
				before, also := v.Passed()
				if v.ID() == id && known && also {
					changed[l.Thing()] = changed[l.Thing()] || now != before
				}
			}
		}
	}
	hear(in.Labels)
	hear(in.Opinions)
	for _, c := range changed {
		out.N++
		if c {
			out.Changed++
		}
	}
	return out
}
