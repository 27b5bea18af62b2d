// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package api

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
	"github.com/callvet/callvet/internal/report/plain"
	"github.com/callvet/callvet/internal/sys"
)

const (
	// maxMessage bounds a message of a client, in bytes.
	maxMessage = 4 << 10
	// maxMessages bounds the messages of a client in messageSpan.
	maxMessages = 100
	// messageSpan is the span for maxMessages.
	messageSpan = 10 * time.Second
	// pingEvery is how often the server pings a client.
	pingEvery = 30 * time.Second
	// ticketWait is how long a client without a login has to send its ticket.
	ticketWait = 5 * time.Second
)

// Close codes of this API, in addition to those of the protocol.
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

// socket sends the events of the logged-in user. The login is the cookie with the server's own
// Origin, or a token; otherwise the first message must be a ticket. Secrets are never in the URL.
func (s *Server) socket(w http.ResponseWriter, r *http.Request) {
	by, err := s.Config.Identify(w, r)
	if err != nil &&
		!(errors.Is(err, ErrNoLogin) && r.Header.Get("Upgrade") != "" && r.Header.Get("Authorization") == "") {
		p := s.Problem(r.Context(), err)
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
	wire := &batchResponse{ResponseWriter: w}
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	r = r.WithContext(ctx)
	sent := &frames{tooMany: cancel}
	c, err := websocket.Accept(wire, r, &websocket.AcceptOptions{ // Accept refuses the Origin of another site
		OnPingReceived: func(context.Context, []byte) bool { return sent.count() },
		OnPongReceived: func(context.Context, []byte) { sent.count() },
	})
	if err != nil {
		return // Accept has responded
	}
	defer func() { _ = c.CloseNow() }() // if Close was not reached
	leave, ok := s.Live.join()
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
	_ = c.Close(code, why) // an error means that the client left
}

// frames counts the frames of a client, including pings and pongs.
type frames struct {
	tooMany func() // is called when there are more than maxMessages in a span

	mu    sync.Mutex
	n     int
	began time.Time
	ended bool
}

// count counts one frame; false if there are too many.
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

// serveSocket serves one client until it disconnects, or returns the reason for closing the
// connection.
func (s *Server) serveSocket(c *websocket.Conn, wire *batchConn, r *http.Request, by *account.Principal, since *int64,
	sent *frames,
) (websocket.StatusCode, string) {
	ctx, cancel := context.WithCancel(r.Context())
	var group sys.Group
	defer group.Wait()
	defer cancel()
	group.Go(func() { defer cancel(); s.Live.sendAway(ctx, c) })
	login := s.loginOf(r, nil)
	if by == nil {
		wait, stop := context.WithTimeout(ctx, ticketWait)
		m, err := read(wait, c)
		stop()
		if err == nil && m.Type == "ticket" {
			by = s.Live.redeem(m.Ticket, s.Config.Now())
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
	slot, ok := s.Live.enter(by.User, s.sockets())
	if !ok {
		return closeTooMany, "too many connections of this user"
	}
	defer slot.leave()
	f, hello, err := s.follow(ctx, slot, since)
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

// link is one open WebSocket.
type link struct {
	s     *Server
	c     *websocket.Conn
	wire  *batchConn // below c
	login *login
	stop  func()
	code  websocket.StatusCode // set by listen, which ends last
	why   string
}

func read(ctx context.Context, c *websocket.Conn) (m incoming, err error) {
	_, b, err := c.Read(ctx)
	if err == nil {
		err = json.Unmarshal(b, &m)
	}
	return m, err
}

// send always ends: the connection has a write deadline, and is closed when listen ends.
func (k *link) send(ctx context.Context, b []byte) error {
	return k.c.Write(context.WithoutCancel(ctx), websocket.MessageText, b)
}

func (k *link) answer(ctx context.Context, m outgoing) {
	if b, err := json.Marshal(m); err == nil {
		_ = k.send(ctx, b) // feed and ping notice a client that does not read
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

// sendAll sends messages in as few writes as possible.
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

// listen handles the messages of the client.
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
	if err != nil || k.s.Config.ReadOnly || !by.Role.AtLeast(account.Member) || !by.Allows(account.ScopeRun) {
		out.Detail = "this login may not cancel jobs"
		return out
	}
	err = k.s.May(ctx, by, KindJob, id, true)
	if err == nil {
		var j *job.Job
		if j, err = k.s.CancelJob(ctx, id); err == nil {
			return outgoing{Type: "cancel_requested", JobID: id, Status: string(j.State)}
		}
	}
	out.Detail = k.s.Problem(ctx, err).Error()
	return out
}

// gone closes the socket if its login has ended.
func (k *link) gone(ctx context.Context) bool {
	if k.login.holds(ctx) {
		return false
	}
	_ = k.c.Close(closeLogin, "the login has ended") // an error means that the client left
	return true
}

// ping checks that the client is connected and still logged in.
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
