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
	// Identity is the identity of the judge with its model, as in labels and calibrations.
	Identity labels.Judge `json:"identity"`
	// About is the judged run or file, Version counts its judgings by this judge, from 1.
	About   string `json:"about"`
	Version int    `json:"version"`
	// Against is the baseline run or file; "": none.
	Against string `json:"against,omitempty"`
	// Under is Under of the request. Skipped counts attempts without a question, by the reason.
	Under   *float64       `json:"under,omitempty"`
	Skipped map[string]int `json:"skipped,omitempty"`
	// Audit is set when the attempts were changed, to see whether that changes the judge's
	// verdicts.
	Audit *AuditPlan `json:"audit,omitempty"`
	// Live: attempts are judged while others run; the judging has answers, but no list of questions
	// yet.
	Live bool `json:"live,omitempty"`
}

// JudgingRun is a stored judging.
type JudgingRun struct {
	Run  store.Run
	What *Judging
}

// HasVerdicts reports whether a judging has verdicts: it is not an audit, and its questions are
// known.
func HasVerdicts(j *Judging) bool { return j.Audit == nil && !j.Live }

// LostJudging is a judging that cannot be read. The others still count.
type LostJudging struct {
	ID      string `json:"id"`
	Problem string `json:"problem"`
}

// ReadJudgings returns the requested judgings, and those that cannot be read.
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

// ReadJudging reads the description of a judge's run.
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

// AuditPlan is the plan of a judging that is an audit. Its verdicts are about changed attempts, and
// count nowhere else.
type AuditPlan struct {
	Pairs int    `json:"pairs"`
	Seed  uint64 `json:"seed"`
	// Drawn is the number of attempts in the audit, out of From.
	Drawn int `json:"drawn"`
	From  int `json:"from"`
}

// A question is stored as a case of a suite, and the answer as the result of an attempt at it.

// QuestionData is the data in a question's case in addition to its text.
type QuestionData struct {
	Key judge.Key `json:"key"`
	Did judge.Did `json:"did"`
}

// Names of the scores that store a verdict.
const (
	KeptPass  = "pass"
	KeptScore = "score"
	KeptAsked = "as_asked" // 0: the answer was not the required JSON
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
