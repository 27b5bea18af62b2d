// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package job_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/callvet/callvet/internal/job"
)

// TestParts: workers do the parts of a job at once, and the job gets the result of each.
func TestParts(t *testing.T) {
	t.Parallel()
	var together sync.WaitGroup
	together.Add(3)
	j := newJobs(t, job.Config{
		Workers: 1,
		Handlers: map[string]job.Handler{"work": func(ctx context.Context, _ job.Job,
			r *job.Report,
		) (json.RawMessage, error) {
			out := make([]string, 3)
			var all sync.WaitGroup
			for i := range out {
				all.Go(func() {
					got, err := r.Part(ctx, json.RawMessage(fmt.Sprint(i)), nil)
					out[i] = fmt.Sprint(string(got), err)
				})
			}
			all.Wait()
			return json.Marshal(out)
		}},
		Parts: map[string]job.PartHandler{"work": func(_ context.Context, j job.Job, task json.RawMessage,
			_ <-chan struct{},
		) (json.RawMessage, error) {
			together.Done()
			together.Wait() // they would never come together one after the other
			return json.RawMessage(fmt.Sprintf(`"%s of %s"`, task, j.User)), nil
		}},
	})
	start(t, j)
	got := await(t, j, submit(t, j, job.Request{}).ID, job.Done)
	if want := `["\"0 of ana\"\u003cnil\u003e","\"1 of ana\"\u003cnil\u003e","\"2 of ana\"\u003cnil\u003e"]`; string(
		got.Detail) != want {
		t.Errorf("got %s, want %s", got.Detail, want)
	}
}

// TestPartEnds: the outcome of a part that fails, panics, has a kind without a handler, must
// finish, or is no longer wanted by its job.
func TestPartEnds(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		part job.PartHandler
		// soon closes yield, and stop ends the context, once the part runs.
		soon, stop bool
		result     string
		says       string
	}{
		"fails": {part: func(context.Context, job.Job, json.RawMessage, <-chan struct{}) (json.RawMessage, error) {
			return json.RawMessage(`1`), errors.New("no")
		}, result: "1", says: "no"},
		"panics": {part: func(context.Context, job.Job, json.RawMessage, <-chan struct{}) (json.RawMessage, error) {
			panic("boom")
		}, says: "a bug ended a part of a job"},
		"long": {part: func(context.Context, job.Job, json.RawMessage, <-chan struct{}) (json.RawMessage, error) {
			return nil, errors.New(strings.Repeat("x", 10_000))
		}, says: strings.Repeat("x", 4_000)},
		"nobody's": {says: `no worker here does parts of jobs of kind "work"`},
		"yields": {
			soon: true, result: "2",
			part: func(ctx context.Context, _ job.Job, _ json.RawMessage,
				yield <-chan struct{},
			) (json.RawMessage, error) {
				select {
				case <-yield:
					return json.RawMessage(`2`), ctx.Err()
				case <-ctx.Done():
					return nil, ctx.Err()
				}
			},
		},
		"is broken off": {
			stop: true, result: "3",
			part: func(ctx context.Context, _ job.Job, _ json.RawMessage,
				yield <-chan struct{},
			) (json.RawMessage, error) {
				select {
				case <-yield:
					return nil, errors.New("yielded")
				case <-ctx.Done():
					return json.RawMessage(`3`), nil
				}
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			running := make(chan struct{})
			cfg := job.Config{Handlers: map[string]job.Handler{"work": func(ctx context.Context, _ job.Job,
				r *job.Report,
			) (json.RawMessage, error) {
				part, stop := context.WithCancel(ctx)
				defer stop()
				yield := make(chan struct{})
				if tc.soon || tc.stop {
					go func() {
						<-running
						if tc.soon {
							close(yield)
						} else {
							stop()
						}
					}()
				}
				got, err := r.Part(part, json.RawMessage(`0`), yield)
				said := ""
				if err != nil {
					said = err.Error()
				}
				return json.Marshal([]string{string(got), said})
			}}}
			if tc.part != nil {
				cfg.Parts = map[string]job.PartHandler{"work": func(ctx context.Context, j job.Job,
					task json.RawMessage, yield <-chan struct{},
				) (json.RawMessage, error) {
					close(running)
					return tc.part(ctx, j, task, yield)
				}}
			}
			j := newJobs(t, cfg)
			start(t, j)
			got := await(t, j, submit(t, j, job.Request{}).ID, job.Done)
			var out []string
			if err := json.Unmarshal(got.Detail, &out); err != nil {
				t.Fatal(err)
			}
			if out[0] != tc.result || !strings.HasPrefix(out[1], tc.says) || len(out[1]) > 4_000 ||
				(tc.says == "") != (out[1] == "") {
				t.Errorf("got %q", out)
			}
		})
	}
}

