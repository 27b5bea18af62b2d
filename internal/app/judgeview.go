// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/judge"
	"github.com/callvet/callvet/internal/labels"
	"github.com/callvet/callvet/internal/report"
	"github.com/callvet/callvet/internal/report/plain"
	"github.com/callvet/callvet/internal/run"
	"github.com/callvet/callvet/internal/store"
	"github.com/callvet/callvet/stats"
)

// Judged is what judges said of a run or a trace file.
type Judged struct {
	Subject string `json:"subject"`
	// Judgings are in the order of the models.
	Judgings []JudgingView `json:"judgings"`
	// Agreement is there between judgings of the same things, by their positions.
	Agreement []JudgeAgreement `json:"agreement,omitempty"`
	// Majorities are of judgings of the same things, one of each unit.
	Majorities []Majority `json:"majorities,omitempty"`
	// Live are judges that are asked while the run goes on.
	Live []LiveJudging `json:"live,omitempty"`
	// Lost are judgings that cannot be read.
	Lost  []LostJudging `json:"lost,omitempty"`
	about string
}

// LiveJudging is a judging of a run that is not over. What was answered is kept, and is in no
// list, score or labels file before the run is over: only then is it known what is asked.
type LiveJudging struct {
	ID      string        `json:"id"`
	Run     string        `json:"run"`
	Judge   labels.Judge  `json:"judge"`
	JudgeID string        `json:"judge_id"`
	Created time.Time     `json:"created"`
	Status  store.Status  `json:"status"`
	Answers int           `json:"answers"`
	Spent   callvet.Spent `json:"spent"`
}

// liveOf are the live judgings about a run; "" for those of all runs.
func liveOf(ctx context.Context, db *store.DB, about string) ([]LiveJudging, error) {
	list, _, err := judgingsThat(ctx, db, about, func(j *Judging) bool { return j.Live })
	if err != nil {
		return nil, err
	}
	var out []LiveJudging
	for i := range list {
		v, err := list[i].live(ctx, db)
		if err != nil {
			return nil, err
		}
		out = append(out, v)
	}
	return out, nil
}

func (j *judgingRun) live(ctx context.Context, db *store.DB) (LiveJudging, error) {
	id := j.what.Identity
	p, err := db.Progress(ctx, j.run.ID, 0)
	return LiveJudging{
		ID: j.run.ID, Run: j.run.Judges, Judge: id, JudgeID: id.ID(), Created: j.run.Created,
		Status: j.run.State(), Answers: p.Done, Spent: j.run.Spent,
	}, err
}

// JudgingView is one judging in numbers, with its verdicts.
type JudgingView struct {
	ID      string       `json:"id"`
	About   string       `json:"about"`
	Version int          `json:"version"`
	Judge   labels.Judge `json:"judge"`
	JudgeID string       `json:"judge_id"`
	Unit    judge.Unit   `json:"unit"`
	Created time.Time    `json:"created"`
	Status  store.Status `json:"status"`
	Samples int          `json:"samples"`
	// Questions were to be asked, Answered of them have as many answers as samples, Errors
	// ended in an error of the provider.
	Questions int            `json:"questions"`
	Answered  int            `json:"answered"`
	Errors    int            `json:"errors"`
	Skipped   map[string]int `json:"skipped,omitempty"`
	// Pass, Fail and Unscored count Verdicts; those that are neither a pass nor a fail count
	// in Words. Whys counts the unscored by the reason.
	Pass     int            `json:"pass"`
	Fail     int            `json:"fail"`
	Unscored int            `json:"unscored"`
	Words    map[string]int `json:"words,omitempty"`
	// Wins are of a judge that compares, by pair of targets.
	Wins []Wins         `json:"wins,omitempty"`
	Whys map[string]int `json:"whys,omitempty"`
	// Mended answers were not the JSON that was asked for.
	Mended int `json:"mended"`
	// Score is the mean score in [0,1], Interval the same with its interval: verdicts on one task
	// are alike. Agreement is how often samples of one question agree, in [0,1]. Each is nil where
	// there is none.
	Score     *float64        `json:"score"`
	Interval  *stats.Interval `json:"score_interval,omitempty"`
	Agreement *float64        `json:"sample_agreement,omitempty"`
	Spent     callvet.Spent   `json:"spent"`
	// Stopped says why the model was given up; nil: it was not.
	Stopped  []string       `json:"stopped,omitempty"`
	Verdicts []ThingVerdict `json:"verdicts,omitempty"`
	// People is there when labels were compared.
	People *PeopleBeside `json:"people,omitempty"`
	// compares: a verdict on a turn names the tool that should have been called.
	compares bool
	// Problem says why a judging cannot be read: then nothing else is known of it but its run.
	Problem string `json:"problem,omitempty"`
}

