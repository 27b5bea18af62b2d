// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package selector

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/provider/retriever"
	"github.com/callvet/callvet/panel/routing"
	"github.com/callvet/callvet/retrieve"
)

// Diagnosis is an explanation as reports tell it.
func Diagnosis(e retrieve.Explanation) routing.Diagnosis {
	standing := func(s *retrieve.Standing) callvet.Ranked {
		return callvet.Ranked{Tool: s.ID, Score: s.Score, Parts: s.Parts.Terms()}
	}
	d := routing.Diagnosis{Tool: standing(&e.Tool), Rank: e.Tool.Rank, Reasons: e.Reasons()}
	if e.Winner != nil {
		d.Winner = standing(e.Winner)
	}
	return d
}

// explained is how many failed cases are explained in catalogs of up to explainAll
// tools, and in larger ones, where each explanation ranks all of them.
const (
	explainAll       = 10_000
	explained        = routing.MaxFailed
	explainedOfLarge = 25
)

// Explain fills in why expected tools of failed cases were not first, by the target's
// position in the run; targets without an index are left as they are, and so are
// cases beyond the first of large catalogs. Of a stored run each question is asked
// again: an index that decides otherwise now is not the one that the run used, and
// gives no reasons.
func Explain(ctx context.Context, s *routing.Section, index map[int]*retriever.Retriever, stored bool) {
	for i := range s.Targets {
		t := &s.Targets[i]
		r := index[t.Target]
		if r == nil {
			continue
		}
		most := explained
		if r.Len() > explainAll {
			most = explainedOfLarge
		}
		failed := t.Failed[:min(len(t.Failed), most)]
		if stored && slices.ContainsFunc(failed, func(f routing.Failure) bool { return !decidesSo(ctx, r, &f) }) {
			t.Unexplained = "asked again, the retriever decides otherwise than in this run: callvet or a file that it reads changed"
			continue
		}
		for j := range failed {
			f := &failed[j]
			for _, tool := range f.Want.Tools {
				if e, ok := Diagnose(ctx, r, f.Query, tool); ok {
					f.Diagnose = append(f.Diagnose, Diagnosis(e))
				}
			}
		}
	}
}

// decidesSo reports whether the same tools with the same scores are given again.
func decidesSo(ctx context.Context, r *retriever.Retriever, f *routing.Failure) bool {
	const rounding = 1e-9
	d, err := r.Decide(ctx, strings.TrimSpace(f.Query))
	return err == nil && slices.EqualFunc(d.Tools, f.Got.Tools, func(a, b callvet.Ranked) bool {
		return a.Tool == b.Tool && math.Abs(a.Score-b.Score) <= rounding*max(1, math.Abs(b.Score))
	})
}

// Fingerprint is a hash of what a target behind "retrieve:" reads: the catalog and the
// rules of routes. Errors are those of reading.
func Fingerprint(rest string, read Files) (string, error) {
	file, s, err := Parse(rest)
	if err != nil {
		return "", err
	}
	h := sha256.New()
	files := []string{file}
	if s.Routes != "" && s.Routes != "none" {
		files = append(files, s.Routes)
	}
	for _, name := range files {
		b, err := read(name)
		if err != nil {
			return "", err
		}
		fmt.Fprintf(h, "%d ", len(b))
		h.Write(b)
	}
	return hex.EncodeToString(h.Sum(nil)[:16]), nil
}
