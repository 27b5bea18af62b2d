// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/labels"
	"github.com/callvet/callvet/verify/jsonl"
	"github.com/callvet/callvet/verify/proof"
)

// liveRow is a line of LiveMCPBench's verdicts.
type liveRow struct {
	TaskID   string `json:"task_id"`
	Official *bool  `json:"verdict_official_parse"`
	Strict   *bool  `json:"verdict_strict_parse"`
	Human    bool   `json:"human_success"`
}

// tau2Row is a line of verdicts on tau2-bench runs.
type tau2Row struct {
	TaskID string `json:"task_id"`
	Truth  bool   `json:"truth_success"`
	Raw    string `json:"verdict_raw"`
	Pass   *bool  `json:"verdict_pass"`
	// Cost is in US dollars.
	Cost float64 `json:"cost_usd"`
}

// liveMCP checks LiveMCPBench: verdicts of judges and of people, read as its authors do, and strictly.
func (c *judgeCheck) liveMCP(d proof.Data) error {
	list, err := d.Files(c.set, "*.jsonl*")
	if err != nil {
		return err
	}
	files := byJudge(list)
	c.unpublished(files, func(name string) bool { return len(c.figures.Keys(name)) > 0 })
	for _, name := range slices.Sorted(maps.Keys(files)) {
		c.c.Problem(c.liveJudge(name, files[name]))
	}
	return nil
}

func (c *judgeCheck) liveJudge(name, path string) error {
	official, strict := []labels.Label{}, []labels.Label{}
	err := jsonl.Each(path, func(row liveRow) error {
		id := labels.Judge{Name: name}
		official = append(official, taskLabel(row.TaskID, row.Human, labels.Verdict{Judge: id, Pass: row.Official}))
		strict = append(strict, taskLabel(row.TaskID, row.Human, labels.Verdict{Judge: id, Pass: row.Strict}))
		return nil
	})
	if err != nil {
		return err
	}
	c.figure(float64(len(official)), name, "n")
	o, err := c.parsed(name, "official_parse", official)
	if err != nil {
		return err
	}
	c.figure(100*o.Accuracy.Point, name, "official_csv", "human_agreement")
	c.figure(judgedPercent(o), name, "official_csv", "success_rate")
	_, err = c.parsed(name, "strict_parse", strict)
	return err
}

// parsed compares the figures of one way of reading a judge's answers.
func (c *judgeCheck) parsed(name, parse string, ls []labels.Label) (*labels.CalibrationReport, error) {
	r, err := calibrated(name, labels.Task, ls)
	if err != nil {
		return nil, err
	}
	c.table(r, name, parse)
	c.figure(100*r.Accuracy.Point, name, parse, "agreement_pct")
	c.figure(judgedPercent(r), name, parse, "judged_success_pct")
	c.correct(name+" "+parse, name, ls)
	return r, nil
}

func judgedPercent(r *labels.CalibrationReport) float64 {
	return 100 * float64(r.Table.TruePass+r.Table.FalsePass) / float64(r.Table.N())
}

// tau2 compares judges of tau2-bench runs with the reward of a program. A file "domain__prompt" is
// published as "domain|prompt".
func (c *judgeCheck) tau2(d proof.Data) error {
	list, err := d.Files(c.set, "*.jsonl*")
	if err != nil {
		return err
	}
	files := byJudge(list)
	row := func(file string) string { return strings.Replace(file, "__", "|", 1) }
	c.unpublished(files, func(file string) bool { return len(c.figures.Keys(row(file))) > 0 })
	for _, file := range slices.Sorted(maps.Keys(files)) {
		c.c.Problem(c.tau2Judge(file, row(file), files[file]))
	}
	return nil
}

func (c *judgeCheck) tau2Judge(file, published, path string) error {
	var ls, official []labels.Label
	cost := 0.0
	seen := map[string]bool{}
	err := jsonl.Each(path, func(row tau2Row) error {
		if seen[row.TaskID] {
			return fmt.Errorf("read %s: %w: task %s stands there twice", path, callvet.ErrInvalid, row.TaskID)
		}
		seen[row.TaskID] = true
		id := labels.Judge{Name: file}
		ls = append(ls, taskLabel(row.TaskID, row.Truth, labels.Verdict{Judge: id, Pass: row.Pass}))
		official = append(official,
			taskLabel(row.TaskID, row.Truth, labels.Verdict{Judge: id, Pass: tau2Word(row.Raw)}))
		cost += row.Cost
		return nil
	})
	if err != nil {
		return err
	}
	r, err := calibrated(file, labels.Task, ls)
	if err != nil {
		return err
	}
	c.figure(float64(len(ls)), published, "n")
	c.table(r, published)
	c.figure(r.Youden.Point, published, "youden_j")
	c.figure(judgedPercent(r)/100, published, "raw_judged_pass")
	c.figure(float64(passes(ls))/float64(len(ls)), published, "true_success")
	o, err := calibrated(file, labels.Task, official)
	if err != nil {
		return err
	}
	agree := o.Table.TruePass + o.Table.TrueFail
	c.figure(float64(agree), published, "official_agree_count")
	c.figure(float64(len(ls)-agree), published, "official_disagree_count")
	c.figure(cost, published, "official_total_cost_usd")
	c.correct(file, file, ls)
	*c.judgesWithTruth = append(*c.judgesWithTruth, judgeTruth{file, ls})
	return nil
}

// passes counts tasks that truly passed.
func passes(ls []labels.Label) int {
	n := 0
	for _, l := range ls {
		if *l.Pass {
			n++
		}
	}
	return n
}

// tau2Word reads a verdict as the viewer of the judges does: two words for each
// side, nothing else.
func tau2Word(raw string) *bool {
	pass := false
	switch strings.ToLower(strings.TrimSpace(raw)) {
	case "pass", "satisfied":
		pass = true
	case "fail", "unsatisfied":
	default:
		return nil
	}
	return &pass
}
