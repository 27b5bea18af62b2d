// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package results

import (
	"fmt"
	"slices"
	"strings"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/app"
	"github.com/callvet/callvet/internal/labels"
	"github.com/callvet/callvet/panel"
	"github.com/callvet/callvet/panel/steps"
	"github.com/callvet/callvet/stats"
)

// metricTrueSuccess is the share that truly passed, metricJudged the uncorrected rate.
const (
	metricTrueSuccess = "true_success"
	metricJudged      = "judged_pass"
)

// AddLabelled sets true_success of panels by people's labels. It uses labels on the tasks of the
// trace file or run directly. If there are too few, it uses other labels through sensitivity and
// specificity, as in callvet calibrate --run. of has the tasks; from is the labels file, or the
// trace file itself for the labels in it.
func AddLabelled(a *app.App, p *panel.Panels, of Tasks, from string, calibrations []steps.Calibrated,
	events app.Events,
) error {
	if err := refuseOneTimeFiles(a, &of, "labels"); err != nil {
		return err
	}
	run, err := ReadJudgedTasks(a, of, events)
	if err != nil {
		return err
	}
	ls, opinions := run.Labels, []labels.Label(nil)
	if of.file == "" || !a.Config.Files.Same(from, of.file) {
		var more []labels.Label
		if more, opinions, err = ReadLabels(a, from, events); err != nil {
			return err
		}
		ls = append(labels.WithOpinions(more, opinions), ls...)
		run.AddOpinions(opinions)
	}
	if err := run.correctParts(p, &of,
		labels.CalibrationInput{Labels: ls, Opinions: opinions, Without: of.Without}); err != nil {
		return err
	}
	judges := run.judges()
	if len(judges) == 0 {
		return run.labelledAlone(p,
			labels.CalibrationInput{
				Labels: ls, Outputs: run.outputs(), RunID: run.ID, Opinions: opinions,
				Without: of.Without, Confidence: p.Confidence,
			}, from)
	}
	for _, name := range judges {
		if slices.ContainsFunc(calibrations, func(c steps.Calibrated) bool { return c.Judge == name }) {
			return &callvet.FieldError{
				Field: "labels",
				Text:  fmt.Sprintf("{labels} and {calibrations} both speak of judge %s: give one of them", name),
			}
		}
		suffix := ""
		if len(judges) > 1 {
			suffix = ":" + name
		}
		names := judgedNames{
			metricJudged + suffix, "judged pass" + suffix, metricTrueSuccess + suffix,
			"true success" + suffix, labels.Task,
		}
		if err := run.correct(p, labels.CalibrationInput{
			Judge: name, Labels: ls, Run: run.judgements(), Outputs: run.outputs(), RunID: run.ID, Opinions: opinions,
			Without: of.Without, Confidence: p.Confidence,
		}, names); err != nil {
			return err
		}
	}
	return nil
}

// labelledAlone sets true success without a judge of tasks, from labels that were drawn at random.
// Without labels of tasks it sets nothing.
func (r *JudgedRun) labelledAlone(p *panel.Panels, in labels.CalibrationInput, from string) error {
	if !slices.ContainsFunc(in.Labels, func(l labels.Label) bool { return l.Unit == labels.Task }) {
		if len(r.Parts.All) > 0 {
			return nil
		}
		bad := &callvet.FieldError{Field: "labels", Text: fmt.Sprintf("{labels} %s: it has no label of a task", from)}
		if r.unknown > 0 {
			bad.Fix = fmt.Sprintf(
				"%d verdicts of judges in the file have no fingerprint, so that it is not known which outputs they are of: callvet label stamp", r.unknown)
		}
		return bad
	}
	alone, byKey := labels.NewPeopleAlone(in), map[string]map[string][]labels.Success{}
	all := alone.Success()
	names := judgedNames{corrected: metricTrueSuccess, correctedTitle: "true success", unit: labels.Task}
	for i := range p.Targets {
		t := &p.Targets[i]
		addTrueSuccess(&t.Overall, successOf(all, t.Name), &names, p.Lost.Records())
		for j := range t.Slices {
			s := &t.Slices[j]
			if byKey[s.Key] == nil {
				byKey[s.Key] = alone.BySlice(r.valuesOf(s.Key))
			}
			addTrueSuccess(s, successOf(byKey[s.Key][s.Value], t.Name), &names, 0)
		}
	}
	return nil
}

// addTrueSuccess inserts true success after the pass rate, or first.
func addTrueSuccess(s *panel.Slice, x *labels.Success, names *judgedNames, records int64) {
	if x == nil {
		return
	}
	at := slices.IndexFunc(s.Metrics, func(m panel.Metric) bool { return m.Name == panel.MetricPass })
	s.Metrics = slices.Insert(s.Metrics, at+1, correctedMetric(s, x, names, 0, records))
}

// judges returns the names of judges with verdicts, in order.
func (r *JudgedRun) judges() []string {
	var out []string
	for _, it := range r.Items {
		for _, v := range it.Judged {
			if !slices.Contains(out, v.Name) {
				out = append(out, v.Name)
			}
		}
	}
	slices.Sort(out)
	return out
}

// judgedNames names the metrics of one judge: the share that it passes, and that share corrected.
type judgedNames struct {
	judged, judgedTitle, corrected, correctedTitle string
	unit                                           labels.Unit
}

// of returns the unit that the metrics count.
func (t *judgedNames) of() string {
	if t.unit.Part() {
		return string(t.unit) + "s"
	}
	return "attempts"
}