// TestPartsOfOneThatEnded: the parts of an ended process are gone at the next start, and the job
// makes new ones. A part that still waits when its job is interrupted is not begun.
func TestPartsOfOneThatEnded(t *testing.T) {
	t.Parallel()
	db := open(t)
	begun := make(chan struct{}, 10)
	var attempts atomic.Int64
	cfg := job.Config{
		Store: db,
		Handlers: map[string]job.Handler{"work": func(ctx context.Context, _ job.Job,
			r *job.Report,
		) (json.RawMessage, error) {
			return r.Part(ctx, json.RawMessage(`0`), nil)
		}},
		Parts: map[string]job.PartHandler{"work": func(ctx context.Context, j job.Job, _ json.RawMessage,
			_ <-chan struct{},
		) (json.RawMessage, error) {
			begun <- struct{}{}
			if attempts.Add(1) == 1 {
				<-ctx.Done()
				return nil, ctx.Err()
			}
			return json.RawMessage(`"done"`), nil
		}},
	}
	first := newJobs(t, cfg)
	stop := start(t, first)
	id := submit(t, first, job.Request{}).ID
	<-begun
	stop()
	if got, err := first.Job(t.Context(), id); err != nil || got.State != job.Queued {
		t.Errorf("%+v, %v", got, err)
	}
	if _, err := db.Handle().Exec(
		"INSERT INTO parts(id,job_id,state,task,result,error,beat,yield,cancel) VALUES('part_left',?,'running',x'30',x'',x'',1,FALSE,FALSE)", id); err != nil {
		t.Fatal(err)
	}
	second := newJobs(t, cfg)
	start(t, second)
	if got := await(t, second, id, job.Done); string(got.Detail) != `"done"` {
		t.Errorf("%+v", got)
	}
	var left int
	if err := db.Handle().QueryRow("SELECT count(*) FROM parts").Scan(&left); err != nil || left != 0 {
		t.Errorf("%d parts are left, %v", left, err)
	}
}

// TestPartIsLost: a worker that shows nothing is not waited for.
func TestPartIsLost(t *testing.T) {
	t.Parallel()
	db := open(t)
	j := newJobs(t, job.Config{
		Store: db, PartLost: 300 * time.Millisecond,
		Handlers: map[string]job.Handler{"work": func(ctx context.Context, _ job.Job,
			r *job.Report,
		) (json.RawMessage, error) {
			_, err := r.Part(ctx, json.RawMessage(`0`), nil)
			return json.Marshal(fmt.Sprint(err))
		}},
		Parts: map[string]job.PartHandler{"work": func(ctx context.Context, _ job.Job, _ json.RawMessage,
			_ <-chan struct{},
		) (json.RawMessage, error) {
			// As if the process of the worker had ended: it shows nothing any more.
			if _, err := db.Handle().Exec("UPDATE parts SET state='gone'"); err != nil {
				t.Error(err)
			}
			<-ctx.Done()
			return nil, ctx.Err()
		}},
	})
	start(t, j)
	if got := await(t, j, submit(t, j, job.Request{}).ID, job.Done); !strings.Contains(string(got.Detail),
		"shows nothing for 300ms") {
		t.Errorf("%s", got.Detail)
	}
}
