// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package main

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/labels"
	"github.com/callvet/callvet/stats/judge"
	"github.com/callvet/callvet/verify/jsonl"
	"github.com/callvet/callvet/verify/proof"
)

// judgeCheck compares the published figures of one set of judges, and the corrected success rates.
type judgeCheck struct {
	c       *proof.Check
	set     string
	figures *proof.Figures
	// splits is how often the tasks are divided. The judges of the same tasks agree within one division,
	// so that one division alone shows little.
	splits int
	// held counts corrected intervals that contain the truth, by design, over all divisions.
	held, corrected map[labels.QueueDesign]int
	// later are the corrections, made after all figures of all sets agree with the published ones.
	later *[]func() error
	// judgesWithTruth are the judges that are compared with the truth.
	judgesWithTruth *[]judgeTruth
}

// minHeld is the least share of corrected intervals that contain the truth: intervals of 95 %, many
// of them over the same tasks.
const minHeld = 0.9

// judgeSplits is how often the tasks of each judge are divided.
const judgeSplits = 10

// designs are the ways to correct, in the order of the report.
func designs() []labels.QueueDesign { return []labels.QueueDesign{labels.Transport, labels.Internal} }

// judges compares calibration with published figures of judges, and the correction with the known
// truth.
func judges(c *proof.Check, d proof.Data, splits int) error {
	held, corrected := map[labels.QueueDesign]int{}, map[labels.QueueDesign]int{}
	var later []func() error
	var judgesWithTruth []judgeTruth
	var bad error
	whole := true
	for _, set := range []struct {
		name string
		run  func(*judgeCheck, proof.Data) error
	}{
		{"agentprocessbench", (*judgeCheck).process},
		{"livemcpbench_judges", (*judgeCheck).liveMCP},
		{"tau2_judges", (*judgeCheck).tau2},
	} {
		figures, err := d.Published(set.name)
		if err != nil {
			bad = errors.Join(bad, err)
			continue
		}
		c.DueFigures(set.name, figures, nil)
		bad = errors.Join(bad, set.run(&judgeCheck{c, set.name, figures, splits, held, corrected, &later, &judgesWithTruth}, d))
		agree, n, due := c.Tally(set.name + " figures")
		c.Printf("%s: %d of %d published figures, %d due\n", set.name, agree, n, due)
		whole = whole && agree == due && n == due
	}
	c.Due(intervals, len(designs()), "the two designs of a correction")
	if bad != nil || !whole {
		c.Printf("nothing is corrected: the rows are not those of the published figures\n")
		return bad
	}
	for _, correct := range later {
		if err := correct(); err != nil {
			return err
		}
	}
	for _, design := range designs() {
		share := float64(held[design]) / float64(max(1, corrected[design]))
		c.Compare(intervals, string(design), share >= minHeld, "%d of %d hold it, %.0f %% are to", held[design],
			corrected[design], 100*minHeld)
		c.Printf(
			"corrected success (%s): the 95 %% interval holds the truth in %d of %d corrections, %d divisions of the tasks of each judge\n", design, held[design], corrected[design], splits)
	}
	return compareWithTruth(c, "tau2_judges", judgesWithTruth, truthTimes*splits)
}

// intervals names the comparisons of how often intervals contain the truth.
const intervals = "95 % intervals of corrected success hold the truth"

// figure compares one number with the published one.
func (c *judgeCheck) figure(own float64, path ...string) { c.c.Figure(c.set, c.figures, own, path...) }

// at adds names to a path.
func at(path []string, elem ...string) []string { return append(slices.Clone(path), elem...) }

// table compares the counts and rates of a table under a path.
func (c *judgeCheck) table(r *labels.CalibrationReport, path ...string) {
	for name, own := range map[string]int{
		"tp": r.Table.TruePass, "fn": r.Table.FalseFail, "fp": r.Table.FalsePass,
		"tn": r.Table.TrueFail,
	} {
		c.figure(float64(own), at(path, name)...)
	}
	for _, name := range []string{"no_verdict", "unparsed"} {
		if c.figures.Has(at(path, name)...) {
			c.figure(float64(r.Counts.Unjudged), at(path, name)...)
		}
	}
	c.figure(r.Sensitivity.Point, at(path, "sensitivity")...)
	c.figure(r.Specificity.Point, at(path, "specificity")...)
}