// Interrupted reports whether the judging ended early; the same request resumes it.
func (v *JudgingView) Interrupted() bool { return v.Status == store.StatusInterrupted }

// MeanScore writes the mean score, with its interval where it has one; "" where there is no score.
func (v *JudgingView) MeanScore() string {
	switch {
	case v.Interval != nil:
		return plain.Rate(*v.Interval)
	case v.Score != nil:
		return plain.Percent(*v.Score)
	}
	return ""
}

// Reports are the reports of a judge of targets, one for each target; nil for other judges.
func (v *JudgingView) Reports() []report.JudgeReport {
	var s opinionIndex
	s.report(v.JudgeID, v.Verdicts)
	return s.reports
}

// ThingVerdict is what a judge says of one thing. An unscored one is neither a pass nor a fail.
type ThingVerdict struct {
	judge.Key
	judge.Combined
	// People is what people say of the same; nil: nothing.
	People *bool `json:"people,omitempty"`
}

// PeopleBeside compares verdicts with people's labels.
type PeopleBeside struct {
	Labelled int `json:"labelled"`
	Same     int `json:"same"`
}

// viewJudging reads what a judging has so far.
func (a *App) viewJudging(ctx context.Context, db *store.DB, j *judgingRun) (*JudgingView, error) {
	out := &JudgingView{
		ID: j.run.ID, About: j.what.About, Version: j.what.Version, Judge: j.what.Identity,
		JudgeID: j.what.Identity.ID(), Unit: j.what.Judge.Unit,
		Created: j.run.Created, Status: j.run.State(), Spent: j.run.Spent, Skipped: j.what.Skipped,
		Words: map[string]int{}, Whys: map[string]int{}, compares: !j.what.Judge.Own,
	}
	m, err := readManifest(&j.run)
	if err != nil {
		return nil, err
	}
	out.Samples = m.Repeats
	vs, errs, err := verdictsOf(ctx, db, j, out)
	if err != nil {
		return nil, err
	}
	out.Verdicts, out.Errors = vs, errs
	out.count()
	return out, nil
}

// verdictsOf reads the verdicts of a judging, and how many questions ended in an error. It adds the
// number of questions to out, if given.
func verdictsOf(ctx context.Context, db *store.DB, j *judgingRun,
	out *JudgingView,
) (all []ThingVerdict, errs int, err error) {
	_, cases, err := db.OpenSuite(ctx, j.run.SuiteHash)
	if err != nil {
		return nil, 0, err
	}
	if out != nil {
		out.Questions = cases.Len()
	}
	at, answers, failed := -1, []judge.Verdict(nil), false
	end := func() error {
		if at < 0 {
			return nil
		}
		if failed {
			errs++
		}
		if len(answers) == 0 {
			return nil
		}
		c, err := cases.Case(at)
		if err != nil {
			return err
		}
		var q asked
		if err := json.Unmarshal(c.Foreign, &q); err != nil {
			return fmt.Errorf("read judging %s: question %s: %w", j.run.ID, c.ID, callvet.ErrInvalid)
		}
		if out != nil {
			out.Answered++
		}
		all = append(all, ThingVerdict{Key: q.Key, Combined: judge.Combine(answers)})
		return nil
	}
	for c, err := range db.Cells(ctx, j.run.ID, store.Filter{Order: store.ByCase}) {
		if err != nil {
			return nil, 0, err
		}
		if c.Case != at {
			if err := end(); err != nil {
				return nil, 0, err
			}
			at, answers, failed = c.Case, nil, false
		}
		if v := c.Result.Verdict; v == callvet.VerdictPass || v == callvet.VerdictFail {
			v := kept(&c.Result)
			if j.what.Judge.Unit == judge.Target { // a result has no place for a report
				v.Report = j.what.Judge.Read(c.Trace.Answer, judge.Did{}).Report
			}
			answers = append(answers, v)
		} else {
			failed = true
		}
	}
	if err := end(); err != nil {
		return nil, 0, err
	}
	if j.what.Judge.Unit == judge.Pair && j.what.Audit == nil {
		all = inBothOrders(all)
	}
	return all, errs, nil
}

// inBothOrders puts the two orders of comparisons together. One that has only one of them is
// left out: it is not known whether the judge agrees with itself.
func inBothOrders(all []ThingVerdict) []ThingVerdict {
	var out []ThingVerdict
	for i := 0; i+1 < len(all); i++ {
		a, b := &all[i], &all[i+1]
		if a.Swapped || !b.Swapped || a.Task != b.Task || a.Attempt != b.Attempt || a.Against != b.Against ||
			a.Target != b.Target {
			continue
		}
		out = append(out, ThingVerdict{Key: a.Key, Combined: judge.BothOrders(a.Combined, b.Combined)})
		i++
	}
	return out
}

