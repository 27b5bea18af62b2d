// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package job

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"sync"
	"time"

	"github.com/riverqueue/river"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/store"
	"github.com/callvet/callvet/internal/store/rows"
	"github.com/callvet/callvet/internal/sys"
)

// Handler does a job of its kind, and returns the detail of the last event: any JSON, or nil. ctx
// ends when the job is cancelled, times out or is returned to the queue because the server ends;
// the handler must then return soon, with any error. An interrupted job is given to it again, with
// its stored Note.
type Handler func(ctx context.Context, j Job, r *Report) (detail json.RawMessage, err error)

// Defaults of Config.
const (
	DefaultWorkers = 8
	DefaultPerUser = 2
	DefaultTimeout = 24 * time.Hour
	DefaultShift   = 30 * time.Second
	// DefaultPartLost is far longer than the interval between two reports of a living worker.
	DefaultPartLost = 30 * time.Second
	// MaxIdle is how often a job may be interrupted without any progress before it stays
	// interrupted.
	MaxIdle = 10
)

// Config is what Jobs may use. Store is required.
type Config struct {
	Store *store.DB
	// Handlers carry out jobs, by kind.
	Handlers map[string]Handler
	// Parts carry out parts of jobs, by the kind of the job. Kinds without one have no parts.
	Parts map[string]PartHandler
	// Workers is how many jobs run at once, of all users; PerUser how many of a user without an own
	// limit (users.max_jobs). 0: DefaultWorkers, DefaultPerUser.
	Workers, PerUser int
	// Quota bounds the jobs of a user that are not over.
	Quota store.Quota
	// Timeout is the time limit of a job without its own; 0: DefaultTimeout.
	Timeout time.Duration
	// Shift is how long a job works before it gives way to a waiting one; 0: DefaultShift.
	Shift time.Duration
	// Every is how often the progress of a job is stored at most; 0: half a second.
	Every time.Duration
	// PartLost is how long the worker of a part may be silent until the part counts as lost; 0:
	// DefaultPartLost.
	PartLost time.Duration
	// KeepEvents and MostEvents: 0 means the constants of these names.
	KeepEvents time.Duration
	MostEvents int64
	// Hide masks secrets in the errors of jobs; nil: no masking.
	Hide func(string) string
	// ReadOnly opens the queue only for reading: another process may carry out its jobs.
	ReadOnly bool
	// Log gets errors; nil drops them.
	Log *slog.Logger
	// Now is the clock, Rand makes ids; nil: those of the system.
	Now  func() time.Time
	Rand io.Reader
}

// Jobs queues jobs and runs them. It is safe for concurrent use. One process carries out the jobs
// of a store.
type Jobs struct {
	cfg   Config
	log   *slog.Logger
	river *river.Client[*sql.Tx]
	hub   hub

	mu      sync.Mutex
	closing bool                               // no further job starts
	running map[string]context.CancelCauseFunc // by job
	// requests with an idempotency key that are being processed; closed at the end
	keys map[string]chan struct{}
}

