// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package runs

import (
	"context"
	"encoding/json"
	"fmt"
	"math"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/app"
	"github.com/callvet/callvet/internal/app/results"
	"github.com/callvet/callvet/internal/judge"
	"github.com/callvet/callvet/internal/labels"
	"github.com/callvet/callvet/internal/report"
	"github.com/callvet/callvet/internal/report/plain"
	"github.com/callvet/callvet/internal/run"
	"github.com/callvet/callvet/internal/store"
	"github.com/callvet/callvet/stats"
)

// MeanScore writes the mean score, with its interval if it has one; "" without a score.
func MeanScore(v *results.JudgingView) string {
	switch {
	case v.Interval != nil:
		return plain.Rate(*v.Interval)
	case v.Score != nil:
		return plain.Percent(*v.Score)
	}
	return ""
}

// Reports returns the reports of a judge of targets, one for each target; nil for other judges.
func Reports(v *results.JudgingView) []report.JudgeReport {
	var s results.OpinionIndex
	s.Report(v.JudgeID, v.Verdicts)
	return s.Reports
}

// JudgeListRequest asks which judgings are stored.
type JudgeListRequest struct {
	// Run or Traces limits the list to judgings of it; both empty: all.
	app.Side
}

// List lists the stored judgings, the oldest first, without their verdicts. A judging that cannot
// be read has only its id, its state and the Problem.
func List(ctx context.Context, a *app.App, req JudgeListRequest) ([]results.JudgingView, error) {
	about, err := aboutOf(ctx, a, req.Side)
	if err != nil {
		return nil, err
	}
	db, err := a.Config.Store(ctx)
	if err != nil {
		return nil, err
	}
	list, lost, err := results.ReadJudgings(ctx, db, about, results.HasVerdicts)
	if err != nil {
		return nil, err
	}
	out := []results.JudgingView{}
	for _, l := range lost {
		r, err := db.Run(ctx, l.ID)
		if err != nil {
			return nil, err
		}
		out = append(out,
			results.JudgingView{ID: l.ID, Created: r.Created, Status: r.State(), Spent: r.Spent, Problem: l.Problem})
	}
	for i := range list {
		j := &list[i]
		v := results.JudgingView{
			ID: j.Run.ID, About: j.What.About, Version: j.What.Version, Judge: j.What.Identity,
			JudgeID: j.What.Identity.ID(), Unit: j.What.Judge.Unit,
			Created: j.Run.Created, Status: j.Run.State(), Spent: j.Run.Spent, Skipped: j.What.Skipped,
		}
		var t run.Summary
		if len(j.Run.Totals) > 0 && json.Unmarshal(j.Run.Totals, &t) == nil {
			v.Questions, v.Answered, v.Errors = t.Total, t.Done, t.Error
		}
		out = append(out, v)
	}
	return out, nil
}

func aboutOf(ctx context.Context, a *app.App, s app.Side) (string, error) {
	switch {
	case s.Run != "" && s.Traces != "":
		return "", s.CheckOne("subject")
	case s.Traces != "":
		return results.HashOfTraces(a, s.Traces)
	case s.Run == "":
		return "", nil
	}
	db, err := a.Config.Store(ctx)
	if err != nil {
		return "", err
	}
	r, err := results.Stored(ctx, db, s.Run)
	return r.ID, err
}

// JudgeShowRequest requests the verdicts of judges.
type JudgeShowRequest struct {
	// Judging is the id of a judging; "": all judgings of the run or the traces.
	Judging string `json:"judging,omitempty"`
	app.Side
	// Labels is a file of people's labels to show with the verdicts; "": none.
	Labels string `json:"labels,omitempty"`
	// Output is a labels file to which the verdicts are added; "": none.
	Output string `json:"output,omitempty"`
}

