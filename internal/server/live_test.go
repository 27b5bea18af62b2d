// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package server_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/coder/websocket"

	"github.com/callvet/callvet/internal/account"
	"github.com/callvet/callvet/internal/server/api"
	"github.com/callvet/callvet/internal/store/rows"
)

// dial opens a socket as a user, or without a login.
func (s *site) dial(t *testing.T, as, query string, header http.Header) (*websocket.Conn, error) {
	t.Helper()
	if header == nil {
		header = http.Header{}
	}
	if as != "" {
		header.Set("Authorization", "Bearer "+account.TokenPrefix+as)
	}
	c, res, err := websocket.Dial(t.Context(), s.URL+"/ws"+query, &websocket.DialOptions{HTTPHeader: header})
	if res != nil && res.Body != nil {
		defer res.Body.Close()
	}
	if err == nil {
		c.SetReadLimit(1 << 20)
		t.Cleanup(func() { _ = c.CloseNow() })
	}
	return c, err
}

// message is the next message of a socket.
func message(t *testing.T, c *websocket.Conn) map[string]any {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	_, b, err := c.Read(ctx)
	if err != nil {
		t.Fatal(err)
	}
	var m map[string]any
	if err := json.Unmarshal(b, &m); err != nil {
		t.Fatalf("%v: %s", err, b)
	}
	return m
}

func say(t *testing.T, c *websocket.Conn, text string) {
	t.Helper()
	if err := c.Write(t.Context(), websocket.MessageText, []byte(text)); err != nil {
		t.Fatal(err)
	}
}

// startEval starts an eval of ana's and returns its job.
func (s *site) startEval(t *testing.T, suite string) string {
	t.Helper()
	code, body := s.ask(t, "ana", "POST", "/api/tool-eval",
		fmt.Sprintf(`{"suite_id":%q,"models":["offline/lexical"],"no_cache":true}`, suite))
	return decode[jobAnswer](t, code, 202, body).JobID
}

// TestSocket: a client that is cut off again and again, and continues where it was, receives every
// event once and in order.
func TestSocket(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.work(t)
	suite := s.keepSuite(t, "ana", 30)
	c, err := s.dial(t, "ana", "", nil)
	if err != nil {
		t.Fatal(err)
	}
	if m := message(t, c); m["type"] != "sync" || m["seq"] != 0.0 || len(m["active_jobs"].([]any)) != 0 {
		t.Errorf("sync: %v", m)
	}
	id := s.startEval(t, suite)
	last, cuts := 0, 0
	for kind := any(""); kind != "job_completed"; {
		m := message(t, c)
		if m["type"] == "sync" {
			continue
		}
		if kind = m["type"]; int(m["seq"].(float64)) != last+1 || m["job_id"] != id {
			t.Fatalf("after event %d: %v", last, m)
		}
		last++
		if last%7 == 0 && kind != "job_completed" {
			cuts++
			_ = c.CloseNow()
			if c, err = s.dial(t, "ana", fmt.Sprintf("?since=%d", last), nil); err != nil {
				t.Fatal(err)
			}
		}
	}
	if got := s.events(t, "ana"); len(got) != last || cuts < 4 {
		t.Errorf("%d of %d events, cut off %d times", last, len(got), cuts)
	}
	say(t, c, `{"type":"ping"}`)
	if m := message(t, c); m["type"] != "pong" {
		t.Errorf("ping: %v", m)
	}
	say(t, c, `nonsense`)
	if m := message(t, c); m["type"] != "error" {
		t.Errorf("nonsense: %v", m)
	}
}

// TestSocketCancels: by the owner, and by no other user.
func TestSocketCancels(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	suite := s.keepSuite(t, "ana", 2)
	id := s.startEval(t, suite) // no worker runs: it waits
	for as, want := range map[string]string{"bo": "error", "vera": "error", "ana": "cancel_requested"} {
		if as == "ana" {
			continue
		}
		c, err := s.dial(t, as, "", nil)
		if err != nil {
			t.Fatal(err)
		}
		message(t, c)
		say(t, c, `{"type":"cancel","job_id":"`+id+`"}`)
		if m := message(t, c); m["type"] != want {
			t.Errorf("%s: %v", as, m)
		}
	}
	s.awaitJob(t, "ana", id, "queued")
	c, err := s.dial(t, "ana", "", nil)
	if err != nil {
		t.Fatal(err)
	}
	if m := message(t, c); len(m["active_jobs"].([]any)) != 1 {
		t.Errorf("sync: %v", m)
	}
	say(t, c, `{"type":"cancel","job_id":"`+id+`"}`)
	s.awaitJob(t, "ana", id, "cancelled")
}

// TestSocketTooMany: a client that sends too much is sent away, whether it sends messages or pings.
func TestSocketTooMany(t *testing.T) {
	t.Parallel()
	const maxMessages = 100 // in ten seconds
	s := newSite(t)
	c, err := s.dial(t, "ana", "", nil)
	if err != nil {
		t.Fatal(err)
	}
	message(t, c)
	for range maxMessages + 1 {
		say(t, c, `{"type":"ping"}`)
	}
	for err == nil {
		_, _, err = c.Read(t.Context())
	}
	if closed := (websocket.CloseError{}); !errors.As(err, &closed) || closed.Code != websocket.StatusPolicyViolation {
		t.Errorf("messages: %v", err)
	}
	if c, err = s.dial(t, "ana", "", nil); err != nil {
		t.Fatal(err)
	}
	message(t, c)
	ctx := c.CloseRead(t.Context()) // answers of pings are read
	sent := 0
	for err == nil && sent < 2*maxMessages {
		err = c.Ping(ctx)
		sent++
	}
	if err == nil || sent < maxMessages {
		t.Errorf("%d pings: %v", sent, err)
	}
}

