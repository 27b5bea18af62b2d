// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package api

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math"
	"sync"
	"time"

	"github.com/coder/websocket"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/account"
	"github.com/callvet/callvet/internal/job"
)

const (
	// DefaultSockets is how many connections of a user may follow his events.
	DefaultSockets = 20
	// ticketLife is how long a ticket may be used.
	ticketLife = 30 * time.Second
	maxTickets = 10_000
	// replayBatch is how many events are read for a client at once.
	replayBatch = 256
	// maxLag is how many new events a client may be behind. A slower client gets the range of the
	// missed events, and continues with the newest keepLag.
	maxLag  = 10_000
	keepLag = 500
	// patience is how long a client may take to read a message.
	patience = 20 * time.Second
	// moment is the time slice of one connection in a round of all connections: with a thousand
	// connections each is served four times a second, a single one at once.
	moment = 250 * time.Microsecond
)

// live are the connections that follow events. Use newLive.
type live struct {
	closing chan struct{}
	once    sync.Once

	mu      sync.Mutex
	open    map[string]int // connections by user
	all     int            // connections
	total   uint64         // all connections since the start
	sockets int            // WebSockets, including those without a login yet
	left    *sync.Cond     // signals that a WebSocket has ended
	tickets map[[sha256.Size]byte]ticket
}

// ticket lets one connection in.
type ticket struct {
	by      *account.Principal
	expires time.Time
}

// NewLive makes the register of connections, without any.
func NewLive() *live {
	l := &live{closing: make(chan struct{}), open: map[string]int{}, tickets: map[[sha256.Size]byte]ticket{}}
	l.left = sync.NewCond(&l.mu)
	return l
}

// End asks all connections to end.
func (l *live) End() { l.once.Do(func() { close(l.closing) }) }

// Wait asks all connections to end, and waits until they have.
func (l *live) Wait() {
	l.End()
	l.mu.Lock()
	defer l.mu.Unlock()
	for len(l.open) > 0 || l.sockets > 0 {
		l.left.Wait()
	}
}

// join counts a WebSocket; false if the server ends.
func (l *live) join() (leave func(), ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	select {
	case <-l.closing:
		return nil, false
	default:
	}
	l.sockets++
	return func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.sockets--
		l.left.Broadcast()
	}, true
}

// count is how many WebSockets are open, and how many connections follow events.
func (l *live) count() (sockets, followers int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.sockets, l.all
}

// sendAway ends a WebSocket when the server ends; a client that reads gets the reason.
func (l *live) sendAway(ctx context.Context, c *websocket.Conn) {
	select {
	case <-l.closing:
		_ = c.Close(websocket.StatusGoingAway, "the server ends") // an error means that the client left
	case <-ctx.Done():
	}
}

// enter counts a connection of a user; false if the user has too many, or the server ends. The
// caller calls leave.
func (l *live) enter(user string, most int) (_ *slot, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	select {
	case <-l.closing:
		return nil, false
	default:
	}
	if l.open[user] >= most {
		return nil, false
	}
	l.open[user]++
	l.all++
	l.total++
	_, share := math.Modf(float64(l.total) * math.Phi) // spreads any number of them evenly
	return &slot{live: l, user: user, share: share}, true
}

// slot is the slot of a connection in the rounds of all connections.
type slot struct {
	live  *live
	user  string
	share float64 // the position of its moment in a round, from 0 to 1
}

func (s *slot) leave() {
	l := s.live
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.open[s.user]--; l.open[s.user] == 0 {
		delete(l.open, s.user)
	}
	l.all--
	l.left.Broadcast()
}