// Show returns the verdicts of judges. It sends no request.
func Show(ctx context.Context, a *app.App, req JudgeShowRequest, events app.Events) (*results.Judged, error) {
	db, err := a.Config.Store(ctx)
	if err != nil {
		return nil, err
	}
	list, lost, err := judgingsAsked(ctx, a, db, &req)
	if err != nil {
		return nil, err
	}
	out := &results.Judged{Subject: req.Side.Name(), Judgings: []results.JudgingView{}, Lost: lost}
	if len(list) > 0 {
		out.Subject, out.About = list[0].What.About, list[0].Run.Judges
	}
	for i := range list {
		if list[i].What.Live {
			v, err := list[i].Live(ctx, db)
			if err != nil {
				return nil, err
			}
			out.Live = append(out.Live, v)
			continue
		}
		v, err := results.ViewJudging(ctx, a, db, &list[i])
		if err != nil {
			return nil, err
		}
		out.Judgings = append(out.Judgings, *v)
	}
	CompareJudgings(out)
	if req.Labels != "" {
		ls, _, err := results.ReadLabels(a, req.Labels, events)
		if err != nil {
			return nil, err
		}
		for i := range out.Judgings {
			addPeople(&out.Judgings[i], ls)
		}
		for i := range out.Majorities {
			addPeople(&out.Majorities[i].JudgingView, ls)
		}
	}
	if req.Output != "" {
		err = AddLabels(a, req.Output, out, events)
	}
	return out, err
}

// judgingsAsked returns the judgings of a request, at least one.
func judgingsAsked(ctx context.Context, a *app.App, db *store.DB,
	req *JudgeShowRequest,
) (list []results.JudgingRun, lost []results.LostJudging, err error) {
	if req.Judging != "" {
		r, err := results.Stored(ctx, db, req.Judging)
		if err != nil {
			return nil, nil, err
		}
		if r.Judges != "" {
			what, err := results.ReadJudging(&r)
			if err != nil {
				return nil, nil, err
			}
			if what.Audit != nil {
				return nil, nil, app.Wrong("judging", req.Judging,
					"it is an audit of changed attempts: its verdicts are no judging of the run")
			}
			return []results.JudgingRun{{Run: r, What: what}}, nil, nil
		}
		req.Side = app.Side{Run: r.ID}
	}
	about, err := aboutOf(ctx, a, req.Side)
	if err != nil {
		return nil, nil, err
	}
	list, lost, err = results.ReadJudgings(ctx, db, about, func(j *results.Judging) bool { return j.Audit == nil })
	if err == nil && len(list)+len(lost) == 0 {
		err = fmt.Errorf("show what judges said of %s: %w: no judge was asked", req.Side.Name(), callvet.ErrNotFound)
	}
	return list, lost, err
}

// addPeople adds people's labels on the same outputs to the verdicts.
func addPeople(v *results.JudgingView, ls []labels.Label) {
	ls, _ = labels.Latest(ls)
	votes := map[labels.Thing]int{}
	for _, l := range ls {
		if l.Pass == nil {
			continue
		}
		if *l.Pass {
			votes[l.Thing()]++
		} else {
			votes[l.Thing()]--
		}
	}
	v.People = &results.PeopleComparison{}
	for i := range v.Verdicts {
		t := &v.Verdicts[i]
		key := labels.Key{Target: t.Target, TaskID: t.Task, Attempt: t.Attempt, Unit: labels.Task}
		switch v.Unit {
		case judge.Task:
		case judge.Call:
			key.Unit, key.CallID = labels.Call, t.CallID
		case judge.Turn:
			key.Unit, key.Turn = labels.Turn, t.Turn
		default:
			continue
		}
		if t.Output == "" {
			continue // from an earlier release: its output is unknown
		}
		n := votes[labels.ThingOf(key, t.Output)]
		if n == 0 {
			continue
		}
		pass := n > 0
		t.People = &pass
		v.People.Labelled++
		if t.Pass != nil && *t.Pass == pass {
			v.People.Same++
		}
	}
}

// Coefficients are kappa and AC1 in words.
func Coefficients(g *results.JudgeAgreement) string {
	say := func(name string, iv stats.Interval) string {
		switch {
		case math.IsNaN(iv.Point): // all verdicts are equal
			return name + " is not defined"
		case iv.SE > 0:
			return fmt.Sprintf("%s %.2f (%.2f to %.2f)", name, iv.Point, iv.Lower, iv.Upper)
		}
		return fmt.Sprintf("%s %.2f without an interval", name, iv.Point)
	}
	return say("kappa", g.Kappa) + ", " + say("AC1", g.AC1)
}
