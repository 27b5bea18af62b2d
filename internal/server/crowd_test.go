// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package server_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"

	"github.com/callvet/callvet/internal/account"
	"github.com/callvet/callvet/internal/server"
	"github.com/callvet/callvet/internal/server/api"
	"github.com/callvet/callvet/internal/store/rows"
)

// TestCrowd: fifty clients of a user hear the same events, each once and in order, while one more reads nothing;
// and no further client comes in.
func TestCrowd(t *testing.T) {
	t.Parallel()
	const clients = 50
	s := newSite(t, func(c *api.Config) { c.Sockets = clients + 1 })
	s.work(t)
	suite := s.keepSuite(t, "ana", 100)
	var crowd []*websocket.Conn
	for range clients + 1 {
		c, err := s.dial(t, "ana", "", nil)
		if err != nil {
			t.Fatal(err)
		}
		crowd = append(crowd, c)
	}
	for _, c := range crowd[:clients] {
		if m := message(t, c); m["type"] != "sync" {
			t.Fatalf("first: %v", m)
		}
	}
	late, err := s.dial(t, "ana", "", nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := late.Read(t.Context()); websocket.CloseStatus(err) != 4008 {
		t.Errorf("one too many: %v", err)
	}
	if c, err := s.dial(t, "bo", "", nil); err != nil || message(t, c)["type"] != "sync" {
		t.Errorf("another user: %v", err)
	}
	id := s.startEval(t, suite)
	received := make([][]string, clients)
	var group sync.WaitGroup
	for i, c := range crowd[:clients] {
		group.Go(func() {
			for over := false; !over; {
				_, b, err := c.Read(t.Context())
				if err != nil {
					t.Errorf("client %d after %d events: %v", i, len(received[i]), err)
					return
				}
				received[i] = append(received[i], string(b))
				over = strings.HasPrefix(string(b), `{"type":"job_completed"`)
			}
		})
	}
	group.Wait()
	s.awaitJob(t, "ana", id, "done")
	code, body := s.ask(t, "ana", "GET", "/api/events/list?limit=1000", "")
	kept := decode[struct{ Events []json.RawMessage }](t, code, 200, body).Events
	if len(kept) < 100 {
		t.Fatalf("%d events", len(kept))
	}
	for i := range received {
		if len(received[i]) != len(kept) {
			t.Errorf("client %d received %d of %d events", i, len(received[i]), len(kept))
			continue
		}
		for n := range kept {
			if received[i][n] != string(kept[n]) {
				t.Errorf("client %d received %s, want %s", i, received[i][n], kept[n])
				break
			}
		}
	}
}

// addEvents stores events of a user without waking watchers.
func (s *site) addEvents(t *testing.T, user string, n int) {
	t.Helper()
	err := s.db.Change(t.Context(), "test", func(q *rows.Queries) error {
		last, err := q.NumberEvents(t.Context(), rows.NumberEventsParams{UserID: user, More: int64(n)})
		for i := range n {
			err = errors.Join(err,
				q.AddEvent(t.Context(), rows.AddEventParams{
					UserID: user, Seq: last - int64(n-1-i), Kind: "told",
					At: time.Now().UnixMilli(), Payload: []byte(`{"text":"x"}`),
				}))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestSlowClient: a client that is more than 10,000 events behind gets the range of the missed ones
// and the current state. It continues with the newest, and finds the others in the list.
func TestSlowClient(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	suite := s.keepSuite(t, "ana", 1) // no worker runs: the job waits
	c, err := s.dial(t, "ana", "", nil)
	if err != nil {
		t.Fatal(err)
	}
	message(t, c)
	const more = 10_300
	s.addEvents(t, "user_ana", more)
	id := s.startEval(t, suite) // wakes
	m := message(t, c)
	to, ok := m["to"].(float64)
	active, _ := m["active_jobs"].([]any)
	if m["type"] != "events_skipped" || m["reason"] != "slow" || m["from"] != 1.0 || !ok || len(active) != 1 ||
		active[0].(map[string]any)["job_id"] != id {
		t.Fatalf("%v", m)
	}
	if to != more+1-500 {
		t.Errorf("skipped up to %v", to)
	}
	for next := int(to) + 1; next <= more+1; next++ {
		if m := message(t, c); m["seq"] != float64(next) {
			t.Fatalf("want event %d: %v", next, m)
		}
	}
	if got := s.events(t, "ana"); len(got) != more+1 || got[more]["type"] != "job_created" {
		t.Errorf("%d events are kept", len(got))
	}

	// A client that asks for earlier events gets all of them, also when there are more than a slow
	// client may be behind.
	const earlier = more - 1200
	again, err := s.dial(t, "ana", fmt.Sprintf("?since=%d", earlier), nil)
	if err != nil {
		t.Fatal(err)
	}
	message(t, again)
	for next := earlier + 1; next <= more+1; next++ {
		if m := message(t, again); m["seq"] != float64(next) {
			t.Fatalf("want event %d: %v", next, m)
		}
	}
}

// TestRemovedEvents: a client that asks for removed events gets their range.
func TestRemovedEvents(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.addEvents(t, "user_ana", 20)
	if err := s.db.Change(t.Context(), "test", func(q *rows.Queries) error {
		return errors.Join(q.DropEvents(t.Context(), rows.DropEventsParams{UserID: "user_ana", Seq: 7}),
			q.FeedFrom(t.Context(), rows.FeedFromParams{First: 8, UserID: "user_ana"}))
	}); err != nil {
		t.Fatal(err)
	}
	c, err := s.dial(t, "ana", "?since=3", nil)
	if err != nil {
		t.Fatal(err)
	}
	if m := message(t, c); m["first"] != 8.0 || m["since"] != 3.0 || m["seq"] != 20.0 {
		t.Errorf("sync: %v", m)
	}
	if m := message(t, c); m["type"] != "events_skipped" || m["from"] != 4.0 || m["to"] != 7.0 ||
		m["reason"] != "removed" {
		t.Errorf("skipped: %v", m)
	}
	for next := 8; next <= 20; next++ {
		if m := message(t, c); m["seq"] != float64(next) {
			t.Fatalf("want event %d: %v", next, m)
		}
	}
}

// TestServeEnds: a server that ends sends its sockets and streams away, those too that have not logged in and
// those that read nothing, and leaves no goroutine that serves one.
func TestServeEnds(t *testing.T) { //nolint:paralleltest // it looks at all goroutines
	s := newSite(t)
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s.URL = "http://" + l.Addr().String()
	ctx, end := context.WithCancel(t.Context())
	defer end()
	served := make(chan error, 1)
	go func() { served <- server.Serve(ctx, s.srv, l) }()
	reads, err := s.dial(t, "ana", "", nil)
	if err != nil {
		t.Fatal(err)
	}
	message(t, reads)
	nobody, err := s.dial(t, "", "", nil) // it has five seconds to send a ticket
	if err != nil {
		t.Fatal(err)
	}
	if _, err = s.dial(t, "ana", "", nil); err != nil { // it reads nothing
		t.Fatal(err)
	}
	stream := s.openStream(t, "ana", "")
	defer stream.Body.Close()
	lines := bufio.NewScanner(stream.Body)
	if !lines.Scan() || lines.Text() != "event: sync" {
		t.Fatalf("stream: %q", lines.Text())
	}
	deaf := s.openStream(t, "ana", "")
	defer deaf.Body.Close()
	began := time.Now()
	end()
	for _, c := range []*websocket.Conn{reads, nobody} {
		if _, _, err := c.Read(t.Context()); websocket.CloseStatus(err) != websocket.StatusGoingAway {
			t.Errorf("a socket ends with %v", err)
		}
	}
	for lines.Scan() { // to its end
	}
	if err := lines.Err(); err != nil {
		t.Errorf("the stream ends with %v", err)
	}
	select {
	case err := <-served:
		if err != nil {
			t.Errorf("Serve: %v", err)
		}
	case <-time.After(30 * time.Second):
		t.Fatal("Serve goes on")
	}
	if took := time.Since(began); took > 10*time.Second {
		t.Errorf("it took %s", took)
	}
	all := make([]byte, 4<<20)
	text := string(all[:runtime.Stack(all, true)])
	for _, f := range []string{
		"server.(*Server).serveSocket", "server.(*Server).stream", "server.(*link)",
		"server.(*live).sendAway",
	} {
		if strings.Contains(text, f) {
			t.Errorf("%s goes on:\n%s", f, text)
		}
	}
	if _, err := s.dial(t, "ana", "", nil); err == nil {
		t.Error("a socket is opened after the end")
	}
}

// openStream opens the server-sent events of a user, after the event last.
func (s *site) openStream(t *testing.T, as, last string) *http.Response {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.URL+"/api/events", nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+account.TokenPrefix+as)
	if last != "" {
		req.Header.Set("Last-Event-ID", last)
	}
	res, err := s.Client().Do(req)
	if err != nil {
		t.Fatal(err)
	}
	return res
}

// TestStreamReplay: a stream that was cut off continues where it was, each time, and then with new
// events. A position that is no number is refused.
func TestStreamReplay(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.addEvents(t, "user_ana", 600) // more than are read at once
	next := 1
	for cut := 250; next <= 600; cut += 250 {
		res := s.openStream(t, "ana", fmt.Sprint(next-1))
		for lines := bufio.NewScanner(res.Body); next <= min(cut, 600); {
			if !lines.Scan() {
				t.Fatalf("the stream ends before event %d: %v", next, lines.Err())
			}
			if n, ok := strings.CutPrefix(lines.Text(), "id: "); ok {
				if n != fmt.Sprint(next) {
					t.Fatalf("event %s, want %d", n, next)
				}
				next++
			}
		}
		_ = res.Body.Close()
	}
	res := s.openStream(t, "ana", "600")
	defer res.Body.Close()
	s.startEval(t, s.keepSuite(t, "ana", 1))
	lines := bufio.NewScanner(res.Body)
	for lines.Scan() && lines.Text() != "id: 601" {
		if strings.HasPrefix(lines.Text(), "id: ") {
			t.Fatalf("%s", lines.Text())
		}
	}
	if !lines.Scan() || lines.Text() != "event: job_created" {
		t.Errorf("%q", lines.Text())
	}
	bad := s.openStream(t, "ana", "last")
	defer bad.Body.Close()
	if bad.StatusCode != http.StatusUnprocessableEntity {
		t.Errorf("Last-Event-ID that is no number: %d", bad.StatusCode)
	}
}