// TestSocketLogin: who comes without a login needs a ticket, which is good once; another site's page is refused.
func TestSocketLogin(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	if _, err := s.dial(t, "none", "", nil); err == nil {
		t.Error("a token that is not good opens a socket")
	}
	if _, err := s.dial(t, "ana", "", http.Header{"Origin": {"https://evil.example"}}); err == nil {
		t.Error("the page of another site opens a socket")
	}
	code, body := s.ask(t, "ana", "POST", "/api/ws-ticket", "")
	ticket := decode[struct{ Ticket string }](t, code, 200, body).Ticket
	for i := range 2 {
		c, err := s.dial(t, "", "", nil)
		if err != nil {
			t.Fatal(err)
		}
		say(t, c, `{"type":"ticket","ticket":"`+ticket+`"}`)
		if i == 0 {
			if m := message(t, c); m["type"] != "sync" {
				t.Errorf("ticket: %v", m)
			}
			continue
		}
		_, _, err = c.Read(t.Context())
		if closed := (websocket.CloseError{}); !errors.As(err, &closed) || closed.Code != 4001 {
			t.Errorf("a ticket that was used: %v", err)
		}
	}
}

// TestStream: server-sent events go on after the last one that a client had.
func TestStream(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.work(t)
	id := s.startEval(t, s.keepSuite(t, "ana", 3))
	s.awaitJob(t, "ana", id, "done")
	all := s.events(t, "ana")
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, "GET", s.URL+"/api/events", nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+account.TokenPrefix+"ana")
	req.Header.Set("Last-Event-ID", "2")
	res, err := s.Client().Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if res.Header.Get("Content-Type") != "text/event-stream" {
		t.Errorf("header: %v", res.Header)
	}
	next := 3
	for lines := bufio.NewScanner(res.Body); next <= len(all) && lines.Scan(); {
		if n, ok := strings.CutPrefix(lines.Text(), "id: "); ok {
			if n != fmt.Sprint(next) {
				t.Fatalf("event %s, want %d", n, next)
			}
			next++
		}
	}
	if next != len(all)+1 {
		t.Errorf("%d of %d events", next-1, len(all))
	}
}

// TestLoginEnds: a connection that was opened with a token sends nothing more when the token is
// revoked. A user who is no member any more cancels nothing over a socket that was opened before.
func TestLoginEnds(t *testing.T) {
	t.Parallel()
	var ahead atomic.Int64
	s := newSite(t, func(c *api.Config) {
		c.Now = func() time.Time { return time.Now().Add(time.Duration(ahead.Load())) }
	})
	s.work(t)
	as := strings.TrimPrefix(s.grant(t, "user_ana", []account.Scope{account.ScopeRead}, time.Hour).token,
		account.TokenPrefix)
	token, err := s.dial(t, as, "", nil)
	if err != nil {
		t.Fatal(err)
	}
	code, body := s.ask(t, as, "POST", "/api/ws-ticket", "")
	ticket, err := s.dial(t, "", "", nil)
	if err != nil {
		t.Fatal(err)
	}
	say(t, ticket, `{"type":"ticket","ticket":"`+decode[struct{ Ticket string }](t, code, 200, body).Ticket+`"}`)
	for _, c := range []*websocket.Conn{token, ticket} {
		if m := message(t, c); m["type"] != "sync" {
			t.Fatalf("first: %v", m)
		}
	}
	stream := s.openStream(t, as, "")
	defer stream.Body.Close()
	bo, err := s.dial(t, "bo", "", nil)
	if err != nil {
		t.Fatal(err)
	}
	message(t, bo)

	if err := s.db.Change(t.Context(), "test", func(q *rows.Queries) error {
		_, err := q.SetUserRole(t.Context(), rows.SetUserRoleParams{ID: "user_bo", Role: string(account.Viewer)})
		n, rerr := q.RevokeToken(t.Context(),
			rows.RevokeTokenParams{ID: "token_granted1", Revoked: time.Now().UnixMilli()})
		if n != 1 {
			t.Errorf("%d tokens revoked", n)
		}
		return errors.Join(err, rerr)
	}); err != nil {
		t.Fatal(err)
	}
	ahead.Store(int64(time.Minute))
	s.startEval(t, s.keepSuite(t, "ana", 3)) // sends events of ana
	for name, c := range map[string]*websocket.Conn{"token": token, "ticket": ticket} {
		_, b, err := c.Read(t.Context())
		if closed := (websocket.CloseError{}); !errors.As(err, &closed) || closed.Code != 4001 {
			t.Errorf("%s: %v, %s", name, err, b)
		}
	}
	b, err := io.ReadAll(stream.Body)
	if err != nil || bytes.Contains(b, []byte("job_created")) {
		t.Errorf("stream: %v, %s", err, b)
	}
	say(t, bo, `{"type":"cancel","job_id":"job_x"}`)
	if m := message(t, bo); m["detail"] != "this login may not cancel jobs" {
		t.Errorf("cancel: %v", m)
	}
}