// calibrated returns the product's report on labels with a judge's verdicts.
func calibrated(name string, unit labels.Unit, ls []labels.Label) (*labels.CalibrationReport, error) {
	return labels.Calibrate(labels.CalibrationInput{Judge: name, Unit: unit, Labels: ls})
}

// corrections names the comparisons of corrected and refused estimates.
func (c *judgeCheck) corrections() string { return c.set + " corrections" }

// correct corrects the judged rate in both designs and compares it with the truth: with labels of
// one half of the tasks for the other half, and with labels of one half of the tasks for all of
// them. There is an estimate if and only if there are enough labels for the design. If the judge is
// no better than chance, the estimate from all labels must be refused.
func (c *judgeCheck) correct(who, name string, ls []labels.Label) {
	c.c.Due(c.corrections(), 1, c.figures.Source)
	*c.later = append(*c.later, func() error { return c.compareCorrections(who, name, ls) })
}

func (c *judgeCheck) compareCorrections(who, name string, ls []labels.Label) error {
	all, err := calibrated(name, labels.Task, ls)
	if err != nil {
		return err
	}
	elsewhere, reason, err := corrected(name, ls, rename(ls))
	if err != nil {
		return err
	}
	if all.Youden.Point <= 0 {
		c.c.Compare(c.corrections(), who, elsewhere.Refused != "" && elsewhere.True.Status == judge.NotInformative,
			"a judge with J %.3f is not refused", all.Youden.Point)
		c.c.Printf("%-60s J %6.3f  judged %.3f  refused: %s\n", who, all.Youden.Point, elsewhere.Raw.Point, reason)
		return nil
	}
	line, wrong := fmt.Sprintf("%-60s J %6.3f", who, all.Youden.Point), ""
	for split := range c.splits {
		half, rest := halves(ls, split)
		for _, design := range designs() {
			run := rest
			if design == labels.Internal {
				run = ls
			}
			result, problem, err := c.division(design, name, half, run)
			if err != nil {
				return err
			}
			if wrong += problem; split == 0 {
				line += result
			}
		}
	}
	c.c.Compare(c.corrections(), who, wrong == "", "%s", wrong)
	c.c.Printf("%s\n", line)
	return nil
}

// division corrects with the labels of one half, and returns the result and its errors.
func (c *judgeCheck) division(design labels.QueueDesign, name string, half,
	run []labels.Label,
) (result, problem string, err error) {
	s, _, err := corrected(name, half, run)
	if err != nil {
		return "", "", err
	}
	due, err := enough(design, name, half, run)
	if err != nil {
		return "", "", err
	}
	given, truth := s.Design == design && s.Refused == "", trueShare(run)
	if given != due {
		problem = fmt.Sprintf(" %s: corrected %v, labels enough %v (%s);", design, given, due, s.Refused)
	}
	if !given {
		return fmt.Sprintf("  %s refused (%s)", design, s.True.Status), problem, nil
	}
	c.corrected[design]++
	if s.True.Lower <= truth && truth <= s.True.Upper {
		c.held[design]++
	}
	return fmt.Sprintf("  %s judged %.3f corrected %.3f [%.3f, %.3f] truth %.3f", design, s.Raw.Point, s.True.Point,
		s.True.Lower, s.True.Upper, truth), problem, nil
}

// enough reports whether labels suffice for a design, by the least counts of the product. A
// calibration for another run needs them for each true outcome. Labels of the run itself need them
// for each verdict, or all labels.
func enough(design labels.QueueDesign, name string, ls, run []labels.Label) (bool, error) {
	if design == labels.Internal {
		labelled, judged := verdicts(ls), verdicts(run)
		least := func(verdict bool) int { return min(judge.MinStratum, judged[verdict]) }
		return labelled[true] >= least(true) && labelled[false] >= least(false), nil
	}
	r, err := calibrated(name, labels.Task, ls)
	if err != nil {
		return false, err
	}
	t := r.Table
	return min(t.TruePass+t.FalseFail, t.FalsePass+t.TrueFail) >= judge.MinLabels && r.Youden.Point > 0, nil
}

