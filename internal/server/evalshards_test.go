// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package server_test

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/callvet/callvet/internal/job"
	"github.com/callvet/callvet/internal/server/api"
)

// counted counts the requests of each city, and how many there are at once.
type counted struct {
	mu     sync.Mutex
	cities map[int]int
	flying atomic.Int64
	most   int64
}

// begin counts a request until end is called.
func (c *counted) begin(city int) (end func()) {
	now := c.flying.Add(1)
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.cities == nil {
		c.cities = map[int]int{}
	}
	c.cities[city]++
	c.most = max(c.most, now)
	return func() { c.flying.Add(-1) }
}

// parts is how many parts of jobs workers of the site have done.
func (s *site) parts(t *testing.T) (n int) {
	t.Helper()
	if err := s.db.Handle().QueryRow(
		"SELECT count(*) FROM river_job WHERE kind='callvet_part' AND state='completed'").Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

// endOf is the last event of a run, without values that change each time.
func endOf(list []map[string]any) (out []map[string]any) {
	for _, e := range list {
		if e["type"] == "tool_eval_summary" || e["type"] == "tool_eval_complete" {
			for _, name := range []string{"seq", "at", "time", "job_id", "eval_id", "timestamp"} {
				delete(e, name)
			}
			out = append(out, e)
		}
	}
	return out
}

// TestEvalShards: several workers carry out a large run. Together they keep the limit of its
// provider, ask for each attempt once, and produce the numbers of a run by one worker.
func TestEvalShards(t *testing.T) {
	t.Parallel()
	const cases = 160
	var ends [2][]map[string]any
	for i, workers := range []int{1, 3} {
		s := newSite(t, func(c *api.Config) { c.RunWorkers, c.ShardRounds = workers, 3 })
		s.private(t)
		var n counted
		m := newMoody(t, func(city int) string {
			defer n.begin(city)()
			time.Sleep(5 * time.Millisecond) // as long as an answer takes
			switch {
			case city%7 == 3:
				return "nowhere"
			case city%50 == 11:
				return "400"
			}
			return ""
		})
		suite := s.keepSuite(t, "root", cases)
		s.work(t)
		j := s.eval(t, "root", suite, m.URL, `,"no_cache":true`)
		s.awaitJob(t, "root", j.JobID, "done")
		code, body := s.ask(t, "root", "GET", "/api/jobs/"+j.JobID, "")
		if got := decode[job.Job](t, code, 200, body); got.Done != got.Total || got.Total < cases {
			t.Errorf("%d workers: %s", workers, body)
		}
		if parts := s.parts(t); (workers > 1) != (parts > 5) {
			t.Errorf("%d workers: %d parts", workers, parts)
		}
		for city, times := range n.cities {
			if times != 1 {
				t.Errorf("%d workers: city %d was asked for %d times", workers, city, times)
			}
		}
		if len(n.cities) < cases || n.most > 8 || workers > 1 && n.most < 4 {
			t.Errorf("%d workers: %d cities, at most %d requests at once", workers, len(n.cities), n.most)
		}
		list := s.events(t, "root")
		for id, said := range verdicts(list) {
			if len(said) != 1 {
				t.Errorf("%d workers: case %s was told as %v", workers, id, said)
			}
		}
		if ends[i] = endOf(list); len(ends[i]) != 2 {
			t.Errorf("%d workers: %v", workers, ends[i])
		}
	}
	if d := cmp.Diff(ends[0], ends[1]); d != "" {
		t.Errorf("in one piece and in shards: %s", d)
	}
}

// TestEvalShardsEnd: cancelling a job ends the requests of all workers. A job that yields takes
// back the attempts that they have not begun. A job that ended with its server continues with the
// rest.
func TestEvalShardsEnd(t *testing.T) {
	t.Parallel()
	slow := func(t *testing.T, hold *atomic.Bool, n *counted) *moody {
		return newMoody(t, func(city int) string {
			defer n.begin(city)()
			if hold.Load() {
				return "wait"
			}
			time.Sleep(2 * time.Millisecond) // as long as an answer takes
			return ""
		})
	}
	t.Run("cancelled", func(t *testing.T) {
		t.Parallel()
		s := newSite(t, func(c *api.Config) { c.RunWorkers, c.ShardRounds = 2, 3 })
		s.private(t)
		var hold atomic.Bool
		hold.Store(true)
		m := slow(t, &hold, &counted{})
		suite := s.keepSuite(t, "root", 160)
		s.work(t)
		j := s.eval(t, "root", suite, m.URL, `,"no_cache":true`)
		for deadline := time.Now().Add(30 * time.Second); m.open.Load() < 8; time.Sleep(time.Millisecond) {
			if time.Now().After(deadline) {
				t.Fatalf("%d requests", m.open.Load())
			}
		}
		begun := time.Now()
		s.ask(t, "root", "POST", "/api/tool-eval/cancel", fmt.Sprintf(`{"job_id":%q}`, j.JobID))
		s.awaitJob(t, "root", j.JobID, "cancelled")
		for m.open.Load() > 0 && time.Since(begun) < 30*time.Second {
			time.Sleep(time.Millisecond)
		}
		if took := time.Since(begun); m.open.Load() > 0 {
			t.Errorf("%d requests after %v", m.open.Load(), took)
		}
	})
	t.Run("gives way", func(t *testing.T) {
		t.Parallel()
		s := newSite(t, func(c *api.Config) {
			c.RunWorkers, c.ShardRounds, c.Workers, c.JobShift = 2, 3, 1, time.Millisecond
		})
		s.private(t)
		var hold atomic.Bool
		var n counted
		m, quick := slow(t, &hold, &n), newMoody(t, func(int) string { return "" })
		suite, other := s.keepSuite(t, "root", 600), s.keepSuite(t, "ana", 2)
		s.work(t)
		first := s.eval(t, "root", suite, m.URL, `,"no_cache":true`)
		second := s.eval(t, "ana", other, quick.URL, `,"no_cache":true`)
		s.awaitJob(t, "ana", second.JobID, "done")
		s.awaitJob(t, "root", first.JobID, "done")
		for city, times := range n.cities {
			if times != 1 {
				t.Errorf("city %d was asked for %d times", city, times)
			}
		}
		if len(n.cities) < 600 {
			t.Errorf("%d cities", len(n.cities))
		}
	})
	t.Run("the server ends", func(t *testing.T) {
		t.Parallel()
		shards := func(c *api.Config) { c.RunWorkers, c.ShardRounds = 2, 3 }
		s := newSite(t, shards)
		s.private(t)
		var n counted
		var hold atomic.Bool
		var asked atomic.Int64
		reached := make(chan struct{})
		m := newMoody(t, func(city int) string {
			defer n.begin(city)()
			if asked.Add(1) == 200 {
				hold.Store(true)
				close(reached)
			}
			if hold.Load() {
				return "wait"
			}
			return ""
		})
		suite := s.keepSuite(t, "root", 600)
		stop := s.work(t)
		j := s.eval(t, "root", suite, m.URL, `,"no_cache":true`)
		<-reached
		stop()
		hold.Store(false)
		again := s.restart(t, shards)
		again.work(t)
		if j := again.awaitJob(t, "root", j.JobID, "done"); j.Attempt != 2 || j.Done != j.Total {
			t.Errorf("done: %+v", j)
		}
		twice := 0
		for _, times := range n.cities {
			twice += times - 1
		}
		if len(n.cities) < 600 || twice > 8 { // those that were on their way
			t.Errorf("%d cities, %d were asked for again", len(n.cities), twice)
		}
		if again.parts(t) == 0 {
			t.Error("the rest was made in one piece")
		}
		for id, said := range verdicts(again.events(t, "root")) {
			if len(said) != 1 {
				t.Errorf("case %s was told as %v", id, said)
			}
		}
	})
}
