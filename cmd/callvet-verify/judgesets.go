// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package main

import (
	"strings"

	"github.com/callvet/callvet/cmd/callvet-verify/jsonl"
	"github.com/callvet/callvet/internal/labels"
)

// parsedFigures are published for one way of reading a judge's answers.
type parsedFigures struct {
	published
	Agreement     float64 `json:"agreement_pct"`
	JudgedSuccess float64 `json:"judged_success_pct"`
}

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
}

// liveMCP checks LiveMCPBench: a pass or fail of ten judges beside one of people,
// read as its authors do and strictly.
func (c *judgeCheck) liveMCP(dir string) error {
	want, err := scores[struct {
		N           int
		OfficialCSV struct {
			HumanAgreement float64 `json:"human_agreement"`
			SuccessRate    float64 `json:"success_rate"`
		} `json:"official_csv"`
		Official parsedFigures `json:"official_parse"`
		Strict   parsedFigures `json:"strict_parse"`
	}](dir)
	if err != nil {
		return err
	}
	files, err := verdictFiles(dir)
	if err != nil {
		return err
	}
	for _, name := range sortedKeys(files) {
		p, ok := want[name]
		if !ok {
			continue
		}
		official, strict := []labels.Label{}, []labels.Label{}
		err := jsonl.Each(files[name], func(row liveRow) error {
			id := labels.Judge{Name: name}
			official = append(official, taskLabel(row.TaskID, row.Human, labels.Verdict{Judge: id, Pass: row.Official}))
			strict = append(strict, taskLabel(row.TaskID, row.Human, labels.Verdict{Judge: id, Pass: row.Strict}))
			return nil
		})
		if err != nil {
			return err
		}
		c.figure(name, "tasks", float64(len(official)), float64(p.N), 0)
		o, err := c.parsed(name+" (official parse)", name, official, p.Official)
		if err != nil {
			return err
		}
		c.figure(name, "human_agreement of the table", 100*o.Accuracy.Point, p.OfficialCSV.HumanAgreement, 2)
		c.figure(name, "success_rate of the table", judgedPercent(o), p.OfficialCSV.SuccessRate, 2)
		if _, err := c.parsed(name+" (strict parse)", name, strict, p.Strict); err != nil {
			return err
		}
	}
	return nil
}

func (c *judgeCheck) parsed(who, name string, ls []labels.Label, p parsedFigures) (*labels.Report, error) {
	r, err := calibrated(name, labels.Task, ls)
	if err != nil {
		return nil, err
	}
	c.table(who, r, p.published)
	c.figure(who, "agreement", 100*r.Accuracy.Point, p.Agreement, 2)
	c.figure(who, "judged success", judgedPercent(r), p.JudgedSuccess, 2)
	return r, c.correct("livemcpbench "+who, name, ls)
}

func judgedPercent(r *labels.Report) float64 {
	return 100 * float64(r.Table.TruePass+r.Table.FalsePass) / float64(r.Table.N())
}

// tau2 checks judges of tau2-bench runs beside the reward that a program gave.
func (c *judgeCheck) tau2(dir string) error {
	want, err := scores[struct {
		published
		N             int
		Youden        float64 `json:"youden_j"`
		JudgedPass    float64 `json:"raw_judged_pass"`
		TrueSuccess   float64 `json:"true_success"`
		OfficialAgree int     `json:"official_agree_count"`
		OfficialOther int     `json:"official_disagree_count"`
	}](dir)
	if err != nil {
		return err
	}
	files, err := verdictFiles(dir)
	if err != nil {
		return err
	}
	for _, file := range sortedKeys(files) {
		var ls, official []labels.Label
		err := jsonl.Each(files[file], func(row tau2Row) error {
			id := labels.Judge{Name: file}
			ls = append(ls, taskLabel(row.TaskID, row.Truth, labels.Verdict{Judge: id, Pass: row.Pass}))
			official = append(official, taskLabel(row.TaskID, row.Truth, labels.Verdict{Judge: id, Pass: tau2Word(row.Raw)}))
			return nil
		})
		if err != nil {
			return err
		}
		p, ok := want[strings.Replace(file, "__", "|", 1)]
		if !ok {
			continue
		}
		r, err := calibrated(file, labels.Task, ls)
		if err != nil {
			return err
		}
		c.figure(file, "tasks", float64(len(ls)), float64(p.N), 0)
		c.table(file, r, p.published)
		c.figure(file, "J", r.Youden.Point, p.Youden, 6)
		c.figure(file, "judged pass", judgedPercent(r)/100, p.JudgedPass, 6)
		c.figure(file, "true success", float64(passes(ls))/float64(len(ls)), p.TrueSuccess, 6)
		o, err := calibrated(file, labels.Task, official)
		if err != nil {
			return err
		}
		agree := o.Table.TruePass + o.Table.TrueFail
		c.figure(file, "official agreement", float64(agree), float64(p.OfficialAgree), 0)
		c.figure(file, "official disagreement", float64(len(ls)-agree), float64(p.OfficialOther), 0)
		if err := c.correct("tau2 "+file, file, ls); err != nil {
			return err
		}
	}
	return nil
}

// passes counts what truly passed.
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