// verdicts counts passes and fails of the judge.
func verdicts(ls []labels.Label) map[bool]int {
	out := map[bool]int{}
	for _, l := range ls {
		if pass, known := l.Judged[0].Passed(); known {
			out[pass]++
		}
	}
	return out
}

// corrected returns the estimated true success of a run with verdicts and labels.
func corrected(name string, ls, run []labels.Label) (labels.Success, string, error) {
	in := labels.CalibrationInput{Judge: name, Labels: ls, Run: []labels.Judgement{}}
	for _, l := range run {
		for _, v := range l.Judged {
			in.Run = append(in.Run, labels.Judgement{Key: l.Key, Fingerprint: l.Fingerprint, Verdict: v})
		}
	}
	r, err := labels.Calibrate(in)
	if err != nil {
		return labels.Success{}, "", err
	}
	return r.Success[0], r.Success[0].Refused, nil
}

// rename returns the same verdicts as verdicts of another run.
func rename(ls []labels.Label) []labels.Label {
	out := slices.Clone(ls)
	for i := range out {
		out[i].TaskID = "run " + out[i].TaskID
		out[i].Fingerprint = outputOf(out[i].TaskID)
	}
	return out
}

// outputOf stands for the fingerprint of the only output of a task.
func outputOf(task string) string {
	sum := sha256.Sum256([]byte(task))
	return hex.EncodeToString(sum[:])
}

// halves divides tasks by a hash of their names, differently for each split. The hash must mix well:
// names of tasks are numbers, and the tasks of one domain must not be all in one half.
func halves(ls []labels.Label, split int) (a, b []labels.Label) {
	rank := func(l labels.Label) string {
		h := sha256.Sum256([]byte(fmt.Sprint(split, " ", l.TaskID)))
		return string(h[:])
	}
	ls = slices.Clone(ls)
	slices.SortFunc(ls, func(a, b labels.Label) int { return cmp.Compare(rank(a), rank(b)) })
	return ls[:len(ls)/2], ls[len(ls)/2:]
}

// trueShare counts only tasks that have a verdict: the others are in no rate.
func trueShare(ls []labels.Label) float64 {
	n, pass := 0, 0
	for _, l := range ls {
		if _, known := l.Judged[0].Passed(); !known {
			continue
		}
		n++
		if *l.Pass {
			pass++
		}
	}
	return float64(pass) / float64(n)
}

// byJudge lists files of verdicts by the judge's name; the name is their stem.
func byJudge(files []string) map[string]string {
	out := map[string]string{}
	for _, p := range files {
		out[jsonl.Stem(p)] = p
	}
	return out
}

// unpublished fails for files without a published figure.
func (c *judgeCheck) unpublished(files map[string]string, known func(name string) bool) {
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if !known(name) {
			c.c.Problem(fmt.Errorf("check %s: %w: %s publishes nothing of %s", c.set, callvet.ErrNotFound,
				c.figures.Source, name))
		}
	}
}

// ratedTask is a line of AgentProcessBench, of people and judges alike.
type ratedTask struct {
	Key    string              `json:"key"`
	Steps  map[string]*float64 `json:"step_labels"`
	Final  *float64            `json:"final_label"`
	Failed bool                `json:"failed"`
}

func readRated(path string) (map[string]ratedTask, error) {
	out := map[string]ratedTask{}
	err := jsonl.Each(path, func(t ratedTask) error {
		if _, twice := out[t.Key]; twice {
			return fmt.Errorf("read %s: %w: task %s stands there twice", path, callvet.ErrInvalid, t.Key)
		}
		out[t.Key] = t
		return nil
	})
	return out, err
}

// process checks AgentProcessBench: steps rated 1, 0 or -1 and a final verdict, of
// each judge on each data set.
func (c *judgeCheck) process(d proof.Data) error {
	people, err := d.Files(c.set, filepath.Join("*", "human.jsonl*"))
	if err != nil {
		return err
	}
	for _, path := range people {
		set := filepath.Base(filepath.Dir(path))
		human, err := readRated(path)
		if err != nil {
			return err
		}
		list, err := d.Files(c.set, filepath.Join(set, "judges", "*.jsonl*"))
		if err != nil {
			return err
		}
		files := byJudge(list)
		c.unpublished(files, func(name string) bool { return len(c.figures.Keys(name, set)) > 0 })
		for _, name := range slices.Sorted(maps.Keys(files)) {
			judged, err := readRated(files[name])
			if err == nil {
				err = c.processJudge(set, name, human, judged)
			}
			c.c.Problem(err)
		}
	}
	return nil
}