// pause waits for the moment of the connection: a round has one moment for each connection. An
// event goes to all connections of a user; if all sent it at once, the runs would wait for the
// processor.
func (s *slot) pause(ctx context.Context, now time.Time) error {
	s.live.mu.Lock()
	round := time.Duration(s.live.all) * moment
	s.live.mu.Unlock()
	at := time.Duration(now.UnixNano()) % round
	t := time.NewTimer((time.Duration(s.share*float64(round)) - at + round) % round)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// newTicket creates a ticket for by.
func (l *live) newTicket(by *account.Principal, now time.Time) (string, error) {
	b := make([]byte, 24)
	if _, err := rand.Read(b); err != nil {
		return "", fmt.Errorf("make ticket: %w", err)
	}
	text := base64.RawURLEncoding.EncodeToString(b)
	l.mu.Lock()
	defer l.mu.Unlock()
	for hash, t := range l.tickets {
		if now.After(t.expires) {
			delete(l.tickets, hash)
		}
	}
	if len(l.tickets) >= maxTickets {
		return "", fmt.Errorf("make ticket: %w: too many wait to be used", callvet.ErrLimited)
	}
	l.tickets[sha256.Sum256([]byte(text))] = ticket{by, now.Add(ticketLife)}
	return text, nil
}

// redeem uses up a ticket; nil if it is not valid.
func (l *live) redeem(text string, now time.Time) *account.Principal {
	l.mu.Lock()
	defer l.mu.Unlock()
	hash := sha256.Sum256([]byte(text))
	t, ok := l.tickets[hash]
	delete(l.tickets, hash)
	if !ok || now.After(t.expires) {
		return nil
	}
	return t.by
}

// syncMessage is the first message of a connection: the current state, so that the client need not
// ask.
type syncMessage struct {
	Type string `json:"type"`
	// Seq is the number of the newest event, First that of the oldest that is kept. Events after Since follow.
	Seq    int64     `json:"seq"`
	First  int64     `json:"first"`
	Since  int64     `json:"since"`
	Active []job.Job `json:"active_jobs"`
	Recent []job.Job `json:"recent_jobs"`
}

// skippedMessage reports that events were left out, with the current state of the jobs.
type skippedMessage struct {
	Type   string    `json:"type"`
	From   int64     `json:"from"`
	To     int64     `json:"to"`
	Reason string    `json:"reason"`
	Active []job.Job `json:"active_jobs"`
}

// follower reads the events of a user for one client.
type follower struct {
	s        *Server
	user     string
	slot     *slot
	watch    *job.Watcher
	pos      int64 // the event that was sent last
	promised int64 // the newest event when it connected: all up to it are sent
}

// follow begins to follow the events of the user of a slot after since; nil: with the next one.
func (s *Server) follow(ctx context.Context, at *slot, since *int64) (f *follower, hello []byte, err error) {
	f = &follower{s: s, user: at.user, slot: at, watch: s.Jobs.Watch(at.user)}
	hello, err = f.hello(ctx, since)
	if err != nil {
		f.watch.Close()
		return nil, nil, err
	}
	return f, hello, nil
}

func (f *follower) hello(ctx context.Context, since *int64) ([]byte, error) {
	first, last, err := f.s.Jobs.Range(ctx, f.user) // before the jobs: what happens meanwhile is sent
	if err != nil {
		return nil, err
	}
	m := syncMessage{Type: "sync", Seq: last, First: first, Since: last}
	if since != nil {
		m.Since = min(max(*since, 0), last)
	}
	f.pos, f.promised = m.Since, last
	if m.Active, err = f.s.Jobs.Active(ctx, f.user); err != nil {
		return nil, err
	}
	if m.Recent, _, err = f.s.Jobs.List(ctx, job.Query{User: f.user, Most: 10}); err != nil {
		return nil, err
	}
	return json.Marshal(m)
}

// next waits for events to send. skipped, when it is not nil, is sent before them.
func (f *follower) next(ctx context.Context) (list []job.Event, skipped []byte, err error) {
	if list, err = f.watch.Next(ctx, f.pos, replayBatch); err != nil {
		return nil, nil, err
	}
	if len(list) < replayBatch { // otherwise there is much to send
		if err := f.slot.pause(ctx, f.s.Config.Now()); err != nil {
			return nil, nil, err
		}
		if list, err = f.watch.Read(ctx, f.pos, replayBatch); err != nil || len(list) == 0 {
			return nil, nil, err
		}
	}
	if gap := list[0].Seq - f.pos - 1; gap > 0 {
		if skipped, err = f.skip(ctx, f.pos+1, list[0].Seq-1, "removed"); err != nil {
			return nil, nil, err
		}
	}
	f.pos = list[len(list)-1].Seq
	if len(list) < replayBatch || f.pos < f.promised {
		return list, skipped, nil
	}
	_, last, err := f.s.Jobs.Range(ctx, f.user)
	if err != nil || last-f.pos <= maxLag {
		return list, skipped, err
	}
	skipped, err = f.skip(ctx, list[0].Seq, last-keepLag, "slow")
	f.pos = last - keepLag
	return nil, skipped, err
}

func (f *follower) skip(ctx context.Context, from, to int64, why string) ([]byte, error) {
	active, err := f.s.Jobs.Active(ctx, f.user)
	if err != nil {
		return nil, err
	}
	return json.Marshal(skippedMessage{Type: "events_skipped", From: from, To: to, Reason: why, Active: active})
}
