// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package results

import (
	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/judge"
)

// A question is stored as a case of a suite, and the answer as the result of an attempt at it.

// Asked is the data of a question's case other than its text.
type Asked struct {
	Key judge.Key `json:"key"`
	Did judge.Did `json:"did"`
}

// Names of the scores that store a verdict.
const (
	KeptPass  = "pass"
	KeptScore = "score"
	KeptAsked = "as_asked" // 0: the answer was not the JSON that was asked for
)

func kept(r *callvet.Result) judge.Verdict {
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