func (c *judgeCheck) processJudge(set, name string, people, judged map[string]ratedTask) error {
	steps, err := calibrated(name, labels.Call, stepLabels(name, people, judged))
	if err != nil {
		return err
	}
	percent := func(n, of int) float64 { return 100 * float64(n) / float64(of) }
	c.figure(float64(steps.Counts.Labelled), name, set, "step_total")
	c.figure(percent(steps.Ratings.Same, steps.Counts.Labelled), name, set, "step_micro_acc_pct")
	c.figure(percent(steps.Calls.FirstFailure, steps.Calls.Tasks), name, set, "first_err_acc_pct")
	c.figure(percent(steps.Calls.AllSame, steps.Calls.Tasks), name, set, "step_exact_acc_pct")
	strict := finalLabels(name, people, judged, true)
	r, err := calibrated(name, labels.Task, strict)
	if err != nil {
		return err
	}
	c.figure(float64(r.Counts.Unjudged), name, set, "missing_or_failed")
	if r, err = calibrated(name, labels.Task, finalLabels(name, people, judged, false)); err != nil {
		return err
	}
	c.table(r, name, set, "final")
	n := float64(r.Table.N())
	c.figure(float64(r.Table.TruePass+r.Table.FalsePass)/n, name, set, "final", "judged_pass")
	c.figure(float64(r.Table.TruePass+r.Table.FalseFail)/n, name, set, "final", "human_pass")
	c.correct(set+" "+name, name, strict)
	return nil
}

// noRating is a rating outside the scale.
const noRating = 2

// stepLabels are labels of single steps; a step that the judge left out differs.
func stepLabels(name string, people, judged map[string]ratedTask) []labels.Label {
	var out []labels.Label
	for _, id := range slices.Sorted(maps.Keys(people)) {
		ids := slices.Sorted(maps.Keys(people[id].Steps))
		slices.SortFunc(ids, func(a, b string) int {
			x, _ := strconv.Atoi(a)
			y, _ := strconv.Atoi(b)
			return cmp.Compare(x, y)
		})
		for _, step := range ids {
			if people[id].Steps[step] == nil {
				continue
			}
			rating, score := *people[id].Steps[step], float64(noRating)
			if given := judged[id].Steps[step]; given != nil {
				score = *given
			}
			right, passed := rating >= 0, score >= 0
			out = append(out, labels.Label{
				Key: labels.Key{TaskID: id, Unit: labels.Call, CallID: step}, Role: labels.Calibrating, Pass: &right,
				Rating: &rating, Line: len(out) + 1,
				Judged: []labels.Verdict{{Judge: labels.Judge{Name: name}, Pass: &passed, Score: &score}},
			})
		}
	}
	return out
}

// finalLabels are labels of whole tasks. The authors count an unreadable
// answer as a fail; strictly it is no verdict.
func finalLabels(name string, people, judged map[string]ratedTask, strict bool) []labels.Label {
	var out []labels.Label
	for _, id := range slices.Sorted(maps.Keys(people)) {
		if people[id].Final == nil {
			continue
		}
		v := labels.Verdict{Judge: labels.Judge{Name: name}}
		if s, ok := judged[id]; ok && s.Final != nil && !(strict && s.Failed) {
			v.Pass = same(*s.Final, 1)
		}
		out = append(out, taskLabel(id, *same(*people[id].Final, 1), v))
	}
	return out
}

func same(a, b float64) *bool {
	eq := a == b
	return &eq
}

func taskLabel(id string, pass bool, v labels.Verdict) labels.Label {
	return labels.Label{
		Key: labels.Key{TaskID: id, Unit: labels.Task}, Fingerprint: outputOf(id),
		Role: labels.Calibrating, Pass: &pass, Judged: []labels.Verdict{v},
	}
}
