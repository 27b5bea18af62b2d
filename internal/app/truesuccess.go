// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package app

import (
	"fmt"
	"slices"
	"strings"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/calibrate"
	"github.com/callvet/callvet/internal/labels"
	"github.com/callvet/callvet/panel"
	"github.com/callvet/callvet/panel/slicing"
	"github.com/callvet/callvet/panel/steps"
)

// metricTrueSuccess is the share that truly passed, metricJudged what it corrects.
const (
	metricTrueSuccess = "true_success"
	metricJudged      = "judged_pass"
)

// labelled sets true_success of panels by people's labels: those on the very tasks of
// a trace file or run are used directly, and where there are too few, those made elsewhere
// through sensitivity and specificity, as callvet calibrate --run has it. of has the tasks,
// from is the labels file, or the trace file itself for the labels in it.
func (a *App) labelled(p *panel.Panels, of tasks, from string, calibrations []steps.Calibrated, tell Events) error {
	if err := a.again(&of, "labels"); err != nil {
		return err
	}
	run, err := a.readJudged(of, tell)
	if err != nil {
		return err
	}
	ls, opinions := run.labels, []labels.Label(nil)
	if of.file == "" || !a.cfg.Files.Same(from, of.file) {
		var more []labels.Label
		if more, opinions, err = a.readLabels(from, tell); err != nil {
			return err
		}
		ls = append(labels.Beside(more, opinions), ls...)
		run.hear(opinions)
	}
	judges := run.judges()
	if len(judges) == 0 {
		bad := &callvet.FieldError{Field: "labels", Text: fmt.Sprintf("{labels} %s: no judge said anything in %s, and without verdicts there is nothing to correct", from, of.name)}
		if run.unknown > 0 {
			bad.Fix = fmt.Sprintf("%d verdicts in the file have no fingerprint, so that it is not known which outputs they are of: callvet label stamp", run.unknown)
		}
		return bad
	}
	for _, name := range judges {
		if slices.ContainsFunc(calibrations, func(c steps.Calibrated) bool { return c.Judge == name }) {
			return &callvet.FieldError{Field: "labels", Text: fmt.Sprintf("{labels} and {calibrations} both speak of judge %s: give one of them", name)}
		}
		suffix := ""
		if len(judges) > 1 {
			suffix = ":" + name
		}
		if err := run.correct(p, calibrate.Input{
			Judge: name, Labels: ls, Run: run.judgements(), Outputs: run.outputs(), RunID: run.id, Opinions: opinions, Without: of.without, Confidence: p.Confidence,
		}, suffix); err != nil {
			return err
		}
	}
	return nil
}

// judges are the names of those who said something, in order.
func (r *judgedRun) judges() []string {
	var out []string
	for _, it := range r.items {
		for _, v := range it.Judged {
			if !slices.Contains(out, v.Name) {
				out = append(out, v.Name)
			}
		}
	}
	slices.Sort(out)
	return out
}

// correct sets true_success of one judge in all tables that have its judged rate.
func (r *judgedRun) correct(p *panel.Panels, in calibrate.Input, suffix string) error {
	all, err := calibrate.Calibrate(in)
	if err != nil {
		return err
	}
	byKey := map[string]*calibrate.SliceReport{}
	for i := range p.Targets {
		t := &p.Targets[i]
		r.setTrueSuccess(&t.Overall, successOf(all.Success, t.Name), suffix)
		for j := range t.Slices {
			s := &t.Slices[j]
			if s.Metric(metricJudged+suffix) == nil && !r.heard {
				continue
			}
			of := byKey[s.Key]
			if of == nil {
				if of, err = calibrate.BySlice(in, all, s.Key, 0, r.valuesOf(s.Key)); err != nil {
					return err
				}
				byKey[s.Key] = of
			}
			at := slices.IndexFunc(of.Values, func(v calibrate.SliceValue) bool { return v.Value == s.Value })
			if at >= 0 {
				r.setTrueSuccess(s, successOf(of.Values[at].Success, t.Name), suffix)
			}
		}
	}
	return nil
}

// valuesOf gives the values of a key that a task has.
func (r *judgedRun) valuesOf(key string) func(labels.Key) []string {
	return func(k labels.Key) []string {
		var values []string
		for _, s := range slicing.Of([]string{key}, r.lines[k.TaskID]) {
			values = append(values, s[1])
		}
		return values
	}
}

// successOf is that of a target; nil where there is none.
func successOf(of []calibrate.Success, target string) *calibrate.Success {
	for i := range of {
		if of[i].Target == target {
			return &of[i]
		}
	}
	return nil
}

// setTrueSuccess puts the estimate behind the judged rate, which is told too where verdicts
// come from a labels file: nothing in the traces has told it then.
func (r *judgedRun) setTrueSuccess(s *panel.Slice, x *calibrate.Success, suffix string) {
	name := metricJudged + suffix
	is := func(m panel.Metric) bool { return m.Name == name }
	if x == nil {
		return
	}
	if r.heard {
		s.Metrics = slices.DeleteFunc(s.Metrics, func(m panel.Metric) bool { return is(m) || m.Name == metricJudged })
		s.Metrics = append(s.Metrics, panel.Metric{Name: name, Title: "judged pass" + suffix, Unit: panel.UnitRate, Of: "attempts", Interval: x.Raw, Excluded: x.Unread})
	}
	at := slices.IndexFunc(s.Metrics, is)
	if at < 0 {
		return
	}
	m := panel.Metric{Name: metricTrueSuccess + suffix, Title: "true success" + suffix, Unit: panel.UnitRate, Of: "attempts", Interval: x.True}
	switch {
	case x.Refused != "":
		m.Warnings = append(m.Warnings, x.Refused)
	case x.Design == calibrate.Internal:
		m.Warnings = append(m.Warnings, fmt.Sprintf("from %d labels on these very tasks", x.Labels))
	default:
		m.Warnings = append(m.Warnings, fmt.Sprintf("from %d labels made elsewhere", x.Labels))
	}
	if x.Advice != "" {
		m.Warnings = append(m.Warnings, strings.TrimSpace(x.Advice))
	}
	s.Metrics = slices.Insert(s.Metrics, at+1, m)
}
