// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package job

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/callvet/callvet/internal/store/rows"
)

// keptTail is how many of the newest events of a user are in memory while there are watchers, so
// that the store is read once for all of them.
const keptTail = 1024

// hub wakes the watchers of users' events.
type hub struct {
	mu    sync.Mutex
	feeds map[string]*feed
}

// feed are the events of a user with watchers.
type feed struct {
	watchers int // of hub.mu

	mu      sync.Mutex
	changed chan struct{} // closed when there may be more
	tail    []Event       // the newest ones that were read, without gaps
	top     int64         // there is no newer event, unless dirty
	dirty   bool
}

// wake notifies the watchers of users that there are more events.
func (h *hub) wake(users ...string) {
	for _, u := range users {
		h.mu.Lock()
		f := h.feeds[u]
		h.mu.Unlock()
		if f == nil {
			continue
		}
		f.mu.Lock()
		f.dirty = true
		close(f.changed)
		f.changed = make(chan struct{})
		f.mu.Unlock()
	}
}

// Watcher reads the events of a user as they come. Close it.
type Watcher struct {
	jobs *Jobs
	user string
	feed *feed
}

// Watch watches the events of a user.
func (j *Jobs) Watch(user string) *Watcher {
	h := &j.hub
	h.mu.Lock()
	defer h.mu.Unlock()
	f := h.feeds[user]
	if f == nil {
		f = &feed{changed: make(chan struct{}), dirty: true}
		h.feeds[user] = f
	}
	f.watchers++
	return &Watcher{jobs: j, user: user, feed: f}
}

// Close ends the watching.
func (w *Watcher) Close() {
	h := &w.jobs.hub
	h.mu.Lock()
	defer h.mu.Unlock()
	if w.feed.watchers--; w.feed.watchers == 0 {
		delete(h.feeds, w.user)
	}
}

// Next waits for events after a number and returns up to most of them, in order. If older ones were
// removed it begins with the first remaining one.
func (w *Watcher) Next(ctx context.Context, after int64, most int) ([]Event, error) {
	for {
		w.feed.mu.Lock()
		changed := w.feed.changed
		w.feed.mu.Unlock()
		list, err := w.Read(ctx, after, most)
		if err != nil || len(list) > 0 {
			return list, err
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// Read is Next without waiting; it may return none.
func (w *Watcher) Read(ctx context.Context, after int64, most int) ([]Event, error) {
	f := w.feed
	f.mu.Lock()
	defer f.mu.Unlock()
	n := len(f.tail)
	switch {
	case n > 0 && after < f.tail[0].Seq-1: // each watcher reads old events itself
		f.mu.Unlock()
		defer f.mu.Lock()
		return w.jobs.Events(ctx, w.user, after, most)
	case n > 0 && after < f.tail[n-1].Seq:
		from := f.tail[after-f.tail[0].Seq+1:]
		return from[:min(most, len(from))], nil
	case !f.dirty && after >= f.top:
		return nil, nil
	}
	list, err := w.jobs.Events(ctx, w.user, after, keptTail/2)
	if err != nil {
		return nil, err
	}
	if len(list) < keptTail/2 {
		f.dirty = false
	}
	if len(list) == 0 {
		f.top = max(f.top, after)
		return nil, nil
	}
	if n == 0 || after != f.tail[n-1].Seq {
		f.tail = nil
	}
	f.tail = append(f.tail, list...)
	if over := len(f.tail) - keptTail; over > 0 {
		f.tail = append([]Event(nil), f.tail[over:]...)
	}
	f.top = max(f.top, list[len(list)-1].Seq)
	return list[:min(most, len(list))], nil
}

// Last returns the number of the newest known event; 0: none.
func (w *Watcher) Last(ctx context.Context) (int64, error) {
	_, last, err := w.jobs.Range(ctx, w.user)
	return last, err
}

// Events returns up to most events of a user after a number, in order.
func (j *Jobs) Events(ctx context.Context, user string, after int64, most int) ([]Event, error) {
	stored, err := j.cfg.Store.Rows().EventsAfter(ctx,
		rows.EventsAfterParams{UserID: user, Seq: after, Limit: int32(min(max(most, 0), 10_000))})
	if err != nil {
		return nil, fmt.Errorf("read events: %w", err)
	}
	return eventsOf(stored)
}

func eventsOf(stored []rows.Event) (out []Event, err error) {
	out = make([]Event, len(stored))
	for i := range stored {
		if out[i], err = eventOf(&stored[i]); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// EventsOf returns up to most of the newest events of a job, in order.
func (j *Jobs) EventsOf(ctx context.Context, id string, most int) ([]Event, error) {
	stored, err := j.cfg.Store.Rows().JobEvents(ctx,
		rows.JobEventsParams{JobID: id, Limit: int32(min(max(most, 0), 10_000))})
	if err != nil {
		return nil, fmt.Errorf("read events: %w", err)
	}
	slices.Reverse(stored)
	return eventsOf(stored)
}

// Range returns the numbers of the first and the last stored event of a user; 1 and 0 without
// events.
func (j *Jobs) Range(ctx context.Context, user string) (first, last int64, err error) {
	f, err := j.cfg.Store.Rows().Feed(ctx, user)
	if errors.Is(err, sql.ErrNoRows) {
		return 1, 0, nil
	}
	if err != nil {
		return 0, 0, fmt.Errorf("read events: %w", err)
	}
	return f.First, f.Last, nil
}
