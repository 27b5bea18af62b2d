// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package job

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/callvet/callvet/internal/store/rows"
)

// News is an event to store: Data is a JSON object, or a value that is encoded as one; nil: an
// empty object.
type News struct {
	Kind string
	Data any
}

// Kinds of events of this package; handlers add others.
const (
	EventCreated     = "job_created"
	EventStarted     = "job_started"
	EventProgress    = "job_progress"
	EventCompleted   = "job_completed"
	EventFailed      = "job_failed"
	EventCancelled   = "job_cancelled"
	EventInterrupted = "job_interrupted"
)

// Event is a stored event, with its number among the events of the user.
type Event struct {
	Seq       int64
	Job, Kind string
	At        time.Time
	text      []byte
}

// JSON is the event as one object: type, seq, at, job_id, and the event's own members. It is
// shared: do not change it.
func (e *Event) JSON() []byte { return e.text }

// MarshalJSON returns JSON.
func (e Event) MarshalJSON() ([]byte, error) { return e.text, nil }

// head are the members of every event.
type head struct {
	Type string    `json:"type"`
	Seq  int64     `json:"seq"`
	At   time.Time `json:"at"`
	Job  string    `json:"job_id,omitempty"`
}

func eventOf(r *rows.Event) (Event, error) {
	e := Event{Seq: r.Seq, Job: r.JobID, Kind: r.Kind, At: at(r.At)}
	b, err := json.Marshal(head{Type: r.Kind, Seq: r.Seq, At: e.At, Job: r.JobID})
	if err != nil {
		return e, fmt.Errorf("write event: %w", err)
	}
	if len(r.Payload) > len("{}") { // both are objects
		b = append(append(b[:len(b)-1], ','), r.Payload[1:]...)
	}
	e.text = b
	return e, nil
}

// storeEvents stores events of a user in the transaction of q, numbered.
func storeEvents(ctx context.Context, q *rows.Queries, user, job string, now time.Time, news ...News) error {
	if len(news) == 0 {
		return nil
	}
	last, err := q.NumberEvents(ctx, rows.NumberEventsParams{UserID: user, More: int64(len(news))})
	if err != nil {
		return err
	}
	for i, n := range news {
		payload := []byte("{}")
		if n.Data != nil {
			if payload, err = json.Marshal(n.Data); err != nil {
				return fmt.Errorf("write event %s: %w", n.Kind, err)
			}
		}
		if err := q.AddEvent(ctx,
			rows.AddEventParams{
				UserID: user, Seq: last - int64(len(news)-1-i), JobID: job, Kind: n.Kind, At: ms(now),
				Payload: payload,
			}); err != nil {
			return err
		}
	}
	return nil
}

const (
	// KeepEvents is how long events are kept. Older ones are removed.
	KeepEvents = 7 * 24 * time.Hour
	// MostEvents is how many of the newest events of a user are kept.
	MostEvents = 50_000
	// pruneBatch bounds what one transaction removes.
	pruneBatch = 2_000
)

// prune removes events that are too old or too many, a bounded number at a time.
func (j *Jobs) prune(ctx context.Context) error {
	feeds, err := j.cfg.Store.Rows().Feeds(ctx)
	if err != nil {
		return fmt.Errorf("remove old events: %w", err)
	}
	for _, f := range feeds {
		for {
			more := false
			if err := j.cfg.Store.Change(ctx, "remove old events", func(q *rows.Queries) error {
				upto, err := q.LastOldEvent(ctx,
					rows.LastOldEventParams{
						UserID: f.UserID, Limit: pruneBatch,
						At: ms(j.cfg.Now().Add(-j.cfg.KeepEvents)),
					})
				if err != nil {
					return err
				}
				upto = max(upto, min(f.Last-j.cfg.MostEvents, f.First-1+pruneBatch))
				if upto < f.First {
					return nil
				}
				more, f.First = true, upto+1
				if err := q.DropEvents(ctx, rows.DropEventsParams{UserID: f.UserID, Seq: upto}); err != nil {
					return err
				}
				return q.FeedFrom(ctx, rows.FeedFromParams{First: f.First, UserID: f.UserID})
			}); err != nil {
				return err
			}
			if !more {
				break
			}
		}
	}
	return nil
}