// count sums the verdicts up.
func (v *JudgingView) count() {
	var agreed float64
	var scores []float64
	var tasks []int // of each score
	numbers, asked := map[string]int{}, 0
	for i := range v.Verdicts {
		t := &v.Verdicts[i]
		if t.Mended {
			v.Mended++
		}
		if t.Samples > 1 && t.Read > 0 {
			agreed, asked = agreed+t.Combined.Agreement, asked+1
		}
		switch {
		case !t.Scored():
			v.Unscored++
			v.Whys[t.Unscored]++
			continue
		case t.Pass != nil && *t.Pass:
			v.Pass++
		case t.Pass != nil:
			v.Fail++
		default:
			v.Words[t.Word]++
		}
		if t.Score != nil {
			if _, known := numbers[t.Task]; !known {
				numbers[t.Task] = len(numbers)
			}
			scores, tasks = append(scores, *t.Score), append(tasks, numbers[t.Task])
		}
	}
	if len(scores) > 0 {
		iv := stats.NeffInterval(scores, tasks, judgedLevel, stats.DefaultRho0)
		v.Score = &iv.Point
		if v.Unit != judge.Target { // a report is of a target, not of tasks that are a sample
			v.Interval = &iv
		}
	}
	if asked > 0 {
		agreed /= float64(asked)
		v.Agreement = &agreed
	}
	v.wins()
}

// lines are the verdicts as lines of a labels file: on tasks, turns and calls, as labels are.
func (v *JudgingView) lines() []labels.Label {
	var out []labels.Label
	for i := range v.Verdicts {
		t := &v.Verdicts[i]
		id := v.Judge
		key := labels.Key{Target: t.Target, TaskID: t.Task, Attempt: t.Attempt, Unit: labels.Task}
		said := func(key labels.Key, pass *bool, score *float64) {
			out = append(out, labels.Label{
				Key: key, Fingerprint: t.Output, Role: labels.Calibrating,
				Judged: []labels.Verdict{{Judge: id, Pass: pass, Score: score}},
			})
		}
		switch v.Unit {
		case judge.Task:
			said(key, t.Pass, t.Score)
		case judge.Rubric:
			id.Name += ":" + t.Part
			said(key, t.Pass, t.Score)
		case judge.Call:
			key.Unit, key.CallID = labels.Call, t.CallID
			said(key, t.Pass, t.Score)
		case judge.Turn: // and of each of its calls, since a label may be of these
			turn := key
			turn.Unit, turn.Turn = labels.Turn, t.Turn
			said(turn, t.Pass, t.Score)
			for k, call := range t.CallIDs {
				key.Unit, key.CallID = labels.Call, call
				pass := t.Pass
				if pass != nil && v.compares { // with the tool that the judge would have called
					right := k < len(t.Tools) && t.Tools[k] == t.Word
					pass = &right
				}
				said(key, pass, nil)
			}
		case judge.Pair, judge.Target: // no label is of these
		}
	}
	return out
}

// Lines are all verdicts as lines of a labels file.
func (d *Judged) Lines() []labels.Label {
	var all []labels.Label
	for i := range d.Judgings {
		all = append(all, d.Judgings[i].lines()...)
	}
	for i := range d.Majorities {
		all = append(all, d.Majorities[i].lines()...)
	}
	for i := range all {
		all[i].Run = d.about
	}
	return all
}

// JudgeListRequest asks which judgings are stored.
type JudgeListRequest struct {
	// Run or Traces limits the list to what is about it; both empty: all.
	Side
}

// JudgeList lists the judgings that are stored, the oldest first, without their verdicts. One that
// cannot be read has only its id, its state and the Problem.
func (a *App) JudgeList(ctx context.Context, req JudgeListRequest) ([]JudgingView, error) {
	about, err := a.aboutOf(ctx, req.Side)
	if err != nil {
		return nil, err
	}
	db, err := a.cfg.Store(ctx)
	if err != nil {
		return nil, err
	}
	list, lost, err := judgingsThat(ctx, db, about, answered)
	if err != nil {
		return nil, err
	}
	out := []JudgingView{}
	for _, l := range lost {
		r, err := db.Run(ctx, l.ID)
		if err != nil {
			return nil, err
		}
		out = append(out,
			JudgingView{ID: l.ID, Created: r.Created, Status: r.State(), Spent: r.Spent, Problem: l.Problem})
	}
	for i := range list {
		j := &list[i]
		v := JudgingView{
			ID: j.run.ID, About: j.what.About, Version: j.what.Version, Judge: j.what.Identity,
			JudgeID: j.what.Identity.ID(), Unit: j.what.Judge.Unit,
			Created: j.run.Created, Status: j.run.State(), Spent: j.run.Spent, Skipped: j.what.Skipped,
		}
		var t run.Summary
		if len(j.run.Totals) > 0 && json.Unmarshal(j.run.Totals, &t) == nil {
			v.Questions, v.Answered, v.Errors = t.Total, t.Done, t.Error
		}
		out = append(out, v)
	}
	return out, nil
}

