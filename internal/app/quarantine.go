// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package app

import (
	"context"
	"fmt"
	"time"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/gatefile"
	"github.com/callvet/callvet/internal/report/plain"
	"github.com/callvet/callvet/internal/store"
)

// quarantine leaves cases out of what is summed up of the run until their day is over, and says
// so of each, with what became of it: nobody is to forget one.
func (r *Run) quarantine(ctx context.Context, list []gatefile.Quarantine, now time.Time) (said []string, err error) {
	for i := range list {
		q := &list[i]
		passes, judged, err := r.tally(ctx, q.Case)
		if err != nil {
			return nil, err
		}
		about := q.Owner
		if q.Reason != "" {
			about += ": " + q.Reason
		}
		switch {
		case q.Over(now):
			said = append(said, fmt.Sprintf("the quarantine of %s ended on %s (%s): it counts again", q.Case, q.Until, about))
			continue
		case judged < 0:
			said = append(said, fmt.Sprintf("%s is in quarantine until %s (%s), and the run has no such case", q.Case, q.Until, about))
			continue
		}
		said = append(said, fmt.Sprintf("%s is in quarantine until %s (%s) and in no gate: %d of %s passed", q.Case, q.Until, about, passes, plain.Count(judged, "judged attempt", "judged attempts")))
		if r.without == nil {
			r.without = map[string]bool{}
		}
		r.without[q.Case] = true
	}
	return said, nil
}

// tally counts the judged attempts at a case; judged is -1 where there is no attempt at all.
func (r *Run) tally(ctx context.Context, id string) (passes, judged int, err error) {
	judged = -1
	for row, err := range r.Rows(ctx, store.Filter{CaseID: id}) {
		if err != nil {
			return 0, 0, err
		}
		judged = max(judged, 0)
		switch row.Cell.Result.Verdict {
		case callvet.VerdictPass:
			passes++
			judged++
		case callvet.VerdictFail:
			judged++
		}
	}
	return passes, judged, nil
}
