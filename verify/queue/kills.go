// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package queue

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/callvet/callvet/internal/sys"
)

// A kill is at a random moment of one of these kinds, so that every phase of a run is hit.
const (
	midway  = iota // a while after a random number of answers
	startup        // a while after the process began: it opens the store, resumes the job, continues
	closing        // a while after the last answer: the run is closed, the results are reported
)

// atStart is the time from the start of a process to its kill at startup.
const atStart = 500 * time.Millisecond

// moments returns the moments of kills of a run: the kinds in order, and the numbers of answers.
func (k *check) moments() (kinds, after []int) {
	for i := range k.Kills {
		switch {
		case i == k.Kills-1:
			kinds = append(kinds, closing)
		case k.rng.IntN(10) < 3 && i > 0:
			kinds = append(kinds, startup)
		default:
			kinds = append(kinds, midway)
		}
	}
	for range kinds {
		after = append(after, 1+k.rng.IntN(k.Cells*97/100))
	}
	slices.Sort(after)
	return kinds, after
}

// killed adds up the unfinished work at the kills of a run.
type killed struct {
	flying  int // requests without an answer yet
	storing int // and answers that may not have been stored yet
	shards  int // shards of the run that workers had
}

// kills runs suites on a server that is killed repeatedly.
func (k *check) kills(ctx context.Context) error {
	suite, err := k.site.keepSuite(ctx, &k.site.admin, k.Cells)
	if err != nil {
		return err
	}
	seen, hit, requests, all := 0, 0, 0, killed{}
	for run := 1; run <= k.Runs; run++ {
		name := fmt.Sprintf("run%d", run)
		began := time.Now()
		job, err := k.site.submit(ctx, &k.site.admin, suite, name, k.model.url, k.Flying)
		if err != nil {
			return err
		}
		of, err := k.killRun(ctx, name, &job)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		over, err := k.site.await(ctx, &k.site.admin, job.Job)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		news, err := k.site.events(ctx, &k.site.admin, seen)
		if err == nil {
			seen += len(news)
			err = k.ended(&over, news)
		}
		got := k.model.look(name)
		if err == nil && got.requests > k.Cells+of.flying+of.storing {
			err = fmt.Errorf("%d requests for %d cells, %d in flight at the kills and %d answers of the last %s",
				got.requests, k.Cells, of.flying, of.storing, storing)
		}
		if err == nil && got.most > k.Flying {
			err = fmt.Errorf("%d requests at the same time, where %d are allowed", got.most, k.Flying)
		}
		k.Compare("runs", name, err == nil, "%v", err)
		k.results(name, news)
		if err := k.stored(ctx, name, &job); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		k.Printf(
			"%s: %s after %d kills in %.0f s, begun %d times; %d requests for %d cells, %d in flight at the kills, %d answers of the last %s, %d shards; %d events\n",
			name, over.Status, k.Kills, time.Since(began).Seconds(), over.Attempt, got.requests, k.Cells, of.flying,
			of.storing, storing, of.shards, len(news))
		hit, requests = hit+over.Attempt-1, requests+got.requests
		all.flying, all.storing, all.shards = all.flying+of.flying, all.storing+of.storing, all.shards+of.shards
	}
	k.Printf(
		"%d kills, %d of them while the job ran: %d requests for %d cells, so %d again; %d in flight at the kills, %d answers of the last %s, %d shards\n",
		k.Runs*k.Kills, hit, requests, k.Runs*k.Cells, requests-k.Runs*k.Cells, all.flying, all.storing,
		storing, all.shards)
	return nil
}

