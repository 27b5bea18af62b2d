// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package app_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/app"
	"github.com/callvet/callvet/internal/app/runs"
	"github.com/callvet/callvet/internal/run"
	"github.com/callvet/callvet/internal/store"
)

var askedTown = regexp.MustCompile(`weather in town (\d+)\?`)

// towns is a server of models that know some towns, refuse a few and tell an address of one in four.
func towns(t *testing.T, asked *atomic.Int64) *httptest.Server {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		b, _ := io.ReadAll(r.Body)
		found := askedTown.FindSubmatch(b)
		if found == nil {
			http.Error(w, "no town", http.StatusBadRequest)
			return
		}
		n, _ := strconv.Atoi(string(found[1]))
		if n%41 == 7 {
			http.Error(w, `{"error":{"message":"no"}}`, http.StatusBadRequest)
			return
		}
		town := "town " + string(found[1])
		switch {
		case n%4 == 1:
			town = fmt.Sprintf("mail%d@example.com", n)
		case n%5 == 2:
			town = "nowhere"
		}
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w,
			`{"model":"m","choices":[{"finish_reason":"tool_calls","message":{"role":"assistant","tool_calls":[{"id":"1","type":"function","function":{"name":"weather_now","arguments":"{\"city\":\"%s\"}"}}]}}],"usage":{"prompt_tokens":50,"completion_tokens":10,"total_tokens":60}}`, town)
	}))
	t.Cleanup(s.Close)
	return s
}

