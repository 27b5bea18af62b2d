// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/callvet/callvet/cmd/callvet-verify/jsonl"
	"github.com/callvet/callvet/internal/labels"
	"github.com/callvet/callvet/stats/judge"
)

// judgeCheck counts published figures of judges that come out the same, and what
// becomes of the corrected success.
type judgeCheck struct {
	out            io.Writer
	figures, equal int
	// refused of chance judges are no better than chance; held of corrected
	// intervals hold the truth.
	refused, chance int
	held, corrected [2]int // transport, internal
}

// minHeld is the least share of corrected intervals that hold the truth: intervals
// of 95 %, many of them over the same tasks.
const minHeld = 0.9

// judges holds calibration against published figures of judges, and the correction
// against what is known to be true.
func judges(out io.Writer, data string) (bool, error) {
	c := &judgeCheck{out: out}
	sets := filepath.Join(data, "sets")
	for _, half := range []string{"open", "heldout"} {
		for _, set := range []struct {
			name string
			run  func(dir string) error
		}{{"agentprocessbench", c.process}, {"livemcpbench_judges", c.liveMCP}, {"tau2_judges", c.tau2}} {
			dir := filepath.Join(sets, set.name, half)
			if _, err := os.Stat(dir); os.IsNotExist(err) && half == "heldout" {
				continue
			}
			before, same := c.figures, c.equal
			if err := set.run(dir); err != nil {
				return false, fmt.Errorf("check %s: %w", dir, err)
			}
			if c.figures == before {
				return false, fmt.Errorf("check %s: no published figure was compared", dir)
			}
			fmt.Fprintf(out, "%s %s: %d of %d published figures\n", set.name, half, c.equal-same, c.figures-before)
		}
	}
	ok := c.figures > 0 && c.equal == c.figures && c.refused == c.chance
	for i, design := range []string{"transport", "internal"} {
		share := float64(c.held[i]) / math.Max(1, float64(c.corrected[i]))
		ok = ok && c.corrected[i] > 0 && share >= minHeld
		fmt.Fprintf(out, "corrected success (%s): the 95 %% interval holds the truth for %d of %d judges\n", design, c.held[i], c.corrected[i])
	}
	fmt.Fprintf(out, "judges with J <= 0: correction refused for %d of %d\n", c.refused, c.chance)
	fmt.Fprintf(out, "judges: %d of %d published figures\n", c.equal, c.figures)
	return ok, nil
}

// figure compares one number with its published form of so many digits.
func (c *judgeCheck) figure(who, name string, got, want float64, digits int) {
	c.figures++
	if math.Abs(got-want) <= 0.5000001*math.Pow(10, -float64(digits)) {
		c.equal++
		return
	}
	fmt.Fprintf(c.out, "WRONG %s %s: %v, published %v\n", who, name, got, want)
}

// published are the counts and rates of a table; nil members are not published.
type published struct {
	TP, FN, FP, TN           int
	NoVerdict                *int `json:"no_verdict"`
	Unparsed                 *int
	Sensitivity, Specificity float64
}

func (c *judgeCheck) table(who string, r *labels.Report, p published) {
	for _, f := range []struct {
		name      string
		got, want int
	}{
		{"tp", r.Table.TruePass, p.TP}, {"fn", r.Table.FalseFail, p.FN}, {"fp", r.Table.FalsePass, p.FP}, {"tn", r.Table.TrueFail, p.TN},
	} {
		c.figure(who, f.name, float64(f.got), float64(f.want), 0)
	}
	if n := cmp.Or(p.NoVerdict, p.Unparsed); n != nil {
		c.figure(who, "without a verdict", float64(r.Counts.Unjudged), float64(*n), 0)
	}
	c.figure(who, "sensitivity", r.Sensitivity.Point, p.Sensitivity, 6)
	c.figure(who, "specificity", r.Specificity.Point, p.Specificity, 6)
}

// calibrated is the product's own report on labels that carry a judge's verdicts.
func calibrated(name string, unit labels.Unit, ls []labels.Label) (*labels.Report, error) {
	return labels.Calibrate(labels.Input{Judge: name, Unit: unit, Labels: ls})
}