// killRun kills the server repeatedly during a run. In the end the server runs.
func (k *check) killRun(ctx context.Context, name string, job *sent) (of killed, err error) {
	kinds, after := k.moments()
	for i, kind := range kinds {
		switch kind {
		case midway:
			err = k.reach(ctx, name, after[i])
			err = errors.Join(err, sys.Sleep(ctx, time.Duration(k.rng.IntN(50))*time.Millisecond))
		case closing:
			err = k.reach(ctx, name, k.Cells)
			err = errors.Join(err, sys.Sleep(ctx, time.Duration(k.rng.IntN(100))*time.Millisecond))
		case startup:
			err = sys.Sleep(ctx, time.Duration(k.rng.Int64N(int64(atStart))))
		}
		if err != nil {
			return of, err
		}
		if kind != startup { // then it may not serve yet
			n, err := k.site.shards(ctx, &k.site.admin)
			if err != nil {
				return of, err
			}
			of.shards += n
		}
		before, answers := k.model.look(name), k.model.since(name, time.Now().Add(-storing))
		err := k.site.kill()
		if serr := k.settle(ctx, name); serr != nil {
			return of, errors.Join(err, serr)
		}
		of.flying += before.flying + k.model.look(name).requests - before.requests // it ran a little longer
		of.storing += answers
		// Only the process after the last kill must serve; a process that is killed at startup need not.
		if i+1 < len(kinds) && kinds[i+1] == startup {
			err = errors.Join(err, k.site.begin(ctx))
		} else {
			err = errors.Join(err, k.site.start(ctx))
		}
		k.Compare("kills", fmt.Sprintf("%s, kill %d", name, i+1), err == nil, "%v", err)
		if err != nil {
			return of, err
		}
	}
	return of, nil
}

// reach waits until the model has answered n cells of a run.
func (k *check) reach(ctx context.Context, name string, cells int) error {
	for end := time.Now().Add(patience); k.model.look(name).reached < cells; {
		if time.Now().After(end) {
			return fmt.Errorf("after %s %d of %d cells are answered", patience, k.model.look(name).reached, cells)
		}
		if err := sys.Sleep(ctx, time.Millisecond); err != nil {
			return err
		}
	}
	return nil
}

// settle waits until the model server has seen that the process is gone.
func (k *check) settle(ctx context.Context, name string) error {
	for end := time.Now().Add(patience); k.model.look(name).flying > 0; {
		if time.Now().After(end) {
			return fmt.Errorf("%d requests are still in flight %s after the process that sent them was killed",
				k.model.look(name).flying, patience)
		}
		if err := sys.Sleep(ctx, time.Millisecond); err != nil {
			return err
		}
	}
	return nil
}

// ended reports the mistakes in a finished job, and in the reports on it.
func (k *check) ended(j *job, news []event) error {
	if j.Status != "done" || j.Done != k.Cells {
		return fmt.Errorf("it is %s with %d of %d cells: %s", j.Status, j.Done, k.Cells, j.Error)
	}
	count := map[string]int{}
	for _, e := range news {
		if e.Job != j.ID {
			return fmt.Errorf("event %d is of job %s", e.Seq, e.Job)
		}
		count[e.Type]++
	}
	for kind, want := range map[string]int{
		"job_created": 1, "job_started": j.Attempt, "job_interrupted": j.Attempt - 1, "job_completed": 1,
		"job_failed": 0, "job_cancelled": 0,
		"tool_eval_init": 1, "tool_eval_result": k.Cells, "tool_eval_summary": 1, "tool_eval_complete": 1,
	} {
		if count[kind] != want {
			return fmt.Errorf("%d events %s, want %d", count[kind], kind, want)
		}
	}
	if first, last := news[0].Type, news[len(news)-1].Type; first != "job_created" || last != "job_completed" {
		return fmt.Errorf("the events begin with %s and end with %s", first, last)
	}
	return nil
}

// verdict is the right verdict of a cell.
func verdict(n int) string {
	if wrong(n) {
		return "fail"
	}
	return "pass"
}

// results compares the reported result of each cell.
func (k *check) results(name string, news []event) {
	reported := map[string][]string{}
	for _, e := range news {
		if e.Type == "tool_eval_result" {
			reported[e.Case] = append(reported[e.Case], e.Verdict)
		}
	}
	for n := range k.Cells {
		got := reported[caseID(n)]
		k.Compare("results reported once", name+" "+caseID(n), len(got) == 1 && got[0] == verdict(n),
			"reported %q, want once %s", got, verdict(n))
	}
}

// stored compares the stored cells of a run.
func (k *check) stored(ctx context.Context, name string, job *sent) error {
	cells, err := k.site.cells(ctx, &k.site.admin, job.Run)
	if err != nil {
		return err
	}
	for n := range k.Cells {
		got := cells[caseID(n)]
		k.Compare("cells stored once and judged rightly", name+" "+caseID(n), len(got) == 1 && got[0] == verdict(n),
			"stored as %q, want once %s", got, verdict(n))
	}
	if len(cells) != k.Cells {
		return fmt.Errorf("%d cells are stored of %d", len(cells), k.Cells)
	}
	return nil
}