// New opens the queue of a store, and queues again the jobs that an earlier process was running. No
// job starts before Run. With ReadOnly it changes nothing, and jobs are only listed.
func New(ctx context.Context, cfg Config) (*Jobs, error) {
	if cfg.Store == nil {
		return nil, errors.New("open jobs: they need a store")
	}
	if cfg.Workers <= 0 {
		cfg.Workers = DefaultWorkers
	}
	if cfg.PerUser <= 0 {
		cfg.PerUser = DefaultPerUser
	}
	if cfg.Timeout <= 0 {
		cfg.Timeout = DefaultTimeout
	}
	if cfg.Shift <= 0 {
		cfg.Shift = DefaultShift
	}
	if cfg.Every <= 0 {
		cfg.Every = 500 * time.Millisecond
	}
	if cfg.PartLost <= 0 {
		cfg.PartLost = DefaultPartLost
	}
	if cfg.KeepEvents <= 0 {
		cfg.KeepEvents = KeepEvents
	}
	if cfg.MostEvents <= 0 {
		cfg.MostEvents = MostEvents
	}
	if cfg.Hide == nil {
		cfg.Hide = func(s string) string { return s }
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	j := &Jobs{
		cfg: cfg, log: cfg.Log, hub: hub{feeds: map[string]*feed{}},
		running: map[string]context.CancelCauseFunc{}, keys: map[string]chan struct{}{},
	}
	if j.log == nil {
		j.log = slog.New(slog.DiscardHandler)
	}
	if cfg.ReadOnly {
		return j, nil
	}
	if err := j.openRiver(ctx); err != nil {
		return nil, fmt.Errorf("open jobs: %w", err)
	}
	// Nothing is submitted yet: pending jobs are from an earlier process.
	if err := j.recover(ctx); err != nil {
		return nil, err
	}
	return j, nil
}

// Request is a new job for Submit.
type Request struct {
	User, Kind string
	// Priority puts a job before the jobs of all users with a lower priority.
	Priority int
	// Key, when it is not "", makes a second request of the user with the same key return the first
	// job.
	Key string
	// Timeout is how long the job may run; 0: Config.Timeout.
	Timeout time.Duration
	// Prepared is the work of the job. Prepare, if set, returns it when the job has its id; if it
	// fails, Submit returns its error and there is no job.
	Prepared
	Prepare func(ctx context.Context, id string) (Prepared, error)
}

// Prepared is the task of a job.
type Prepared struct {
	// Request is for the handler: JSON.
	Request json.RawMessage
	// ResultRef names the result of the job, if known in advance.
	ResultRef string
	// Total is how much there is to do; 0: not known.
	Total int64
	// Also, when it is set, stores what belongs to the job in the transaction that queues it.
	Also func(ctx context.Context, q *rows.Queries, id string) error
	// News are stored after the event of the job's creation.
	News []News
}

// Submit queues a job. isNew is false if it returns an earlier job of the same key. The error wraps
// callvet.ErrInvalid for a kind without a handler, callvet.ErrConflict for a job that was cancelled
// while it was prepared, and callvet.ErrUnavailable while the server ends.
func (j *Jobs) Submit(ctx context.Context, req Request) (_ Job, isNew bool, err error) {
	if j.cfg.Handlers[req.Kind] == nil {
		return Job{}, false, fmt.Errorf("take job: %w: no worker does jobs of kind %q", callvet.ErrInvalid, req.Kind)
	}
	done, err := j.alone(ctx, req.User, req.Key)
	if err != nil {
		return Job{}, false, err
	}
	defer done()
	known, err := j.byKey(ctx, &req)
	if err != nil {
		return Job{}, false, err
	}
	if known != nil {
		return jobOf(known), false, nil
	}
	id, err := store.NewID(j.cfg.Rand, "job")
	if err != nil {
		return Job{}, false, err
	}
	r := rows.Job{
		ID: id, UserID: req.User, Kind: req.Kind, State: string(Pending), Priority: int64(req.Priority),
		Request: []byte("{}"), Detail: []byte{}, Error: []byte{}, Note: []byte{},
		Timeout: req.Timeout.Milliseconds(), Created: ms(j.cfg.Now()), Idempotency: req.Key,
	}
	if r.Timeout <= 0 {
		r.Timeout = j.cfg.Timeout.Milliseconds()
	}
	p := req.Prepared
	if req.Prepare != nil {
		if err := j.cfg.Store.Change(ctx, "take job",
			func(q *rows.Queries) error { return j.add(ctx, q, &r) }); err != nil {
			return Job{}, false, err
		}
		if p, err = j.prepare(ctx, id, req.Prepare); err != nil {
			late := context.WithoutCancel(ctx)
			return Job{}, false, errors.Join(err, j.cfg.Store.Change(late, "take job", func(q *rows.Queries) error {
				_, err := q.DropJob(late, id)
				return err
			}))
		}
	}
	ctx = context.WithoutCancel(ctx) // do not lose the prepared work
	err = j.change(ctx, "take job", func(tx *sql.Tx, q *rows.Queries, woken *[]string) error {
		if req.Prepare == nil {
			if err := j.add(ctx, q, &r); err != nil {
				return err
			}
		} else if r, err = q.Job(ctx, id); err != nil {
			return err
		}
		if len(p.Request) > 0 {
			r.Request = p.Request
		}
		r.ResultRef, r.Total = p.ResultRef, p.Total
		if p.Also != nil {
			if err := p.Also(ctx, q, id); err != nil {
				return err
			}
		}
		*woken = append(*woken, r.UserID)
		return j.enqueue(ctx, tx, q, &r, p.News...)
	})
	return jobOf(&r), err == nil, err
}

// byKey is the job that an earlier request with the same key made; nil if there is none.
func (j *Jobs) byKey(ctx context.Context, req *Request) (*rows.Job, error) {
	if req.Key == "" {
		return nil, nil
	}
	known, err := j.cfg.Store.Rows().JobByKey(ctx, rows.JobByKeyParams{UserID: req.User, Idempotency: req.Key})
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("take job: %w", err)
	case known.Kind != req.Kind:
		return nil, fmt.Errorf("take job: %w: the key of the request was used for job %s, which does something else",
			callvet.ErrConflict, known.ID)
	}
	return &known, nil
}