// correct corrects the judged rate in both designs and holds it against the truth:
// with labels of one half of the tasks for the other half, and with labels of one
// half of the tasks for all of them. All labels together must be refused where the
// judge is no better than chance.
func (c *judgeCheck) correct(who, name string, ls []labels.Label) error {
	all, err := calibrated(name, labels.Task, ls)
	if err != nil {
		return err
	}
	elsewhere, reason, err := corrected(name, ls, rename(ls))
	if err != nil {
		return err
	}
	if all.Youden.Point <= 0 {
		c.chance++
		if elsewhere.Refused != "" && elsewhere.True.Status == judge.NotInformative {
			c.refused++
		}
		fmt.Fprintf(c.out, "%-60s J %6.3f  judged %.3f  refused: %s\n", who, all.Youden.Point, elsewhere.Raw.Point, reason)
		return nil
	}
	half, rest := halves(ls)
	line := fmt.Sprintf("%-60s J %6.3f", who, all.Youden.Point)
	for i, d := range []struct {
		design labels.Design
		run    []labels.Label
	}{{labels.Transport, rest}, {labels.Internal, ls}} {
		s, _, err := corrected(name, half, d.run)
		if err != nil {
			return err
		}
		truth := trueShare(d.run)
		switch {
		case s.Design != d.design:
			line += fmt.Sprintf("  %s not possible", d.design)
		case s.Refused != "":
			line += fmt.Sprintf("  %s refused (%s)", d.design, s.True.Status)
		default:
			c.corrected[i]++
			if s.True.Lower <= truth && truth <= s.True.Upper {
				c.held[i]++
			}
			line += fmt.Sprintf("  %s judged %.3f corrected %.3f [%.3f, %.3f] truth %.3f", d.design, s.Raw.Point, s.True.Point, s.True.Lower, s.True.Upper, truth)
		}
	}
	fmt.Fprintln(c.out, line)
	return nil
}

// corrected is the true success of a run of which the verdicts stand beside labels.
func corrected(name string, ls, run []labels.Label) (labels.Success, string, error) {
	in := labels.Input{Judge: name, Labels: ls, Run: []labels.Judgement{}}
	for _, l := range run {
		for _, v := range l.Judged {
			in.Run = append(in.Run, labels.Judgement{Key: l.Key, Verdict: v})
		}
	}
	r, err := labels.Calibrate(in)
	if err != nil {
		return labels.Success{}, "", err
	}
	return r.Success[0], r.Success[0].Refused, nil
}

// rename makes the same verdicts those of another run.
func rename(ls []labels.Label) []labels.Label {
	out := slices.Clone(ls)
	for i := range out {
		out[i].TaskID = "run " + out[i].TaskID
	}
	return out
}

// halves divides tasks by a hash of their names.
func halves(ls []labels.Label) (a, b []labels.Label) {
	rank := func(l labels.Label) uint64 {
		h := fnv.New64a()
		_, _ = io.WriteString(h, l.TaskID) // a hash takes everything
		return h.Sum64()
	}
	ls = slices.Clone(ls)
	slices.SortFunc(ls, func(a, b labels.Label) int {
		return cmp.Or(cmp.Compare(rank(a), rank(b)), cmp.Compare(a.TaskID, b.TaskID))
	})
	return ls[:len(ls)/2], ls[len(ls)/2:]
}

// trueShare is over the tasks that have a verdict: the others are in no rate.
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

func scores[T any](dir string) (map[string]T, error) {
	b, err := os.ReadFile(filepath.Join(dir, "scores.json"))
	if err != nil {
		return nil, fmt.Errorf("read published figures: %w", err)
	}
	var out map[string]T
	if err := json.Unmarshal(b, &out); err != nil {
		return nil, fmt.Errorf("read published figures of %s: %w", dir, err)
	}
	return out, nil
}

// verdictFiles lists the verdicts of a folder by the judge's name.
func verdictFiles(dir string) (map[string]string, error) {
	paths, err := filepath.Glob(filepath.Join(dir, "*.jsonl.gz"))
	if err != nil {
		return nil, fmt.Errorf("list verdicts: %w", err)
	}
	if len(paths) == 0 {
		return nil, fmt.Errorf("list verdicts: none in %s", dir)
	}
	out := map[string]string{}
	for _, p := range paths {
		out[strings.TrimSuffix(filepath.Base(p), ".jsonl.gz")] = p
	}
	return out, nil
}

// ratedTask is a line of AgentProcessBench, of people and judges alike.
type ratedTask struct {
	Key    string              `json:"key"`
	Steps  map[string]*float64 `json:"step_labels"`
	Final  *float64            `json:"final_label"`
	Failed bool                `json:"failed"`
}

// processFigures are published for a judge on a data set.
type processFigures struct {
	StepAcc   float64 `json:"step_micro_acc_pct"`
	FirstErr  float64 `json:"first_err_acc_pct"`
	StepExact float64 `json:"step_exact_acc_pct"`
	StepTotal int     `json:"step_total"`
	Failed    int     `json:"missing_or_failed"`
	Final     struct {
		published
		JudgedPass float64 `json:"judged_pass"`
		HumanPass  float64 `json:"human_pass"`
	} `json:"final"`
}

