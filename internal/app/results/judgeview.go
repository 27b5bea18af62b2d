// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package results

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/app"
	"github.com/callvet/callvet/internal/judge"
	"github.com/callvet/callvet/internal/labels"
	"github.com/callvet/callvet/internal/store"
	"github.com/callvet/callvet/stats"
)

// Judged has the verdicts of judges on a run or a trace file.
type Judged struct {
	Subject string `json:"subject"`
	// Judgings are in the order of the models.
	Judgings []JudgingView `json:"judgings"`
	// Agreement is the agreement between judgings of the same units, by their positions.
	Agreement []JudgeAgreement `json:"agreement,omitempty"`
	// Majorities are the majorities of judgings of the same units, one for each unit.
	Majorities []Majority `json:"majorities,omitempty"`
	// Live are judges that judge during the run.
	Live []LiveJudging `json:"live,omitempty"`
	// Lost are judgings that cannot be read.
	Lost  []LostJudging `json:"lost,omitempty"`
	About string        `json:"-"`
}

// LiveJudging is a judging of a run that is not over. Its answers are stored, but appear in no
// list, score or labels file before the run is over, because only then are all its questions known.
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

// liveOf returns the live judgings about a run; "" for those of all runs.
func liveOf(ctx context.Context, db *store.DB, about string) ([]LiveJudging, error) {
	list, _, err := ReadJudgings(ctx, db, about, func(j *Judging) bool { return j.Live })
	if err != nil {
		return nil, err
	}
	var out []LiveJudging
	for i := range list {
		v, err := list[i].Live(ctx, db)
		if err != nil {
			return nil, err
		}
		out = append(out, v)
	}
	return out, nil
}

// Live reports the progress of a live judging.
func (j *JudgingRun) Live(ctx context.Context, db *store.DB) (LiveJudging, error) {
	id := j.What.Identity
	p, err := db.Progress(ctx, j.Run.ID, 0)
	return LiveJudging{
		ID: j.Run.ID, Run: j.Run.Judges, Judge: id, JudgeID: id.ID(), Created: j.Run.Created,
		Status: j.Run.State(), Answers: p.Done, Spent: j.Run.Spent,
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
	// Mended counts answers that were not the required JSON.
	Mended int `json:"mended"`
	// Score is the mean score in [0,1], Interval the same with its interval: verdicts on one task
	// are alike. Agreement is how often samples of one question agree, in [0,1]. Each is nil if
	// there is none.
	Score     *float64        `json:"score"`
	Interval  *stats.Interval `json:"score_interval,omitempty"`
	Agreement *float64        `json:"sample_agreement,omitempty"`
	Spent     callvet.Spent   `json:"spent"`
	// Stopped is why the model was given up; nil: it was not.
	Stopped  []string       `json:"stopped,omitempty"`
	Verdicts []ThingVerdict `json:"verdicts,omitempty"`
	// People is set when labels were compared.
	People *PeopleComparison `json:"people,omitempty"`
	// compares: a verdict on a turn names the tool that should have been called.
	compares bool
	// Problem is why a judging cannot be read: then only its run is known.
	Problem string `json:"problem,omitempty"`
}

// Interrupted reports whether the judging ended early; the same request resumes it.
func (v *JudgingView) Interrupted() bool { return v.Status == store.StatusInterrupted }

// ThingVerdict is the verdict of a judge on one unit. An unscored one is neither a pass nor a fail.
type ThingVerdict struct {
	judge.Key
	judge.Combined
	// People is the label of people on the same unit; nil: none.
	People *bool `json:"people,omitempty"`
}

// PeopleComparison compares verdicts with people's labels.
type PeopleComparison struct {
	Labelled int `json:"labelled"`
	Same     int `json:"same"`
}

// ViewJudging reads the verdicts of a judging so far.
func ViewJudging(ctx context.Context, a *app.App, db *store.DB, j *JudgingRun) (*JudgingView, error) {
	out := &JudgingView{
		ID: j.Run.ID, About: j.What.About, Version: j.What.Version, Judge: j.What.Identity,
		JudgeID: j.What.Identity.ID(), Unit: j.What.Judge.Unit,
		Created: j.Run.Created, Status: j.Run.State(), Spent: j.Run.Spent, Skipped: j.What.Skipped,
		Words: map[string]int{}, Whys: map[string]int{}, compares: !j.What.Judge.Own,
	}
	m, err := ReadManifest(&j.Run)
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
func verdictsOf(ctx context.Context, db *store.DB, j *JudgingRun,
	out *JudgingView,
) (all []ThingVerdict, errs int, err error) {
	_, cases, err := db.OpenSuite(ctx, j.Run.SuiteHash)
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
		var q QuestionData
		if err := json.Unmarshal(c.Foreign, &q); err != nil {
			return fmt.Errorf("read judging %s: question %s: %w", j.Run.ID, c.ID, callvet.ErrInvalid)
		}
		if out != nil {
			out.Answered++
		}
		all = append(all, ThingVerdict{Key: q.Key, Combined: judge.Combine(answers)})
		return nil
	}
	for c, err := range db.Cells(ctx, j.Run.ID, store.Filter{Order: store.ByCase}) {
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
			v := KeptVerdict(&c.Result)
			if j.What.Judge.Unit == judge.Target { // a stored result has no field for a report
				v.Report = j.What.Judge.Read(c.Trace.Answer, judge.Did{}).Report
			}
			answers = append(answers, v)
		} else {
			failed = true
		}
	}
	if err := end(); err != nil {
		return nil, 0, err
	}
	if j.What.Judge.Unit == judge.Pair && j.What.Audit == nil {
		all = inBothOrders(all)
	}
	return all, errs, nil
}

// inBothOrders joins the two orders of each comparison. A comparison in only one order is left out,
// because it is not known whether the judge agrees with itself.
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

// count sums up the verdicts.
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
		iv := stats.NeffInterval(scores, tasks, JudgedLevel, stats.DefaultRho0)
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

// Lines returns the verdicts on tasks, turns and calls as lines of a labels file.
func (v *JudgingView) Lines() []labels.Label {
	var out []labels.Label
	for i := range v.Verdicts {
		t := &v.Verdicts[i]
		id := v.Judge
		key := labels.Key{Target: t.Target, TaskID: t.Task, Attempt: t.Attempt, Unit: labels.Task}
		add := func(key labels.Key, pass *bool, score *float64) {
			out = append(out, labels.Label{
				Key: key, Fingerprint: t.Output, Role: labels.Calibrating,
				Judged: []labels.Verdict{{Judge: id, Pass: pass, Score: score}},
			})
		}
		switch v.Unit {
		case judge.Task:
			add(key, t.Pass, t.Score)
		case judge.Rubric:
			id.Name += ":" + t.Part
			add(key, t.Pass, t.Score)
		case judge.Call:
			key.Unit, key.CallID = labels.Call, t.CallID
			add(key, t.Pass, t.Score)
		case judge.Turn: // and on each of its calls, because labels may be about calls
			turn := key
			turn.Unit, turn.Turn = labels.Turn, t.Turn
			add(turn, t.Pass, t.Score)
			for k, call := range t.CallIDs {
				key.Unit, key.CallID = labels.Call, call
				pass := t.Pass
				if pass != nil && v.compares { // with the tool that the judge would have called
					right := k < len(t.Tools) && t.Tools[k] == t.Word
					pass = &right
				}
				add(key, pass, nil)
			}
		case judge.Pair, judge.Target: // labels are not about these
		}
	}
	return out
}