// add stores a new job in the last place, if its user has room for it.
func (j *Jobs) add(ctx context.Context, q *rows.Queries, r *rows.Job) error {
	if err := j.cfg.Quota.RoomForJob(ctx, q, r.UserID); err != nil {
		return err
	}
	last, err := q.LastPlace(ctx)
	if err != nil {
		return err
	}
	r.Place = last + 1
	return q.AddJob(ctx, rows.AddJobParams{
		ID: r.ID, UserID: r.UserID, Kind: r.Kind, State: r.State, Priority: r.Priority, Place: r.Place,
		Request: r.Request, Detail: r.Detail, Error: r.Error, Note: r.Note,
		Timeout: r.Timeout, Created: r.Created, Idempotency: r.Idempotency,
	})
}

// prepare calls the function that prepares a job. A panic of it is an error, so that the job does
// not stay.
func (j *Jobs) prepare(ctx context.Context, id string,
	do func(context.Context, string) (Prepared, error),
) (p Prepared, err error) {
	defer j.caught(ctx, "what prepares a job", id, &err)
	return do(ctx, id)
}

// caught converts a panic of a job's code to an error. Call it with defer.
func (j *Jobs) caught(ctx context.Context, what, id string, err *error) {
	if bug := sys.PanicOf(recover()); bug != nil {
		j.log.ErrorContext(ctx, what+" panicked", "job", id, "panic", bug.Error(), "stack", string(bug.Stack))
		*err = fmt.Errorf("a bug ended %s, the log of the server has more about it: %w", what, bug)
	}
}

// alone waits until no other request with the key of the user is being processed.
func (j *Jobs) alone(ctx context.Context, user, key string) (done func(), err error) {
	if key == "" {
		return func() {}, nil
	}
	full := user + "\x00" + key
	for {
		j.mu.Lock()
		other := j.keys[full]
		if other == nil {
			mine := make(chan struct{})
			j.keys[full] = mine
			j.mu.Unlock()
			return func() {
				j.mu.Lock()
				delete(j.keys, full)
				j.mu.Unlock()
				close(mine)
			}, nil
		}
		j.mu.Unlock()
		select {
		case <-other:
		case <-ctx.Done():
			return nil, fmt.Errorf("take job: %w", ctx.Err())
		}
	}
}

// change runs f in one transaction, and then wakes the watchers of the users with new events.
func (j *Jobs) change(ctx context.Context, verb string,
	f func(tx *sql.Tx, q *rows.Queries, woken *[]string) error,
) error {
	var woken []string
	err := j.cfg.Store.ChangeTx(ctx, verb, func(tx *sql.Tx, q *rows.Queries) error { return f(tx, q, &woken) })
	if err == nil {
		j.hub.wake(woken...)
	}
	return err
}

// Job returns a job. The error wraps callvet.ErrNotFound.
func (j *Jobs) Job(ctx context.Context, id string) (Job, error) {
	r, err := jobRow(ctx, j.cfg.Store.Rows(), id)
	if err != nil {
		return Job{}, err
	}
	return jobOf(&r), nil
}

// Query chooses jobs. The zero value means all.
type Query struct {
	User, Kind string
	State      State
	// Before is next of an earlier List; 0: from the newest.
	Before int64
	// Most is how many are returned; 0: 50.
	Most int
}

// List returns jobs, the newest first. next continues with the older ones; 0: there are none.
func (j *Jobs) List(ctx context.Context, query Query) (list []Job, next int64, err error) {
	p := rows.ListJobsParams{
		UserID: query.User, Kind: query.Kind, State: string(query.State), Before: query.Before,
		Most: int32(query.Most),
	}
	if p.Before <= 0 {
		p.Before = 1 << 62
	}
	if p.Most <= 0 {
		p.Most = 50
	}
	p.Most++
	stored, err := j.cfg.Store.Rows().ListJobs(ctx, p)
	if err != nil {
		return nil, 0, fmt.Errorf("list jobs: %w", err)
	}
	list = jobsOf(stored)
	if len(list) == int(p.Most) {
		list = list[:len(list)-1]
		next = list[len(list)-1].place
	}
	return list, next, nil
}

// Active returns the jobs of a user that have not ended, the oldest first.
func (j *Jobs) Active(ctx context.Context, user string) ([]Job, error) {
	stored, err := j.cfg.Store.Rows().ActiveJobs(ctx, user)
	if err != nil {
		return nil, fmt.Errorf("list jobs: %w", err)
	}
	return jobsOf(stored), nil
}

// OfResult returns the job that makes, or made, the result with the name. The error wraps
// callvet.ErrNotFound.
func (j *Jobs) OfResult(ctx context.Context, ref string) (Job, error) {
	r, err := j.cfg.Store.Rows().JobOfResult(ctx, ref)
	if errors.Is(err, sql.ErrNoRows) || ref == "" {
		return Job{}, fmt.Errorf("job of %q: %w", ref, callvet.ErrNotFound)
	}
	if err != nil {
		return Job{}, fmt.Errorf("read job: %w", err)
	}
	return jobOf(&r), nil
}

