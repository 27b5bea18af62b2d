// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package job_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/job"
	"github.com/callvet/callvet/internal/store"
	"github.com/callvet/callvet/internal/store/rows"
)

func open(t *testing.T) *store.DB {
	t.Helper()
	db, err := store.Open(t.Context(), filepath.Join(t.TempDir(), "x.db"), store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return db
}

func newJobs(t *testing.T, cfg job.Config) *job.Jobs {
	t.Helper()
	if cfg.Store == nil {
		cfg.Store = open(t)
	}
	j, err := job.New(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	return j
}

// start runs the jobs until stop is called, or the test ends.
func start(t *testing.T, j *job.Jobs) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- j.Run(ctx) }()
	stop = sync.OnceFunc(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("Run: %v", err)
		}
	})
	t.Cleanup(stop)
	return stop
}

func submit(t *testing.T, j *job.Jobs, req job.Request) job.Job {
	t.Helper()
	if req.User == "" {
		req.User = "ana"
	}
	if req.Kind == "" {
		req.Kind = "work"
	}
	got, _, err := j.Submit(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// await polls until a job is in the state.
func await(t *testing.T, j *job.Jobs, id string, want job.State) job.Job {
	t.Helper()
	deadline := time.Now().Add(30 * time.Second)
	for {
		got, err := j.Job(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		if got.State == want {
			return got
		}
		if time.Now().After(deadline) {
			t.Fatalf("job %s is %s, want %s: %+v", id, got.State, want, got)
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// kinds are the kinds of the events of a user, which must be numbered from 1 without gaps.
func kinds(t *testing.T, j *job.Jobs, user string) []string {
	t.Helper()
	list, err := j.Events(t.Context(), user, 0, 10_000)
	if err != nil {
		t.Fatal(err)
	}
	out := []string{}
	for i, e := range list {
		if e.Seq != int64(i+1) {
			t.Errorf("event %d has the number %d", i+1, e.Seq)
		}
		out = append(out, e.Kind)
	}
	return out
}

func until(ctx context.Context, _ job.Job, _ *job.Report) (json.RawMessage, error) {
	<-ctx.Done()
	return nil, context.Cause(ctx)
}

func TestJobIsDone(t *testing.T) {
	t.Parallel()
	j := newJobs(t,
		job.Config{
			Every: time.Millisecond,
			Handlers: map[string]job.Handler{"work": func(_ context.Context, j job.Job,
				r *job.Report,
			) (json.RawMessage, error) {
				r.Progress(3, 4, time.Second)
				return j.Request, r.Publish([]byte("kept"), job.News{Kind: "told", Data: map[string]int{"n": 1}})
			}},
		})
	start(t, j)
	sent := submit(t, j,
		job.Request{Prepared: job.Prepared{Request: json.RawMessage(`{"a":1}`), ResultRef: "r1", Total: 4}})
	if sent.State != job.Queued || sent.ResultRef != "r1" {
		t.Errorf("submitted: %+v", sent)
	}
	got := await(t, j, sent.ID, job.Done)
	if string(got.Detail) != `{"a":1}` || got.Done != 3 || got.Total != 4 || got.Attempt != 1 || got.Active() ||
		string(got.Note) != "kept" {
		t.Errorf("done: %+v", got)
	}
	told := kinds(t, j, "ana")
	told = slices.DeleteFunc(told, func(k string) bool { return k == job.EventProgress })
	if d := cmp.Diff([]string{"job_created", "job_started", "told", "job_completed"}, told); d != "" {
		t.Errorf("events (-want +got):\n%s", d)
	}
	list, err := j.Events(t.Context(), "ana", 2, 100)
	if err != nil {
		t.Fatal(err)
	}
	var last map[string]any
	if err := json.Unmarshal(list[len(list)-1].JSON(), &last); err != nil || last["type"] != "job_completed" ||
		last["result_ref"] != "r1" || last["job_id"] != sent.ID || last["at"] == nil {
		t.Errorf("last event: %v %v", last, err)
	}
}

func TestJobEndsOtherwise(t *testing.T) {
	t.Parallel()
	j := newJobs(t,
		job.Config{PerUser: 3, Hide: func(s string) string { return "hidden: " + s }, Handlers: map[string]job.Handler{
			"fails": func(context.Context, job.Job, *job.Report) (json.RawMessage, error) {
				return nil, errors.New("no luck")
			},
			"panics": func(context.Context, job.Job, *job.Report) (json.RawMessage, error) { panic("oops") },
			"waits":  until,
		}})
	start(t, j)
	failed := submit(t, j, job.Request{Kind: "fails"})
	if got := await(t, j, failed.ID, job.Failed); got.Error != "hidden: no luck" {
		t.Errorf("failed: %q", got.Error)
	}
	if got := await(t, j, submit(t, j, job.Request{Kind: "panics"}).ID, job.Failed); got.Error == "" {
		t.Error("a panic told nothing")
	}
	if got := await(t, j, submit(t, j, job.Request{Kind: "waits", Timeout: 20 * time.Millisecond}).ID,
		job.Failed); got.Error != "the job ran out of its time: 20ms" {
		t.Errorf("timeout: %q", got.Error)
	}
	waits := submit(t, j, job.Request{Kind: "waits"})
	await(t, j, waits.ID, job.Running)
	if got, err := j.Cancel(t.Context(), waits.ID); err != nil || !got.Cancel {
		t.Errorf("cancel: %+v %v", got, err)
	}
	await(t, j, waits.ID, job.Cancelled)
	if got, err := j.Cancel(t.Context(), waits.ID); err != nil || got.State != job.Cancelled {
		t.Errorf("cancel again: %+v %v", got, err)
	}
	if got, err := j.Cancel(t.Context(), failed.ID); err != nil || got.State != job.Failed {
		t.Errorf("cancel what failed: %+v %v", got, err)
	}
	if _, err := j.Cancel(t.Context(), "job_none"); !errors.Is(err, callvet.ErrNotFound) {
		t.Errorf("cancel nothing: %v", err)
	}
	if _, _, err := j.Submit(t.Context(), job.Request{User: "ana", Kind: "unknown"}); !errors.Is(err,
		callvet.ErrInvalid) {
		t.Errorf("unknown kind: %v", err)
	}
}

// TestQueuedIsCancelledAtOnce: no worker runs yet, so that the request itself cancels a waiting
// job.
func TestQueuedIsCancelledAtOnce(t *testing.T) {
	t.Parallel()
	db := open(t)
	j := newJobs(t, job.Config{Store: db, PerUser: 1, Handlers: map[string]job.Handler{"work": until}})
	first, second := submit(t, j, job.Request{}), submit(t, j, job.Request{})
	if n, err := db.Rows().SlotsTaken(t.Context()); err != nil || n != 1 {
		t.Fatalf("%d slots are taken, %v", n, err)
	}
	for _, id := range []string{first.ID, second.ID} {
		if got, err := j.Cancel(t.Context(), id); err != nil || got.State != job.Cancelled {
			t.Errorf("cancel: %+v %v", got, err)
		}
	}
	if n, err := db.Rows().SlotsTaken(t.Context()); err != nil || n != 0 {
		t.Errorf("%d slots are taken, %v", n, err)
	}
	start(t, j)
	await(t, j, submit(t, j, job.Request{}).ID, job.Running) // and the row of River of the first starts nothing
	if got, err := j.Job(t.Context(), first.ID); err != nil || got.State != job.Cancelled || got.Attempt != 0 {
		t.Errorf("the cancelled one: %+v %v", got, err)
	}
}

func TestIdempotency(t *testing.T) {
	t.Parallel()
	j := newJobs(t, job.Config{Handlers: map[string]job.Handler{"work": until, "other": until}})
	var mu sync.Mutex
	prepared := 0
	ids := make(chan string, 10)
	var group sync.WaitGroup
	for range 10 {
		group.Go(func() {
			got, _, err := j.Submit(t.Context(),
				job.Request{
					User: "ana", Kind: "work", Key: "k",
					Prepare: func(context.Context, string) (job.Prepared, error) {
						mu.Lock()
						defer mu.Unlock()
						prepared++
						if prepared == 1 {
							return job.Prepared{}, errors.New("refused")
						}
						return job.Prepared{ResultRef: "run"}, nil
					},
				})
			if err == nil {
				ids <- got.ID + got.ResultRef
			}
		})
	}
	group.Wait()
	close(ids)
	var got []string
	for id := range ids {
		got = append(got, id)
	}
	if len(got) != 9 || len(slices.Compact(slices.Clone(got))) != 1 || prepared != 2 {
		t.Errorf("jobs %v, prepared %d times", got, prepared)
	}
	if other := submit(t, j, job.Request{User: "bo", Key: "k"}); other.ID == got[0] {
		t.Error("the key of another user gives his job")
	}
	if _, _, err := j.Submit(t.Context(), job.Request{User: "ana", Kind: "other", Key: "k"}); !errors.Is(err,
		callvet.ErrConflict) {
		t.Errorf("the key of a job of another kind: %v", err)
	}
	list, _, err := j.List(t.Context(), job.Query{})
	if err != nil || len(list) != 2 {
		t.Errorf("%d jobs, %v", len(list), err)
	}
}

// TestRestart: a job that runs when the server ends returns to the queue and continues at the next
// start, with its note. So does the job of a process that was killed.
func TestRestart(t *testing.T) {
	t.Parallel()
	db := open(t)
	var mu sync.Mutex
	var seen []string
	running := make(chan struct{}, 10)
	free := make(chan struct{})
	handlers := map[string]job.Handler{"work": func(ctx context.Context, j job.Job,
		r *job.Report,
	) (json.RawMessage, error) {
		mu.Lock()
		seen = append(seen, fmt.Sprint(j.Attempt, string(j.Note)))
		mu.Unlock()
		r.Progress(j.Attempt, 3, 0)
		if err := r.Publish(append(j.Note, 'x')); err != nil {
			return nil, err
		}
		running <- struct{}{}
		select {
		case <-free:
			return nil, nil
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}}
	j := newJobs(t, job.Config{Store: db, PerUser: 1, Handlers: handlers})
	stop := start(t, j)
	id := submit(t, j, job.Request{}).ID
	behind := submit(t, j, job.Request{}).ID
	<-running
	stop()
	if got := await(t, j, id, job.Queued); got.Attempt != 1 || got.Done != 1 {
		t.Errorf("handed back: %+v", got)
	}
	j = newJobs(t, job.Config{Store: db, PerUser: 1, Handlers: handlers})
	stop = start(t, j)
	<-running
	stop()
	// As a process that was killed leaves it.
	if err := db.Change(t.Context(), "test", func(q *rows.Queries) error {
		r, err := q.Job(t.Context(), id)
		if err != nil {
			return err
		}
		_, err = q.MoveJob(t.Context(),
			rows.MoveJobParams{
				Next: "running", Attempt: r.Attempt, Queued: r.Queued, Started: r.Started, Done: r.Done,
				Total: r.Total, Ran: r.Ran, Request: r.Request, Detail: []byte{}, Error: []byte{}, ID: id,
				Was: r.Attempt, From1: "queued",
			})
		return err
	}); err != nil {
		t.Fatal(err)
	}
	j = newJobs(t, job.Config{Store: db, PerUser: 1, Handlers: handlers})
	start(t, j)
	<-running
	close(free)
	got := await(t, j, id, job.Done)
	await(t, j, behind, job.Done)
	if got.Attempt != 3 {
		t.Errorf("attempt %d", got.Attempt)
	}
	if d := cmp.Diff([]string{"1", "2x", "3xx", "1"}, seen); d != "" {
		t.Errorf("attempts with notes (-want +got):\n%s", d)
	}
	told := slices.DeleteFunc(kinds(t, j, "ana"), func(k string) bool { return k == job.EventProgress })
	want := []string{
		"job_created", "job_created", "job_started", "job_interrupted", "job_started", "job_interrupted",
		"job_interrupted", "job_started", "job_completed", "job_started", "job_completed",
	}
	if d := cmp.Diff(want, told); d != "" {
		t.Errorf("events (-want +got):\n%s", d)
	}
}

// TestCutOffTooOften: a job without progress is not tried for ever if its process dies each time.
func TestCutOffTooOften(t *testing.T) {
	t.Parallel()
	db := open(t)
	j := newJobs(t, job.Config{Store: db, Handlers: map[string]job.Handler{"work": until}})
	id := submit(t, j, job.Request{}).ID
	for range job.MaxIdle {
		if err := db.Change(t.Context(), "test", func(q *rows.Queries) error {
			r, err := q.Job(t.Context(), id)
			if err != nil {
				return err
			}
			_, err = q.MoveJob(t.Context(),
				rows.MoveJobParams{
					Next: "running", Attempt: r.Attempt + 1, Queued: r.Queued, Idle: r.Idle,
					Request: r.Request, Detail: []byte{}, Error: []byte{}, ID: id, Was: r.Attempt, From1: "queued",
				})
			return err
		}); err != nil {
			t.Fatal(err)
		}
		newJobs(t, job.Config{Store: db, Workers: 1, Handlers: map[string]job.Handler{"work": until}})
	}
	got, err := j.Job(t.Context(), id)
	if err != nil || got.State != job.Interrupted || got.Active() || got.Error == "" {
		t.Errorf("%+v %v", got, err)
	}
}

// TestLimits: no user has more jobs at once than he may, no user starves, and the jobs of one user
// run in their order.
func TestLimits(t *testing.T) {
	t.Parallel()
	db := open(t)
	limits := map[string]int64{"ana": 1, "bo": 2, "cy": 5}
	now := map[string]int64{}
	most := map[string]int64{}
	order := map[string][]string{}
	all, mostAll := int64(0), int64(0)
	var mu sync.Mutex
	j := newJobs(t,
		job.Config{
			Store: db, Workers: 6,
			Handlers: map[string]job.Handler{"work": func(_ context.Context, j job.Job,
				_ *job.Report,
			) (json.RawMessage, error) {
				mu.Lock()
				now[j.User]++
				all++
				most[j.User], mostAll = max(most[j.User], now[j.User]), max(mostAll, all)
				order[j.User] = append(order[j.User], j.ID)
				mu.Unlock()
				time.Sleep(time.Millisecond)
				mu.Lock()
				now[j.User]--
				all--
				mu.Unlock()
				return nil, nil
			}},
		})
	for u, n := range limits {
		job.SetLimit(t, db, u, n)
	}
	sent := map[string][]string{}
	for range 10 {
		for u := range limits {
			sent[u] = append(sent[u], submit(t, j, job.Request{User: u}).ID)
		}
	}
	if n, err := db.Rows().SlotsTaken(t.Context()); err != nil || n != 6 {
		t.Errorf("%d slots, %v", n, err)
	}
	start(t, j)
	for _, ids := range sent {
		for _, id := range ids {
			await(t, j, id, job.Done)
		}
	}
	for u, n := range limits {
		if most[u] > n || most[u] == 0 {
			t.Errorf("%s: %d at once, may %d", u, most[u], n)
		}
	}
	if mostAll > 6 {
		t.Errorf("%d at once, workers are 6", mostAll)
	}
	if d := cmp.Diff(sent["ana"], order["ana"]); d != "" {
		t.Errorf("order (-want +got):\n%s", d)
	}
}

// TestTurns: with one worker the order of all is known: the first to come, then by priority, then
// the users in turn, then by arrival.
func TestTurns(t *testing.T) {
	t.Parallel()
	var order []string
	done := make(chan struct{}, 100)
	j := newJobs(t,
		job.Config{
			Workers: 1,
			Handlers: map[string]job.Handler{"work": func(_ context.Context, j job.Job,
				_ *job.Report,
			) (json.RawMessage, error) {
				order = append(order, string(j.Request))
				done <- struct{}{}
				return nil, nil
			}},
		})
	send := func(user, name string, priority int) {
		submit(t, j, job.Request{
			User: user, Priority: priority,
			Prepared: job.Prepared{Request: json.RawMessage(`"` + name + `"`)},
		})
	}
	for i := range 3 {
		send("ana", fmt.Sprint("ana", i), 0)
	}
	for i := range 3 {
		send("bo", fmt.Sprint("bo", i), 0)
	}
	send("cy", "cy0", -1)
	send("ana", "urgent", 5)
	start(t, j)
	for range 8 {
		<-done
	}
	want := []string{`"ana0"`, `"urgent"`, `"bo0"`, `"ana1"`, `"bo1"`, `"ana2"`, `"bo2"`, `"cy0"`}
	if d := cmp.Diff(want, order); d != "" {
		t.Errorf("order (-want +got):\n%s", d)
	}
}

func TestListInPages(t *testing.T) {
	t.Parallel()
	j := newJobs(t, job.Config{Handlers: map[string]job.Handler{"work": until, "other": until}})
	var want []string
	for i := range 7 {
		kind := "work"
		if i == 3 {
			kind = "other"
		}
		id := submit(t, j, job.Request{Kind: kind}).ID
		submit(t, j, job.Request{User: "bo"})
		if kind == "work" {
			want = append([]string{id}, want...)
		}
	}
	var got []string
	before, pages := int64(0), 0
	for {
		list, next, err := j.List(t.Context(),
			job.Query{User: "ana", Kind: "work", State: job.Queued, Before: before, Most: 2})
		if err != nil {
			t.Fatal(err)
		}
		for i := range list {
			got = append(got, list[i].ID)
		}
		pages++
		if before = next; next == 0 {
			break
		}
	}
	if d := cmp.Diff(want, got); d != "" || pages != 3 {
		t.Errorf("%d pages (-want +got):\n%s", pages, d)
	}
}

// TestStartKeepsPreparedJobs: a job that is being prepared when the first jobs are done is not
// taken for one that an earlier process left.
func TestStartKeepsPreparedJobs(t *testing.T) {
	t.Parallel()
	j := newJobs(t, job.Config{Handlers: map[string]job.Handler{"work": until}})
	got := submit(t, j, job.Request{Prepare: func(context.Context, string) (job.Prepared, error) {
		start(t, j)
		await(t, j, submit(t, j, job.Request{}).ID, job.Running)
		return job.Prepared{}, nil
	}})
	await(t, j, got.ID, job.Running)
}

// TestGiveWay: a job leaves its worker to another user's when its shift is over, and to no later one of
// its own user.
func TestGiveWay(t *testing.T) {
	t.Parallel()
	began := make(chan struct{}, 10)
	ended := make(chan string, 10)
	j := newJobs(t, job.Config{Workers: 1, Shift: time.Millisecond, Handlers: map[string]job.Handler{
		"long": func(ctx context.Context, j job.Job, r *job.Report) (json.RawMessage, error) {
			if j.Attempt > 1 {
				ended <- "long"
				return nil, nil
			}
			began <- struct{}{}
			tick := time.NewTicker(time.Millisecond)
			defer tick.Stop()
			for {
				if r.GiveWay() {
					return nil, fmt.Errorf("left off: %w", job.ErrGaveWay)
				}
				select {
				case <-ctx.Done():
					return nil, context.Cause(ctx)
				case <-tick.C:
				}
			}
		},
		"work": func(_ context.Context, j job.Job, _ *job.Report) (json.RawMessage, error) {
			ended <- j.User
			return nil, nil
		},
	}})
	start(t, j)
	long := submit(t, j, job.Request{Kind: "long"})
	<-began
	later := submit(t, j, job.Request{})
	other := submit(t, j, job.Request{User: "bo"})
	for _, id := range []string{long.ID, later.ID, other.ID} {
		if got := await(t, j, id, job.Done); id == long.ID && got.Attempt != 2 {
			t.Errorf("the long job was started %d times, want 2", got.Attempt)
		}
	}
	if got := []string{<-ended, <-ended, <-ended}; !slices.Equal(got, []string{"bo", "long", "ana"}) {
		t.Errorf("ended in the order %v", got)
	}
	told := slices.DeleteFunc(kinds(t, j, "ana"), func(k string) bool { return k == job.EventProgress })
	if d := cmp.Diff([]string{
		"job_created", "job_started", "job_created", "job_interrupted", "job_started",
		"job_completed", "job_started", "job_completed",
	}, told); d != "" {
		t.Errorf("events (-want +got):\n%s", d)
	}
}