// process checks AgentProcessBench: steps rated 1, 0 or -1 and a final verdict.
func (c *judgeCheck) process(dir string) error {
	want, err := scores[map[string]processFigures](dir)
	if err != nil {
		return err
	}
	sets, err := filepath.Glob(filepath.Join(dir, "*", "human.jsonl.gz"))
	if err != nil {
		return err
	}
	for _, human := range sets {
		set := filepath.Base(filepath.Dir(human))
		people := map[string]ratedTask{}
		if err := jsonl.Each(human, func(t ratedTask) error { people[t.Key] = t; return nil }); err != nil {
			return err
		}
		files, err := verdictFiles(filepath.Join(filepath.Dir(human), "judges"))
		if err != nil {
			return err
		}
		for _, name := range sortedKeys(files) {
			said := map[string]ratedTask{}
			if err := jsonl.Each(files[name], func(t ratedTask) error { said[t.Key] = t; return nil }); err != nil {
				return err
			}
			if p, ok := want[name][set]; ok {
				if err := c.processJudge(set+" "+name, name, people, said, p); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

func (c *judgeCheck) processJudge(who, name string, people, said map[string]ratedTask, p processFigures) error {
	steps, err := calibrated(name, labels.Call, stepLabels(name, people, said))
	if err != nil {
		return err
	}
	percent := func(n, of int) float64 { return 100 * float64(n) / float64(of) }
	c.figure(who, "steps", float64(steps.Counts.Labelled), float64(p.StepTotal), 0)
	c.figure(who, "StepAcc", percent(steps.Ratings.Same, steps.Counts.Labelled), p.StepAcc, 2)
	c.figure(who, "FirstErrAcc", percent(steps.Calls.FirstFailure, steps.Calls.Tasks), p.FirstErr, 2)
	c.figure(who, "tasks with all steps right", percent(steps.Calls.AllSame, steps.Calls.Tasks), p.StepExact, 2)
	strict := finalLabels(name, people, said, true)
	r, err := calibrated(name, labels.Task, strict)
	if err != nil {
		return err
	}
	c.figure(who, "missing or failed", float64(r.Counts.Unjudged), float64(p.Failed), 0)
	if r, err = calibrated(name, labels.Task, finalLabels(name, people, said, false)); err != nil {
		return err
	}
	c.table(who, r, p.Final.published)
	n := float64(r.Table.N())
	c.figure(who, "judged pass", float64(r.Table.TruePass+r.Table.FalsePass)/n, p.Final.JudgedPass, 6)
	c.figure(who, "human pass", float64(r.Table.TruePass+r.Table.FalseFail)/n, p.Final.HumanPass, 6)
	return c.correct("agentprocessbench "+who, name, strict)
}

// nobodys is a rating that nobody gives.
const nobodys = 2

// stepLabels are labels of single steps; a step that the judge left out differs.
func stepLabels(name string, people, said map[string]ratedTask) []labels.Label {
	var out []labels.Label
	for _, id := range sortedKeys(people) {
		ids := sortedKeys(people[id].Steps)
		slices.SortFunc(ids, func(a, b string) int {
			x, _ := strconv.Atoi(a)
			y, _ := strconv.Atoi(b)
			return cmp.Compare(x, y)
		})
		for _, step := range ids {
			if people[id].Steps[step] == nil {
				continue
			}
			rating, score := *people[id].Steps[step], float64(nobodys)
			if given := said[id].Steps[step]; given != nil {
				score = *given
			}
			right, says := rating >= 0, score >= 0
			out = append(out, labels.Label{
				Key: labels.Key{TaskID: id, Unit: labels.Call, CallID: step}, Role: labels.Calibrating, Pass: &right, Rating: &rating, Line: len(out) + 1,
				Judged: []labels.Verdict{{Judge: labels.Judge{Name: name}, Pass: &says, Score: &score}},
			})
		}
	}
	return out
}

// finalLabels are labels of whole tasks. The authors count an answer that could not
// be read as a fail; strictly it is no verdict.
func finalLabels(name string, people, said map[string]ratedTask, strict bool) []labels.Label {
	var out []labels.Label
	for _, id := range sortedKeys(people) {
		if people[id].Final == nil {
			continue
		}
		v := labels.Verdict{Judge: labels.Judge{Name: name}}
		if s, ok := said[id]; ok && s.Final != nil && !(strict && s.Failed) {
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
	return labels.Label{Key: labels.Key{TaskID: id, Unit: labels.Task}, Role: labels.Calibrating, Pass: &pass, Judged: []labels.Verdict{v}}
}

func sortedKeys[T any](m map[string]T) []string {
	out := make([]string, 0, len(m))
	for k := range m {
		out = append(out, k)
	}
	slices.Sort(out)
	return out
}
