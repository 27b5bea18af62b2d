// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package labels

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/callvet/callvet"
)

// Judgement is a judge's verdict on one thing of a run.
type Judgement struct {
	Key
	// Fingerprint is the fingerprint of the output; a label belongs to this output if it has the
	// same one.
	Fingerprint string
	Verdict
}

// JudgeOutput is one attempt of a run.
type JudgeOutput struct {
	Key
	Fingerprint string
}

// CalibrationInput is the input of Calibrate.
type CalibrationInput struct {
	// Judge is the name or the ID of the judge.
	Judge string
	// Unit is the unit of the labels; "" means Task.
	Unit Unit
	// Labels are all labels as read; the latest label of each person counts.
	Labels []Label
	// Run contains the verdicts of a run, of any judge; nil without a run.
	Run []Judgement
	// Outputs are all attempts of the run, judged or not; nil: the attempts in Run. RunID is the
	// name of the run in labels, "" if unknown.
	Outputs []JudgeOutput
	RunID   string
	// Opinions are verdicts of judges in a labels file, on any output.
	Opinions []Label
	// Without are tasks that are left out everywhere, with their labels.
	Without map[string]bool
	// Confidence is two-sided, in (0,1); 0 means 0.95.
	Confidence float64
	// Before is an earlier calibration for the test of drift; nil: none.
	Before *Calibration
	// Width is the requested width of intervals, in (0,1); 0: none.
	Width float64
}

// pair is one labelled thing with the judge's verdict.
type pair struct {
	Key
	truth, judged bool
	rating, score *float64
	stratum       Stratum
	frame         *Frame
	run           []Judgement // verdicts of the run's judge on exactly this output
	carried       bool        // no label was made on this run
	atRandom      bool        // a label records its random draw
	line          int
	at            time.Time // of its latest label
}

// join contains the pairs by role, and counts the labels without a pair.
type join struct {
	judge    Judge
	fit, out []pair // calibration labels, and held-out labels
	CalibrationCounts
	run   index
	runID string
	again rejudged
	// changed counts labelled outputs of tasks of the run that the run does not have.
	changed int
	// drawn are the draws of the labels by ID. both are the persons with a pass and a fail on one
	// drawn output. settled things have a label that estimates may use, spoken ones any label.
	drawn           map[string]*draw
	both            map[person]bool
	settled, spoken map[Thing]bool
	without         map[string]bool
}

// CalibrationCounts counts the labels by their use.
type CalibrationCounts struct {
	Repeats
	// Labels counts verdicts of people, Labelled the labelled things.
	Labels   int `json:"labels"`
	Labelled int `json:"labelled"`
	// Disputed things have as many passes as fails; Unjudged have no readable verdict of the
	// judge; OtherJudge have only a verdict of a different judge of the same name.
	Disputed int `json:"disputed"`
	// RatedOnly things have a rating and no verdict: they are in no table.
	RatedOnly  int `json:"rated_only"`
	Unjudged   int `json:"unjudged"`
	OtherJudge int `json:"other_judge"`
	// Differs names what is different about the other judges.
	Differs []string `json:"differs,omitempty"`
	// Leaked things are held out by some labels and used by others: they count as
	// used.
	Leaked int `json:"leaked"`
	// Designed things belong to tasks that were labelled to make the judge, and are left out;
	// DesignLeaked of them also have a label of a different role. Neither is in Labelled.
	Designed     int `json:"designed,omitempty"`
	DesignLeaked int `json:"design_leaked,omitempty"`
	// ByVerdict of the used were sampled by the judge's verdict; Unrecorded have no recorded
	// sampling.
	ByVerdict  int `json:"by_verdict"`
	Unrecorded int `json:"unrecorded"`
	// Elsewhere things of tasks of the run were labelled on a different output, or on an unknown
	// one. Absent labels without a fingerprint name attempts that the run does not have: they are
	// left out, and are not in Labels.
	Elsewhere int `json:"elsewhere,omitempty"`
	Absent    int `json:"absent,omitempty"`
}

// newJoin pairs labels with verdicts. The error wraps callvet.ErrNotFound if the judge has no
// verdict, and callvet.ErrInvalid if several judges have the name.
func newJoin(in CalibrationInput) (*join, error) {
	who, err := identity(in)
	if err != nil {
		return nil, err
	}
	return joinOf(in, who), nil
}

func joinOf(in CalibrationInput, who Judge) *join {
	j := &join{judge: who}
	j.run = newIndex(in, j.judge)
	j.runID = in.RunID
	j.again = compareVerdicts(in, j)
	j.without = in.Without
	j.readDraws(in.Labels, in.Unit)
	in.Labels = slices.DeleteFunc(slices.Clone(in.Labels), func(l Label) bool { return in.Without[l.TaskID] })
	latest, repeats := Latest(j.present(in.Labels))
	j.Repeats = repeats
	latest = j.withoutDesign(latest, in.Unit)
	differs := map[string]bool{}
	for _, ls := range byKey(latest) {
		if ls[0].Unit != in.Unit {
			continue
		}
		j.Labelled++
		j.Labels += len(ls)
		fit := slices.DeleteFunc(slices.Clone(ls), func(l Label) bool { return l.Role != Calibrating })
		used := fit
		if len(fit) == 0 {
			used = ls
		} else if len(fit) < len(ls) {
			j.Leaked++
		}
		p, ok := j.pair(used, differs)
		switch {
		case !ok:
		case len(fit) == 0:
			j.out = append(j.out, p)
		default:
			j.count(p)
			j.fit = append(j.fit, p)
		}
	}
	j.Differs = slices.Sorted(maps.Keys(differs))
	return j
}

