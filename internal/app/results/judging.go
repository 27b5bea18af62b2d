// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package results

import (
	"context"
	"errors"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/judge"
	"github.com/callvet/callvet/internal/labels"
	"github.com/callvet/callvet/internal/store"
)

// Judging is the stored description of a judge's run.
type Judging struct {
	Judge judge.Judge `json:"judge"`
	// Identity is that of the judge with its model, as labels and calibrations have it.
	Identity labels.Judge `json:"identity"`
	// About is the run or the file that was judged, Version counts judgings of it by this
	// very judge, from 1.
	About   string `json:"about"`
	Version int    `json:"version"`
	// Against is the run or the file with the attempts that it was compared with; "": none.
	Against string `json:"against,omitempty"`
	// Under is that of the request. Skipped counts attempts that were not asked about, by
	// the reason.
	Under   *float64       `json:"under,omitempty"`
	Skipped map[string]int `json:"skipped,omitempty"`
	// Audit is there when the attempts were changed to see whether that moves the judge.
	Audit *AuditPlan `json:"audit,omitempty"`
	// Live: attempts are judged while others run; the judging has answers, and no questions yet.
	Live bool `json:"live,omitempty"`
}

// JudgingRun is a stored judging.
type JudgingRun struct {
	Run  store.Run
	What *Judging
}

// HasVerdicts reports whether a judging has verdicts: it is no audit, and has its questions.
func HasVerdicts(j *Judging) bool { return j.Audit == nil && !j.Live }

// LostJudging is a judging that cannot be read. The others count all the same.
type LostJudging struct {
	ID      string `json:"id"`
	Problem string `json:"problem"`
}

// ReadJudgings returns the judgings that are wanted, and those that cannot be read.
func ReadJudgings(ctx context.Context, db *store.DB, about string,
	wanted func(*Judging) bool,
) (out []JudgingRun, lost []LostJudging, err error) {
	list, err := db.Judgings(ctx, about)
	if err != nil {
		return nil, nil, err
	}
	for i := range list {
		what, err := ReadJudging(&list[i])
		switch {
		case err != nil:
			lost = append(lost, LostJudging{list[i].ID, err.Error()})
		case wanted(what):
			out = append(out, JudgingRun{list[i], what})
		}
	}
	return out, lost, nil
}

// ReadJudging reads what a run of a judge does.
func ReadJudging(r *store.Run) (*Judging, error) {
	m, err := ReadManifest(r)
	if err == nil && m.Judging == nil {
		err = &damagedError{r.ID, "manifest", errors.New("it names no judge")}
	}
	if err != nil {
		return nil, err
	}
	return m.Judging, nil
}

// AuditPlan is what a judging that is an audit keeps of it. Its verdicts are of attempts that
// were changed, and count nowhere else.
type AuditPlan struct {
	Pairs int    `json:"pairs"`
	Seed  uint64 `json:"seed"`
	// Drawn are the attempts that it asks about, of From.
	Drawn int `json:"drawn"`
	From  int `json:"from"`
}

// A question is stored as a case of a suite, and the answer as the result of an attempt at it.

// QuestionData is the data of a question's case other than its text.
type QuestionData struct {
	Key judge.Key `json:"key"`
	Did judge.Did `json:"did"`
}

// Names of the scores that store a verdict.
const (
	KeptPass  = "pass"
	KeptScore = "score"
	KeptAsked = "as_asked" // 0: the answer was not the JSON that was asked for
)

// KeptVerdict is the verdict in the result of a question to a judge.
func KeptVerdict(r *callvet.Result) judge.Verdict {
	asked := r.Score(KeptAsked)
	v := judge.Verdict{Word: r.Plan, Reason: r.Reason, Mended: asked.Scored && asked.Value == 0}
	p := r.Score(KeptPass)
	if r.Class == callvet.ClassUnparseable {
		v.Unscored = p.Reason
		return v
	}
	if p.Scored {
		pass := p.Value == 1
		v.Pass = &pass
	}
	if s := r.Score(KeptScore); s.Scored {
		v.Score = &s.Value
	}
	return v
}