// correct sets the corrected rate of one judge in all tables that have its judged rate.
func (r *JudgedRun) correct(p *panel.Panels, in labels.CalibrationInput, names judgedNames) error {
	all, err := labels.Calibrate(in)
	if err != nil {
		return err
	}
	if names.unit.Part() && all.Counts.Labelled == 0 {
		names.corrected = "" // there are no labels of calls or turns
	}
	byKey := map[string]*labels.SliceReport{}
	for i := range p.Targets {
		t := &p.Targets[i]
		r.setTrueSuccess(&t.Overall, successOf(all.Success, t.Name), &names, p.Lost.Records())
		for j := range t.Slices {
			s := &t.Slices[j]
			if s.Metric(names.judged) == nil && !r.hasVerdicts && !names.unit.Part() {
				continue
			}
			of := byKey[s.Key]
			if of == nil {
				if of, err = labels.BySlice(in, all, s.Key, 0, r.valuesOf(s.Key)); err != nil {
					return err
				}
				byKey[s.Key] = of
			}
			at := slices.IndexFunc(of.Values, func(v labels.SliceValue) bool { return v.Value == s.Value })
			if at >= 0 {
				r.setTrueSuccess(s, successOf(of.Values[at].Success, t.Name), &names, 0)
			}
		}
	}
	return nil
}

// valuesOf returns the values of a key of a task or of a call, which also has those of its tool.
func (r *JudgedRun) valuesOf(key string) func(labels.Key) []string {
	by := []string{key}
	x, y, cross := strings.Cut(key, "*")
	cross = cross && x != "" && y != ""
	return func(k labels.Key) []string {
		l := r.lines[k.TaskID]
		l.Tool = r.Parts.tools[k]
		in := steps.SlicesOf(by, l)
		if cross {
			in = steps.CrossedSlices(by, in)[len(in):]
		}
		var values []string
		for _, s := range in {
			values = append(values, s[1])
		}
		return values
	}
}

// successOf returns the true success of a target; nil if there is none.
func successOf(of []labels.Success, target string) *labels.Success {
	for i := range of {
		if of[i].Target == target {
			return &of[i]
		}
	}
	return nil
}

// setTrueSuccess adds the estimate after the judged rate. It also sets that rate if verdicts are
// from a labels file or about calls or turns, because the panels do not have it then. records are
// the unreadable records.
func (r *JudgedRun) setTrueSuccess(s *panel.Slice, x *labels.Success, names *judgedNames, records int64) {
	if x == nil {
		return
	}
	if r.hasVerdicts || names.unit.Part() {
		gone := []string{names.judged, metricJudged}
		if names.unit.Part() {
			gone = []string{names.judged, names.corrected}
		}
		s.Metrics = slices.DeleteFunc(s.Metrics, func(m panel.Metric) bool { return slices.Contains(gone, m.Name) })
		s.Metrics = append(s.Metrics, judgedMetric(s, x, names, records))
	}
	at := slices.IndexFunc(s.Metrics, func(m panel.Metric) bool { return m.Name == names.judged })
	if at < 0 || names.corrected == "" {
		return
	}
	silent := 0
	if !names.unit.Part() {
		silent = s.Metrics[at].Excluded
	}
	s.Metrics = slices.Insert(s.Metrics, at+1, correctedMetric(s, x, names, silent, records))
}

// correctedMetric is the share that truly passed, with the range that lost attempts and attempts
// without a verdict leave.
func correctedMetric(s *panel.Slice, x *labels.Success, names *judgedNames, silent int, records int64) panel.Metric {
	m := panel.Metric{
		Name: names.corrected, Title: names.correctedTitle, Unit: panel.UnitRate, Of: panel.OfLabels,
		Interval: x.True, Excluded: silent,
	}
	m.Labelled = &panel.Labelled{Of: names.of(), N: x.Judged, Tasks: x.Tasks, Elsewhere: x.Design == labels.Transport}
	switch {
	case x.Refused != "":
		m.Warnings = append(m.Warnings, x.Refused)
	case x.Design == labels.Internal:
		m.Warnings = append(m.Warnings, fmt.Sprintf("from %d labels on these very %ss", x.Labels, names.unit))
	default:
		m.Warnings = append(m.Warnings, fmt.Sprintf("from %d labels made elsewhere", x.Labels))
	}
	if x.Advice != "" {
		m.Warnings = append(m.Warnings, strings.TrimSpace(x.Advice))
	}
	if n, of := s.Lost(names.corrected, records); n+silent > 0 && m.Interval.Usable() {
		n += silent
		share := float64(of-n) / float64(of)
		m.Lost = &panel.LostRange{
			N: n, Of: of, Low: moved(m.Interval, share, 0),
			High: moved(m.Interval, share, 1-share),
		}
	}
	return m
}

// moved scales an interval to a share of the attempts and adds by for the others.
func moved(iv stats.Interval, share, by float64) stats.Interval {
	iv.Point, iv.Lower, iv.Upper = share*iv.Point+by, share*iv.Lower+by, share*iv.Upper+by
	return iv
}

// judgedMetric is the share that a judge passes, with the range that missing verdicts leave.
func judgedMetric(s *panel.Slice, x *labels.Success, names *judgedNames, records int64) panel.Metric {
	m := panel.Metric{
		Name: names.judged, Title: names.judgedTitle, Unit: panel.UnitRate, Of: names.of(),
		Interval: x.Raw, Excluded: x.Unread,
	}
	m.Agree(x.Judged)
	m.Warnings = panel.RateWarnings(&m, 0)
	if x.Unread > 0 {
		m.Warnings = append(m.Warnings,
			fmt.Sprintf("%d of %d got no verdict that can be read", x.Unread, x.Judged+x.Unread))
	}
	lost, planned := s.Lost(names.judged, records)
	if low, high, n := x.Range(lost, planned-lost); n > 0 {
		m.Lost = &panel.LostRange{N: n, Of: x.Judged + n, Low: low, High: high}
	}
	return m
}