// withoutDesign removes the labels for the design of the judge, and all other labels on those
// tasks.
func (j *join) withoutDesign(ls []Label, unit Unit) []Label {
	design, _ := usedFor(ls)
	if len(design) == 0 {
		return ls
	}
	for _, of := range byKey(ls) {
		if of[0].Unit != unit || !design[of[0].TaskID] {
			continue
		}
		j.Designed++
		if slices.ContainsFunc(of, func(l Label) bool { return !ofDesign(&l) }) {
			j.DesignLeaked++
		}
	}
	return slices.DeleteFunc(slices.Clone(ls), func(l Label) bool { return design[l.TaskID] })
}

func (j *join) count(p pair) {
	switch p.stratum {
	case JudgePass, JudgeFail:
		j.ByVerdict++
	case "":
		j.Unrecorded++
	}
}

// pair combines the labels on one thing: the majority is the truth.
func (j *join) pair(ls []Label, differs map[string]bool) (pair, bool) {
	p := pair{
		Key: ls[0].Key, carried: true, stratum: ls[0].Stratum, frame: ls[0].Frame, rating: ls[0].Rating,
		line: ls[0].Line,
	}
	votes := 0
	for _, l := range ls {
		if l.At.After(p.at) {
			p.at = l.At
		}
		if l.Run != "" && l.Run == j.runID {
			p.carried = false
		}
		p.atRandom = p.atRandom || l.Draw != nil && l.Stratum == Random
		switch {
		case l.Pass == nil || j.both[person{l.Thing(), Person(l.By)}]:
		case *l.Pass:
			votes++
		default:
			votes--
		}
		if p.stratum == "" {
			p.stratum, p.frame = l.Stratum, l.Frame
		}
	}
	if !slices.ContainsFunc(ls, func(l Label) bool { return l.Pass != nil }) {
		j.RatedOnly++
		return p, false
	}
	if votes == 0 {
		j.Disputed++
		return p, false
	}
	p.truth = votes > 0
	if ls[0].Role == Calibrating {
		j.settled[ls[0].Thing()] = true
	}
	p.run = j.run.at[ls[0].Thing()]
	return p, j.verdict(&p, ls, differs)
}

// verdict sets the judge's verdict of a pair, and reports whether there is a readable one.
func (j *join) verdict(p *pair, ls []Label, differs map[string]bool) bool {
	var v Verdict
	switch {
	case len(p.run) > 0:
		v = readable(p.run).Verdict
	case j.run.has(ls[0].Fingerprint): // the verdict in the label file is not the one of the run's judge
		j.Unjudged++
		return false
	default:
		if j.run.tasks[p.TaskID] {
			j.Elsewhere++
			if ls[0].Fingerprint != "" {
				j.changed++
			}
		}
		var other *Verdict
		if v, other = verdictOf(ls, j.judge); v.Name == "" && other != nil {
			j.OtherJudge++
			for _, d := range other.Differs(j.judge) {
				differs[d] = true
			}
			return false
		}
	}
	pass, known := v.Passed()
	if !known {
		j.Unjudged++
		return false
	}
	p.judged, p.score = pass, v.Score
	return true
}

// verdictOf finds the judge's verdict in labels, or a verdict of a different judge of the same
// name.
func verdictOf(ls []Label, j Judge) (v Verdict, other *Verdict) {
	id := j.ID()
	for _, l := range ls {
		for i := range l.Judged {
			switch {
			case l.Judged[i].ID() == id:
				return l.Judged[i], nil
			case l.Judged[i].Name == j.Name:
				other = &l.Judged[i]
			}
		}
	}
	return Verdict{}, other
}

// identity finds the judge: in the run if it has one, else in the labels.
func identity(in CalibrationInput) (Judge, error) {
	found, all := map[string]Judge{}, map[string]bool{}
	see := func(j Judge) {
		all[j.ID()] = true
		if j.Is(in.Judge) {
			found[j.ID()] = j
		}
	}
	for _, r := range in.Run {
		see(r.Judge)
	}
	if in.Run == nil {
		for _, l := range in.Labels {
			for _, v := range l.Judged {
				see(v.Judge)
			}
		}
	}
	switch len(found) {
	case 1:
		for _, j := range found {
			return j, nil
		}
	case 0:
		err := fmt.Errorf("find judge %q: %w: no verdict is of that judge", in.Judge, callvet.ErrNotFound)
		if len(all) == 0 {
			return Judge{}, &callvet.Hinted{
				Err:  err,
				Hint: "verdicts are next to the labels (judged) or in the task records of the traces given with --run",
			}
		}
		return Judge{}, &callvet.Hinted{
			Err:  err,
			Hint: "--judge with one of " + strings.Join(slices.Sorted(maps.Keys(all)), ", "),
		}
	}
	var ids []string
	for _, id := range slices.Sorted(maps.Keys(found)) {
		ids = append(ids, found[id].String())
	}
	return Judge{}, &callvet.Hinted{
		Err: fmt.Errorf("find judge %q: %w: %d different judges have that name: %s", in.Judge, callvet.ErrInvalid,
			len(ids), strings.Join(ids, "; ")),
		Hint: "--judge with the ID before the bracket",
	}
}

// byKey groups labels by their things, in a fixed order.
func byKey(ls []Label) [][]Label {
	ls = slices.Clone(ls)
	slices.SortStableFunc(ls, func(a, b Label) int { return a.Thing().Compare(b.Thing()) })
	var out [][]Label
	for i := 0; i < len(ls); {
		j := i + 1
		for j < len(ls) && ls[j].Thing() == ls[i].Thing() {
			j++
		}
		out = append(out, ls[i:j])
		i = j
	}
	return out
}
