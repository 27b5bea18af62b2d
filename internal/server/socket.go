// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package server

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/coder/websocket"

	"github.com/callvet/callvet/internal/account"
	"github.com/callvet/callvet/internal/job"
	"github.com/callvet/callvet/internal/parallel"
	"github.com/callvet/callvet/internal/report/plain"
)

const (
	// maxMessage bounds what a client sends, in bytes; maxMessages how many it sends in messageSpan.
	maxMessage  = 4 << 10
	maxMessages = 100
	messageSpan = 10 * time.Second
	// pingEvery is how often a client is asked whether it is there.
	pingEvery = 30 * time.Second
	// ticketWait is how long a client without a login has to send its ticket.
	ticketWait = 5 * time.Second
)

// Why a socket is closed, beside what the protocol says itself.
const (
	closeLogin   websocket.StatusCode = 4001
	closeTooMany websocket.StatusCode = 4008
)

// incoming is what a client may send.
type incoming struct {
	Type   string `json:"type"`
	Ticket string `json:"ticket"`
	JobID  string `json:"job_id"`
}

// outgoing answers a client.
type outgoing struct {
	Type   string `json:"type"`
	JobID  string `json:"job_id,omitempty"`
	Status string `json:"status,omitempty"`
	Detail string `json:"detail,omitempty"`
}

// socket follows the events of who is logged in. The login is the cookie, with an Origin that is the
// server's, or a token; or else the first message is a ticket. None of them is ever in the address.
func (s *Server) socket(w http.ResponseWriter, r *http.Request) {
	by, err := s.cfg.Identify(w, r)
	if err != nil &&
		!(errors.Is(err, ErrNoLogin) && r.Header.Get("Upgrade") != "" && r.Header.Get("Authorization") == "") {
		p := s.problem(r.Context(), err)
		http.Error(w, p.Error(), p.GetStatus())
		return
	}
	var since *int64
	if text := r.URL.Query().Get("since"); text != "" {
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil || n < 0 {
			http.Error(w, "since: it is the number of an event", http.StatusUnprocessableEntity)
			return
		}
		since = &n
	}
	wire := &corkable{ResponseWriter: w}
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	r = r.WithContext(ctx)
	sent := &frames{tooMany: cancel}
	c, err := websocket.Accept(wire, r, &websocket.AcceptOptions{ // which refuses the Origin of another site
		OnPingReceived: func(context.Context, []byte) bool { return sent.count() },
		OnPongReceived: func(context.Context, []byte) { sent.count() },
	})
	if err != nil {
		return // it has answered
	}
	defer func() { _ = c.CloseNow() }() // where Close was not reached
	leave, ok := s.live.join()
	if !ok {
		_ = c.Close(websocket.StatusGoingAway, "the server ends")
		return
	}
	defer leave()
	c.SetReadLimit(maxMessage)
	code, why := s.serveSocket(c, wire.conn, r, by, since, sent)
	if sent.over() {
		code, why = websocket.StatusPolicyViolation, "too many messages"
	}
	_ = c.Close(code, why) // who went away hears nothing
}

// frames counts what a client sends, pings and pongs among it.
type frames struct {
	tooMany func() // is called when there are more than maxMessages in a span

	mu    sync.Mutex
	n     int
	began time.Time
	ended bool
}

// count counts one frame; it is false where there are too many.
func (f *frames) count() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if now := time.Now(); now.Sub(f.began) > messageSpan {
		f.n, f.began = 0, now
	}
	if f.n++; f.n > maxMessages && !f.ended {
		f.ended = true
		f.tooMany()
	}
	return !f.ended
}

// over reports whether there were too many.
func (f *frames) over() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.ended
}

// serveSocket follows for one client until it goes away, or gives why it is sent away.
func (s *Server) serveSocket(c *websocket.Conn, wire *cork, r *http.Request, by *account.Principal, since *int64,
	sent *frames,
) (websocket.StatusCode, string) {
	ctx, cancel := context.WithCancel(r.Context())
	var group parallel.Group
	defer group.Wait()
	defer cancel()
	group.Go(func() { defer cancel(); s.live.sendAway(ctx, c) })
	login := s.loginOf(r, nil)
	if by == nil {
		wait, stop := context.WithTimeout(ctx, ticketWait)
		m, err := read(wait, c)
		stop()
		if err == nil && m.Type == "ticket" {
			by = s.live.redeem(m.Ticket, s.cfg.Now())
		}
		if by == nil {
			return closeLogin, "log in first, or send a ticket: POST /api/ws-ticket"
		}
		login = s.loginOf(r, by)
	}
	if !by.Allows(account.ScopeRead) {
		return closeLogin, "the token is not for reading"
	}
	info := about(r.Context())
	info.user, info.token = by.User, by.Token
	seat, ok := s.live.enter(by.User, s.sockets())
	if !ok {
		return closeTooMany, "too many connections of this user"
	}
	defer seat.leave()
	f, hello, err := s.follow(ctx, seat, since)
	if err != nil {
		return websocket.StatusInternalError, "the events cannot be read"
	}
	defer f.watch.Close()
	k := &link{s: s, c: c, wire: wire, login: login, code: websocket.StatusNormalClosure}
	k.stop = cancel
	group.Go(func() { defer cancel(); k.listen(ctx, sent) })
	group.Go(func() { defer cancel(); k.ping(ctx) })
	func() {
		defer cancel()
		if k.send(ctx, hello) == nil {
			k.feed(ctx, f)
		}
	}()
	group.Wait()
	return k.code, k.why
}