func (a *App) aboutOf(ctx context.Context, s Side) (string, error) {
	switch {
	case s.Run != "" && s.Traces != "":
		return "", s.one("subject")
	case s.Traces != "":
		return a.hashOf(s.Traces)
	case s.Run == "":
		return "", nil
	}
	db, err := a.cfg.Store(ctx)
	if err != nil {
		return "", err
	}
	r, err := stored(ctx, db, s.Run)
	return r.ID, err
}

// JudgeShowRequest asks what judges said.
type JudgeShowRequest struct {
	// Judging is the id of one; else all judgings about the run or the traces are shown.
	Judging string `json:"judging,omitempty"`
	Side
	// Labels is a file of people's labels to show with the verdicts; "": none.
	Labels string `json:"labels,omitempty"`
	// Output is a labels file that the verdicts are added to; "": none.
	Output string `json:"output,omitempty"`
}

// JudgeShow shows the verdicts of judges. It asks no model.
func (a *App) JudgeShow(ctx context.Context, req JudgeShowRequest, events Events) (*Judged, error) {
	db, err := a.cfg.Store(ctx)
	if err != nil {
		return nil, err
	}
	list, lost, err := a.asked(ctx, db, &req)
	if err != nil {
		return nil, err
	}
	out := &Judged{Subject: req.Side.name(), Judgings: []JudgingView{}, Lost: lost}
	if len(list) > 0 {
		out.Subject, out.about = list[0].what.About, list[0].run.Judges
	}
	for i := range list {
		if list[i].what.Live {
			v, err := list[i].live(ctx, db)
			if err != nil {
				return nil, err
			}
			out.Live = append(out.Live, v)
			continue
		}
		v, err := a.viewJudging(ctx, db, &list[i])
		if err != nil {
			return nil, err
		}
		out.Judgings = append(out.Judgings, *v)
	}
	out.together()
	if req.Labels != "" {
		ls, _, err := a.readLabels(req.Labels, events)
		if err != nil {
			return nil, err
		}
		for i := range out.Judgings {
			out.Judgings[i].addPeople(ls)
		}
		for i := range out.Majorities {
			out.Majorities[i].addPeople(ls)
		}
	}
	if req.Output != "" {
		err = a.addLabels(req.Output, out, events)
	}
	return out, err
}

// asked are the judgings that a request is about, one at least.
func (a *App) asked(ctx context.Context, db *store.DB,
	req *JudgeShowRequest,
) (list []judgingRun, lost []LostJudging, err error) {
	if req.Judging != "" {
		r, err := stored(ctx, db, req.Judging)
		if err != nil {
			return nil, nil, err
		}
		if r.Judges != "" {
			what, err := readJudging(&r)
			if err != nil {
				return nil, nil, err
			}
			if what.Audit != nil {
				return nil, nil, wrong("judging", req.Judging,
					"it is an audit, whose attempts were changed: its verdicts are no judging of them")
			}
			return []judgingRun{{r, what}}, nil, nil
		}
		req.Side = Side{Run: r.ID}
	}
	about, err := a.aboutOf(ctx, req.Side)
	if err != nil {
		return nil, nil, err
	}
	list, lost, err = judgingsThat(ctx, db, about, func(j *Judging) bool { return j.Audit == nil })
	if err == nil && len(list)+len(lost) == 0 {
		err = fmt.Errorf("show what judges said of %s: %w: no judge was asked", req.Side.name(), callvet.ErrNotFound)
	}
	return list, lost, err
}

// addLabels adds all verdicts to a labels file.
func (a *App) addLabels(name string, d *Judged, events Events) (err error) {
	to, err := a.OpenLabels(name, events)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, to.Close()) }()
	return to.Append(d.Lines()...)
}

// addPeople adds people's labels on the same outputs to the verdicts.
func (v *JudgingView) addPeople(ls []labels.Label) {
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
	v.People = &PeopleBeside{}
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
			continue // of an earlier release: its output is unknown
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