// manyTowns uploads a suite that asks for the weather of n towns.
func manyTowns(t *testing.T, files *uploads, n int) {
	t.Helper()
	var suite strings.Builder
	suite.WriteString(
		`{"callvet": 1, "name": "towns", "tools": [{"name": "weather_now", "parameters": {"type": "object", "properties": {"city": {"type": "string"}}}}], "cases": [`)
	for i := range n {
		if i > 0 {
			suite.WriteString(",")
		}
		fmt.Fprintf(&suite,
			`{"id": "t%d", "prompt": "How is the weather in town %d?", "expected_tool": "weather_now", "expected_params": {"city": "town %d"}}`, i, i, i)
	}
	suite.WriteString("]}")
	if err := os.WriteFile(filepath.Join(files.dir, "towns"), []byte(suite.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	files.known["towns"] = "towns"
}

// carriedOut is the result of a run, without parts that differ each time.
type carriedOut struct {
	Totals  run.Totals
	Targets []run.Totals
	Status  run.Status
	Stopped []string
	Spent   int
	Numbers []string
	Notes   []string
	Err     string
}

// carry runs the towns in one piece, or in shards.
func carry(t *testing.T, more string, split *runs.Split) (got carriedOut, asked int64) {
	t.Helper()
	a, files := server(t, app.Permit{})
	var n atomic.Int64
	model := towns(t, &n)
	manyTowns(t, files, 150)
	spec := fmt.Sprintf(
		`{"suite": "towns", "repeats": 2, "no_cache": true, "targets": [{"target": "openai/m", "base_url": %q}, {"target": "openai/n", "base_url": %q}, {"target": "offline/lexical"}]%s}`, model.URL+"/v1", model.URL+"/v1", more)
	started, err := runs.Start(t.Context(), a, as[app.RunRequest](t, spec), nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := started.Close(); err != nil {
		t.Fatal(err)
	}
	if split != nil {
		split.Shard = func(ctx context.Context, task runs.ShardTask, yield <-chan struct{}) (runs.ShardResult, error) {
			b, err := json.Marshal(&task) // as it goes to another process
			if err != nil {
				return runs.ShardResult{}, err
			}
			var same runs.ShardTask
			if err := json.Unmarshal(b, &same); err != nil {
				return runs.ShardResult{}, err
			}
			return runs.DoShard(ctx, a, same, yield)
		}
	}
	var mu sync.Mutex
	last := 0
	s, err := runs.Resume(t.Context(), a, runs.ResumeRequest{Run: started.Stored.ID, Split: split}, func(ev app.Event) {
		mu.Lock()
		defer mu.Unlock()
		switch {
		case ev.Progress != nil:
			if ev.Progress.Done < last {
				t.Errorf("%d attempts were told done, and then %d", last, ev.Progress.Done)
			}
			last = ev.Progress.Done
		case ev.Note != nil:
			got.Notes = append(got.Notes, ev.Note.Text)
		case ev.Warning != nil:
			got.Notes = append(got.Notes, ev.Warning.Text)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	out, err := s.Do(t.Context())
	if cerr := s.Close(); cerr != nil {
		t.Error(cerr)
	}
	if out == nil {
		t.Fatal(err)
	}
	if err != nil {
		got.Err = err.Error()
		if !errors.Is(err, callvet.ErrBudget) {
			t.Error(err)
		}
	}
	got.Totals, got.Targets, got.Status, got.Stopped, got.Spent = out.Summary.Totals, out.Summary.Targets,
		out.Summary.Status, out.Summary.Stopped, out.Summary.Spent.Requests
	for _, target := range out.View.Panels.Targets {
		for _, m := range target.Overall.Metrics {
			if !strings.Contains(m.Name, "latency") && !strings.Contains(m.Name, "ms") {
				got.Numbers = append(got.Numbers,
					fmt.Sprintf("%s %s %x %x %x", target.Name, m.Name, m.Interval.Point, m.Interval.Lower,
						m.Interval.Upper))
			}
		}
	}
	return got, n.Load()
}

// TestShards: in shards a run gives the same numbers, to the last bit, and the same words, with as many requests.
func TestShards(t *testing.T) {
	t.Parallel()
	for name, more := range map[string]string{
		"all":        "",
		"interleave": `, "interleave": true`,
		"calls":      `, "max_calls": 333`,
		"few calls":  `, "max_calls": 5, "concurrency": 4`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			whole, asked := carry(t, more, nil)
			split := &runs.Split{Workers: 3, Rounds: 4}
			shards, askedToo := carry(t, more, split)
			if name == "calls" || name == "few calls" { // which attempts the calls went to is chance
				if shards.Err == "" || shards.Err != whole.Err || shards.Status != run.StatusBudget ||
					shards.Spent != whole.Spent || askedToo > int64(shards.Spent) {
					t.Errorf("%d requests of %d in shards, %d of %d in one piece: %s", askedToo, shards.Spent, asked,
						whole.Spent, shards.Err)
				}
				return
			}
			if d := cmp.Diff(whole, shards); d != "" || len(whole.Numbers) < 20 || len(whole.Notes) == 0 {
				t.Errorf("in one piece and in shards: %s\n%+v", d, whole)
			}
			if asked != askedToo {
				t.Errorf("%d requests in one piece, %d in shards", asked, askedToo)
			}
		})
	}
}

// TestShardsCache: an answer of an earlier run is given again in shards as in one piece, and one of the same run
// is not, although two targets ask the same.
func TestShardsCache(t *testing.T) {
	t.Parallel()
	a, files := server(t, app.Permit{})
	var n atomic.Int64
	model := towns(t, &n)
	manyTowns(t, files, 150)
	spec := fmt.Sprintf(
		`{"suite": "towns", "targets": [{"target": "openai/m", "base_url": %q}, {"target": "openai/m", "base_url": %q}]}`, model.URL+"/v1", model.URL+"/v1")
	for i, want := range []int64{300, 0} {
		n.Store(0)
		started, err := runs.Start(t.Context(), a, as[app.RunRequest](t, spec), nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := started.Close(); err != nil {
			t.Fatal(err)
		}
		var shards atomic.Int64
		s, err := runs.Resume(t.Context(), a,
			runs.ResumeRequest{
				Run: started.Stored.ID,
				Split: &runs.Split{
					Workers: 2, Rounds: 4,
					Shard: func(ctx context.Context, task runs.ShardTask,
						yield <-chan struct{},
					) (runs.ShardResult, error) {
						shards.Add(1)
						return runs.DoShard(ctx, a, task, yield)
					},
				},
			}, nil)
		if err != nil {
			t.Fatal(err)
		}
		out, err := s.Do(t.Context())
		if err = errors.Join(err, s.Close()); err != nil {
			t.Fatal(err)
		}
		// Errors, and answers in which something was hidden, are asked for again.
		if i == 1 {
			want = int64(out.Summary.Total - out.Summary.Cached)
		}
		if n.Load() != want || shards.Load() < 10 || i == 1 && out.Summary.Cached < 200 || i == 0 &&
			out.Summary.Cached > 0 {
			t.Errorf("run %d: %d requests, want %d, %d attempts of %d reused in %d shards", i, n.Load(), want,
				out.Summary.Cached, out.Summary.Total, shards.Load())
		}
	}
}

// TestShardsAgain: a resumed run repeats errors, also those of waiting rubrics, and reports its
// progress without them.
func TestShardsAgain(t *testing.T) {
	t.Parallel()
	a, files := server(t, app.Permit{})
	var n atomic.Int64
	var down atomic.Bool
	down.Store(true)
	inner := towns(t, &n)
	model := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if down.Load() {
			http.Error(w, `{"error":{"message":"no"}}`, http.StatusBadRequest)
			return
		}
		inner.Config.Handler.ServeHTTP(w, r)
	}))
	t.Cleanup(model.Close)
	manyTowns(t, files, 150)
	started, err := runs.Start(t.Context(), a,
		as[app.RunRequest](t, fmt.Sprintf(`{"suite": "towns", "targets": [{"target": "openai/m", "base_url": %q}]}`,
			model.URL+"/v1")), nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := started.Close(); err != nil {
		t.Fatal(err)
	}
	do := func(ctx context.Context, task runs.ShardTask, yield <-chan struct{}) (runs.ShardResult, error) {
		return runs.DoShard(ctx, a, task, yield)
	}
	for i, errs := range []int{150, 4} {
		first := -1
		s, err := runs.Resume(t.Context(), a,
			runs.ResumeRequest{Run: started.Stored.ID, Split: &runs.Split{Workers: 2, Rounds: 4, Shard: do}},
			func(ev app.Event) {
				if ev.Progress != nil && first < 0 {
					first = ev.Progress.Done
				}
			})
		if err != nil {
			t.Fatal(err)
		}
		out, err := s.Do(t.Context())
		if err = errors.Join(err, s.Close()); out == nil || (err == nil) != (i == 1) {
			t.Fatal(err)
		}
		if out.Summary.Error != errs || out.Summary.Done != 150 || first > 100 {
			t.Errorf("session %d: %+v, at first %d done", i, out.Summary.Totals, first)
		}
		down.Store(false)
	}
	// an error of before that comes again in a shard that was given back is asked once more
	if n.Load() < 150 || n.Load() > 154 {
		t.Errorf("%d requests", n.Load())
	}
}

// TestShardsCanceled: who asks another process to end a run ends its shards, and nothing is asked after that.
func TestShardsCanceled(t *testing.T) {
	t.Parallel()
	a, files := server(t, app.Permit{})
	var n atomic.Int64
	model := towns(t, &n)
	manyTowns(t, files, 600)
	started, err := runs.Start(t.Context(), a,
		as[app.RunRequest](t,
			fmt.Sprintf(`{"suite": "towns", "rate": 400, "targets": [{"target": "openai/m", "base_url": %q}]}`,
				model.URL+"/v1")), nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := started.Close(); err != nil {
		t.Fatal(err)
	}
	db, err := store.Open(t.Context(), filepath.Join(files.dir, "runs.db"), store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	other := app.New(app.Config{Store: func(context.Context) (*store.DB, error) { return db, nil }})
	var once sync.Once
	split := &runs.Split{Workers: 2, Rounds: 30}
	split.Shard = func(ctx context.Context, task runs.ShardTask, yield <-chan struct{}) (runs.ShardResult, error) {
		once.Do(func() {
			if by, err := runs.Cancel(t.Context(), other, task.Run); err != nil || by.By == nil {
				t.Errorf("canceled by %+v, %v", by, err)
			}
		})
		return runs.DoShard(ctx, a, task, yield)
	}
	s, err := runs.Resume(t.Context(), a, runs.ResumeRequest{Run: started.Stored.ID, Split: split}, nil)
	if err != nil {
		t.Fatal(err)
	}
	out, err := s.Do(t.Context())
	if err = errors.Join(err, s.Close()); err != nil || !out.Interrupted() || n.Load() > 100 {
		t.Errorf("%v: %d requests, %+v", err, n.Load(), out.Summary)
	}
}

// TestShardOfALostRun: a worker makes no attempts of a run whose session lost the lease.
func TestShardOfALostRun(t *testing.T) {
	t.Parallel()
	a, _ := server(t, app.Permit{})
	started, err := runs.Start(t.Context(), a,
		as[app.RunRequest](t, `{"suite": "upload-1", "targets": [{"target": "offline/lexical"}]}`), nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := started.Close(); err != nil {
		t.Fatal(err)
	}
	task := runs.ShardTask{
		Run: started.Stored.ID, Lease: "other",
		Shard: run.Shard{Targets: []int{0}, Cases: [][2]int{{0, 2}}},
	}
	if out, err := runs.DoShard(t.Context(), a, task, nil); !errors.Is(err, callvet.ErrConflict) || out.Status != "" {
		t.Errorf("%+v, %v", out, err)
	}
}