// link is one socket that is open.
type link struct {
	s     *Server
	c     *websocket.Conn
	wire  *cork // below c
	login *login
	stop  func()
	code  websocket.StatusCode // of listen, which ends last
	why   string
}

func read(ctx context.Context, c *websocket.Conn) (m incoming, err error) {
	_, b, err := c.Read(ctx)
	if err == nil {
		err = json.Unmarshal(b, &m)
	}
	return m, err
}

// send ends by itself: what is below has a deadline, and is closed when listen ends.
func (k *link) send(ctx context.Context, b []byte) error {
	return k.c.Write(context.WithoutCancel(ctx), websocket.MessageText, b)
}

func (k *link) answer(ctx context.Context, m outgoing) {
	if b, err := json.Marshal(m); err == nil {
		_ = k.send(ctx, b) // who does not read is found by feed and ping
	}
}

// feed sends events as they come.
func (k *link) feed(ctx context.Context, f *follower) {
	for {
		list, skipped, err := f.next(ctx)
		if err != nil {
			return
		}
		if k.gone(ctx) || k.sendAll(ctx, skipped, list) != nil {
			return
		}
	}
}

// sendAll sends messages in as few pieces as they need.
func (k *link) sendAll(ctx context.Context, skipped []byte, list []job.Event) (err error) {
	k.wire.hold()
	defer func() { err = errors.Join(err, k.wire.let()) }()
	if skipped != nil {
		if err := k.send(ctx, skipped); err != nil {
			return err
		}
	}
	for i := range list {
		if err := k.send(ctx, list[i].JSON()); err != nil {
			return err
		}
	}
	return nil
}

// listen takes what the client sends.
func (k *link) listen(ctx context.Context, sent *frames) {
	for {
		m, err := read(ctx, k.c)
		var bad *json.SyntaxError
		switch {
		case errors.As(err, &bad):
			k.answer(ctx, outgoing{Type: "error", Detail: "a message is an object of JSON with a type"})
		case err != nil:
			return
		}
		if !sent.count() {
			return
		}
		switch {
		case err != nil:
		case m.Type == "ping":
			k.answer(ctx, outgoing{Type: "pong"})
		case m.Type == "cancel":
			k.answer(ctx, k.cancel(ctx, m.JobID))
		default:
			k.answer(ctx, outgoing{Type: "error", Detail: "a message has the type ping or cancel"})
		}
	}
}

// cancel cancels a job for the client.
func (k *link) cancel(ctx context.Context, id string) outgoing {
	out := outgoing{Type: "error", JobID: plain.Clean(id)}
	by, err := k.login.now(ctx)
	if err != nil || k.s.cfg.ReadOnly || !by.Role.AtLeast(account.Member) || !by.Allows(account.ScopeRun) {
		out.Detail = "this login may not cancel jobs"
		return out
	}
	err = k.s.May(ctx, by, KindJob, id, true)
	if err == nil {
		var j *jobOutput
		if j, err = k.s.cancelJob(ctx, id); err == nil {
			return outgoing{Type: "cancel_requested", JobID: id, Status: string(j.Body.State)}
		}
	}
	out.Detail = k.s.problem(ctx, err).Error()
	return out
}

// gone closes the socket of somebody whose login has ended.
func (k *link) gone(ctx context.Context) bool {
	if k.login.holds(ctx) {
		return false
	}
	_ = k.c.Close(closeLogin, "the login has ended") // who went away hears nothing
	return true
}

// ping finds out whether the client is there and may go on.
func (k *link) ping(ctx context.Context) {
	tick := time.NewTicker(pingEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		limited, stop := context.WithTimeout(ctx, patience)
		err := k.c.Ping(limited)
		stop()
		if err != nil || k.gone(ctx) {
			return
		}
	}
}