// Cancel ends a job: a waiting one immediately, a running one when its handler has returned. It
// does not wait for that. A job that has ended stays unchanged, without an error.
func (j *Jobs) Cancel(ctx context.Context, id string) (Job, error) {
	var r rows.Job
	err := j.change(ctx, "cancel job", func(tx *sql.Tx, q *rows.Queries, woken *[]string) (err error) {
		r, err = jobRow(ctx, q, id)
		if err != nil || r.Finished != 0 {
			return err
		}
		if err := q.AskCancel(ctx, id); err != nil {
			return err
		}
		r.Cancel = true
		if State(r.State) == Running {
			return nil
		}
		*woken = append(*woken, r.UserID)
		if err := j.end(ctx, q, &r, Cancelled); err != nil {
			return err
		}
		return j.grant(ctx, tx, q)
	})
	if err != nil {
		return Job{}, err
	}
	if State(r.State) == Running {
		j.mu.Lock()
		cancel := j.running[id]
		j.mu.Unlock()
		if cancel != nil {
			cancel(ErrCancelled)
		}
	}
	return jobOf(&r), nil
}

// Resume queues a failed job again: it continues from its stored state, with its full time limit.
// The error wraps callvet.ErrConflict if it did not fail.
func (j *Jobs) Resume(ctx context.Context, id string) (Job, error) {
	var r rows.Job
	err := j.change(ctx, "resume job", func(tx *sql.Tx, q *rows.Queries, woken *[]string) (err error) {
		r, err = jobRow(ctx, q, id)
		if err != nil {
			return err
		}
		if State(r.State) != Failed {
			return fmt.Errorf("resume job %s: %w: it is %s, and only one that failed is resumed", id,
				callvet.ErrConflict, r.State)
		}
		if err := j.cfg.Quota.RoomForJob(ctx, q, r.UserID); err != nil {
			return err
		}
		r.Ran, r.Error = 0, []byte{}
		*woken = append(*woken, r.UserID)
		return j.enqueue(ctx, tx, q, &r)
	})
	return jobOf(&r), err
}

// enqueue moves a job into the queue, stores its events, and assigns free slots.
func (j *Jobs) enqueue(ctx context.Context, tx *sql.Tx, q *rows.Queries, r *rows.Job, more ...News) error {
	if err := move(ctx, q, r, Queued, j.cfg.Now()); err != nil {
		return err
	}
	created := News{EventCreated, map[string]any{
		"job_type": r.Kind, "status": r.State, "created_at": at(r.Created), "result_ref": r.ResultRef,
	}}
	if err := storeEvents(ctx, q, r.UserID, r.ID, j.cfg.Now(), append([]News{created}, more...)...); err != nil {
		return err
	}
	return j.grant(ctx, tx, q)
}

// jobRow is a stored job; the error wraps callvet.ErrNotFound if there is none.
func jobRow(ctx context.Context, q *rows.Queries, id string) (rows.Job, error) {
	r, err := q.Job(ctx, id)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		err = fmt.Errorf("job %q: %w", id, callvet.ErrNotFound)
	case err != nil:
		err = fmt.Errorf("read job: %w", err)
	}
	return r, err
}

// end moves a job to a final state, or back into the queue, stores the event and frees its slot,
// which grant gives to the next job.
func (j *Jobs) end(ctx context.Context, q *rows.Queries, r *rows.Job, to State) error {
	if err := move(ctx, q, r, to, j.cfg.Now()); err != nil {
		return err
	}
	if err := q.FreeSlot(ctx, r.ID); err != nil {
		return err
	}
	news := News{}
	switch to {
	case Done:
		news = News{EventCompleted, map[string]any{"result_ref": r.ResultRef}}
	case Failed:
		news = News{EventFailed, map[string]any{"error": string(r.Error), "result_ref": r.ResultRef}}
	case Cancelled:
		news = News{EventCancelled, map[string]any{"result_ref": r.ResultRef}}
	case Interrupted:
		news = News{
			EventInterrupted,
			map[string]any{"attempt": r.Attempt, "resumes": r.Finished == 0, "error": string(r.Error)},
		}
	case Queued:
		news = News{EventInterrupted, map[string]any{"attempt": r.Attempt, "resumes": true}}
	case Pending, Running:
		return fmt.Errorf("job %s does not end as %s: %w", r.ID, to, callvet.ErrInvalid)
	}
	return storeEvents(ctx, q, r.UserID, r.ID, j.cfg.Now(), news)
}
