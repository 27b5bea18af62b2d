// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/maphash"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strconv"
	"sync"
	"syscall"
	"time"

	"github.com/callvet/callvet/verify/proof"
	"github.com/callvet/callvet/verify/serving"
)

const (
	socketClients  = 1000
	socketAttempts = 2000
	socketCuts     = 50
	// modelDelay is the time of an answer of the model; eight requests are in flight.
	modelDelay = 50 * time.Millisecond
	// worstDelay limits the delay of 99 of 100 events, from the time in the event.
	worstDelay = time.Second
	// worstSlowdown limits the time of a run with a thousand clients relative to a run with one
	// client.
	worstSlowdown = 1.25
	// sentAway is the time limit for disconnecting a client that reads nothing.
	sentAway = 25 * time.Second
	// crowdLimit is the longest wait of clients for the end of a run.
	crowdLimit = 5 * time.Minute
)

// sockets watches runs of a server over WebSockets: one run with one client, one with a thousand and two that
// behave badly, and again one with one client. All clients are of one user, since only the owner of the job
// receives events.
func sockets(ctx context.Context, c *proof.Check, binary string) (err error) {
	c.Due("results delivered", socketClients*socketAttempts,
		fmt.Sprintf("%d clients and %d attempts", socketClients, socketAttempts))
	c.Due("clients with all events", socketClients+2, "the clients")
	c.Due("bounds", 4, "the text of the check")
	dir, err := os.MkdirTemp("", "callvet-websocket-*")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	model := httptest.NewServer(http.HandlerFunc(answerSlowly))
	defer model.Close()
	// an abandoned connection takes a moment to end
	s, err := serving.Start(ctx, binary, dir, "--allow-private", "127.0.0.1", "--sockets-per-user",
		strconv.Itoa(socketClients+10))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Stop()) }()
	crowd := &crowd{Server: s, model: model.URL, seed: maphash.MakeSeed()}
	if crowd.suite, err = crowd.keepSuite(ctx); err != nil {
		return err
	}
	var alone []*watchedRun
	var all *watchedRun
	for _, n := range []int{1, socketClients, 1} {
		run, err := crowd.watch(ctx, n, n > 1)
		if err != nil {
			return err
		}
		c.Printf(
			"%4d clients: %d events, delivered after %s (p50), %s (p99), %s (most); the run took %.2f s, and the server %.2f s of processors\n",
			n, run.last-run.since, run.quantile(0.5), run.quantile(0.99), run.quantile(1), run.took.Seconds(),
			run.spent.Seconds())
		if n > 1 {
			all = run
		} else {
			alone = append(alone, run)
		}
	}
	return crowd.judge(ctx, c, all, alone)
}

// judge compares the events that each client received with the stored events.
func (k *crowd) judge(ctx context.Context, c *proof.Check, all *watchedRun, alone []*watchedRun) error {
	kept := &listener{crowd: k, at: all.since}
	if err := kept.replay(ctx, all.last); err != nil {
		return err
	}
	if kept.results != socketAttempts {
		c.Problem(fmt.Errorf("the server keeps %d results of %d attempts", kept.results, socketAttempts))
	}
	skipped, results := 0, 0
	for i, l := range all.clients {
		name := fmt.Sprintf("client %d", i+1)
		switch i {
		case socketClients:
			name = fmt.Sprintf("the client that was cut off %d times", l.cuts)
		case socketClients + 1:
			name = "the client that read nothing, when it comes back"
		default:
			results += l.results
			skipped += l.skipped
		}
		c.Compare("clients with all events", name,
			l.err == nil && l.at == kept.at && l.results == kept.results && l.digest() == kept.digest(),
			"after event %d it has %d results, up to event %d of %d: %v", all.since, l.results, l.at, kept.at, l.err)
	}
	c.Agree("results delivered", results)
	c.Printf("%d of %d clients got the notice that they are too slow, and requested the missed events\n", skipped,
		socketClients)
	mean := (alone[0].took + alone[1].took) / 2
	ratio := all.took.Seconds() / mean.Seconds()
	c.Printf("delivery, p99: %s with %d clients, %s with one\n", all.quantile(0.99), socketClients,
		max(alone[0].quantile(0.99), alone[1].quantile(0.99)))
	c.Printf("the run: %.2f s with %d clients, %.2f s with one: × %.2f\n", all.took.Seconds(), socketClients,
		mean.Seconds(), ratio)
	c.Compare("bounds", "delivery", all.quantile(0.99) <= worstDelay, "99 %% within %s, at most %s",
		all.quantile(0.99), worstDelay)
	c.Compare("bounds", "run", ratio <= worstSlowdown, "× %.2f, at most × %.2f", ratio, worstSlowdown)
	cut, deaf := all.clients[socketClients], all.clients[socketClients+1]
	c.Compare("bounds", "cuts", cut.cuts == socketCuts, "%d, not %d", cut.cuts, socketCuts)
	c.Compare("bounds", "the client that read nothing was sent away", deaf.cuts == 1,
		"it had all events waiting in buffers")
	return nil
}

// answerSlowly is a model that calls look_up after a moment.
func answerSlowly(w http.ResponseWriter, r *http.Request) {
	select {
	case <-time.After(modelDelay):
	case <-r.Context().Done():
		return
	}
	call := members{"id": "c1", "type": "function", "function": members{"name": "look_up", "arguments": `{"item":1}`}}
	writeJSON(w, members{
		"id": "a", "object": "chat.completion", "model": "m", "created": 1,
		"usage": members{"prompt_tokens": 50, "completion_tokens": 10, "total_tokens": 60},
		"choices": []any{members{
			"index": 0, "finish_reason": "tool_calls",
			"message": members{"role": "assistant", "content": nil, "tool_calls": []any{call}},
		}},
	})
}

// crowd are the clients of one server.
type crowd struct {
	*serving.Server
	model, suite string
	seed         maphash.Seed
}

// keepSuite uploads a suite with a case for each attempt.
func (k *crowd) keepSuite(ctx context.Context) (id string, err error) {
	cases := make([]any, socketAttempts)
	for i := range cases {
		cases[i] = members{
			"id": fmt.Sprintf("c%04d", i), "prompt": fmt.Sprintf("Look up item %d.", i),
			"expected_tool": "look_up", "expected_params": members{"item": i},
		}
	}
	doc := members{"callvet": 1, "name": "sockets", "cases": cases, "tools": []any{members{
		"name": "look_up", "description": "Look up an item.",
		"parameters": members{
			"type": "object", "required": []string{"item"},
			"properties": members{"item": members{"type": "integer"}},
		},
	}}}
	var kept struct {
		ID string `json:"suite_id"`
	}
	err = k.Ask(ctx, http.MethodPost, "/api/tool-eval/import", doc, &kept)
	return kept.ID, err
}

// watchedRun is a run with the clients that watched it.
type watchedRun struct {
	since, last int64 // the events before it, and its last one
	took        time.Duration
	spent       time.Duration // of processors by the server
	clients     []*listener
	delays      []time.Duration // of all clients, sorted
}

func (r *watchedRun) quantile(q float64) time.Duration {
	if len(r.delays) == 0 {
		return 0
	}
	return r.delays[min(int(q*float64(len(r.delays))), len(r.delays)-1)].Round(time.Millisecond)
}

// watch starts a run once n clients are connected; badly: with two more, one that
// reconnects repeatedly, and one that reads nothing.
func (k *crowd) watch(ctx context.Context, n int, badly bool) (*watchedRun, error) {
	ctx, cancel := context.WithTimeout(ctx, crowdLimit)
	defer cancel()
	run := &watchedRun{}
	var page struct {
		Last int64 `json:"last"`
	}
	if err := k.Ask(ctx, http.MethodGet, "/api/events/list?limit=1", nil, &page); err != nil {
		return nil, err
	}
	run.since = page.Last
	for range n {
		run.clients = append(run.clients, &listener{crowd: k, at: run.since})
	}
	if badly {
		run.clients = append(run.clients, &listener{crowd: k, at: run.since, every: socketAttempts / (socketCuts + 1)},
			&listener{crowd: k, at: run.since, deaf: true})
	}
	defer func() {
		for _, l := range run.clients {
			l.close()
		}
	}()
	if err := connect(ctx, run.clients); err != nil {
		return nil, err
	}
	spent := k.Spent()
	var job struct {
		ID       string    `json:"job_id"`
		Status   string    `json:"status"`
		Error    string    `json:"error"`
		Started  time.Time `json:"started_at"`
		Finished time.Time `json:"finished_at"`
	}
	if err := k.Ask(ctx, http.MethodPost, "/api/tool-eval", members{
		"suite_id": k.suite, "no_cache": true,
		"targets": []any{members{"provider_key": "compatible", "model_id": "m", "base_url": k.model + "/v1"}},
	}, &job); err != nil {
		return nil, err
	}
	var group sync.WaitGroup
	for _, l := range run.clients {
		group.Go(func() { l.listen(ctx, job.ID) })
	}
	group.Wait()
	if err := k.Ask(ctx, http.MethodGet, "/api/jobs/"+job.ID, nil, &job); err != nil {
		return nil, err
	}
	if job.Status != "done" {
		return nil, fmt.Errorf("the job is %s: %s: %w", job.Status, job.Error, run.clients[0].err)
	}
	run.spent = k.Spent() - spent
	run.took, run.last = job.Finished.Sub(job.Started), run.clients[0].at
	for _, l := range run.clients[:n] {
		run.delays = append(run.delays, l.delays...)
	}
	slices.Sort(run.delays)
	return run, nil
}

// connect opens the sockets of all clients, some at a time.
func connect(ctx context.Context, clients []*listener) error {
	waiting, failed := make(chan *listener), make(chan error, len(clients))
	var group sync.WaitGroup
	for range 32 {
		group.Go(func() {
			for l := range waiting {
				if err := l.dial(ctx); err != nil {
					failed <- err
				}
			}
		})
	}
	for _, l := range clients {
		waiting <- l
	}
	close(waiting)
	group.Wait()
	close(failed)
	err := <-failed
	if errors.Is(err, syscall.EMFILE) {
		err = fmt.Errorf("%w: each client needs an open file here and one in the server: raise ulimit -n to %d", err,
			2*len(clients))
	}
	return err
}

// listener is a client that checks events as they arrive.
type listener struct {
	crowd *crowd
	every int  // the number of results before it is cut off; 0: never
	deaf  bool // it reads nothing until it was disconnected

	conn    *frames
	at      int64 // the last event
	hash    maphash.Hash
	results int
	cuts    int
	skipped int
	over    bool // its job has ended
	live    int64
	delays  []time.Duration
	err     error
}

func (l *listener) digest() uint64 { return l.hash.Sum64() }

// dial opens the socket, after the last event of the client.
func (l *listener) dial(ctx context.Context) error {
	c, err := dialFrames(ctx, l.crowd.Base+"/ws?since="+strconv.FormatInt(l.at, 10), l.crowd.Token, l.deaf)
	if err != nil {
		return fmt.Errorf("open socket: %w", err)
	}
	l.conn = c
	if l.deaf {
		return nil
	}
	b, err := c.next()
	if err != nil {
		return fmt.Errorf("read sync: %w", err)
	}
	var m struct {
		Type  string `json:"type"`
		Seq   int64  `json:"seq"`
		Since int64  `json:"since"`
	}
	if err := json.Unmarshal(b, &m); err != nil || m.Type != "sync" || m.Since != l.at {
		return fmt.Errorf("after event %d the first message is %.200s: %w", l.at, b, err)
	}
	l.live = m.Seq
	return nil
}

func (l *listener) close() {
	if l.conn != nil {
		_ = l.conn.Close() // the socket is no longer used
	}
}

// listen receives events until the job is over.
func (l *listener) listen(ctx context.Context, job string) {
	if l.err = l.follow(ctx, job); l.err == nil && l.deaf && l.cuts == 0 {
		l.err = errors.New("it was never sent away")
	}
}

func (l *listener) follow(ctx context.Context, job string) error {
	if l.deaf {
		return l.wake(ctx, job)
	}
	for !l.over {
		b, err := l.conn.next()
		if err != nil {
			return fmt.Errorf("read socket: %w", err)
		}
		if err := l.take(ctx, b, job, time.Now()); err != nil {
			return err
		}
		if l.every > 0 && l.cuts < socketCuts && l.results >= (l.cuts+1)*l.every {
			l.cuts++
			l.close()
			if err := l.dial(ctx); err != nil {
				return err
			}
		}
	}
	return nil
}

// wake waits until another client would have received all events and this client was disconnected, reads the rest
// from its socket, and then continues with a new socket.
func (l *listener) wake(ctx context.Context, job string) error {
	other := &listener{crowd: l.crowd, at: l.at}
	if err := other.dial(ctx); err != nil {
		return err
	}
	defer other.close()
	if err := other.follow(ctx, job); err != nil {
		return err
	}
	select {
	case <-time.After(sentAway):
	case <-ctx.Done():
		return ctx.Err()
	}
	if _, err := l.conn.next(); err != nil { // sync
		return fmt.Errorf("read what was left: %w", err)
	}
	for !l.over {
		b, err := l.conn.next()
		if err != nil {
			break
		}
		if err := l.take(ctx, b, job, time.Now()); err != nil {
			return err
		}
	}
	if l.over {
		return nil
	}
	l.cuts++
	l.close()
	l.deaf = false
	if err := l.dial(ctx); err != nil {
		return err
	}
	return l.follow(ctx, job)
}

// take checks one message.
func (l *listener) take(ctx context.Context, b []byte, job string, now time.Time) error {
	if bytes.HasPrefix(b, []byte(`{"type":"events_skipped"`)) {
		var m struct{ From, To int64 }
		if err := json.Unmarshal(b, &m); err != nil {
			return err
		}
		if m.From != l.at+1 {
			return fmt.Errorf("after event %d those from %d are left out", l.at, m.From)
		}
		l.skipped++
		return l.replay(ctx, m.To)
	}
	kind, seq, at, err := headOf(b)
	if err != nil {
		return err
	}
	if seq != l.at+1 {
		return fmt.Errorf("event %d comes after %d", seq, l.at)
	}
	if seq > l.live {
		l.delays = append(l.delays, now.Sub(at))
	}
	l.keep(kind, seq, b)
	switch kind {
	case "job_completed", "job_failed", "job_cancelled":
		l.over = bytes.Contains(b, []byte(`"job_id":"`+job+`"`))
	}
	return nil
}

// keep counts an event.
func (l *listener) keep(kind string, seq int64, b []byte) {
	if l.at == seq-1 && l.hash.Seed() != l.crowd.seed {
		l.hash.SetSeed(l.crowd.seed)
	}
	_, _ = l.hash.Write(b) // it never fails
	_ = l.hash.WriteByte('\n')
	l.at = seq
	if kind == "tool_eval_result" {
		l.results++
	}
}

// replay requests the events up to a number.
func (l *listener) replay(ctx context.Context, upto int64) error {
	for l.at < upto {
		var page struct {
			Events []json.RawMessage `json:"events"`
		}
		if err := l.crowd.Ask(ctx, http.MethodGet,
			fmt.Sprintf("/api/events/list?since=%d&limit=%d", l.at, min(1000, upto-l.at)), nil, &page); err != nil {
			return err
		}
		if len(page.Events) == 0 {
			return fmt.Errorf("no event after %d is kept", l.at)
		}
		for _, b := range page.Events {
			kind, seq, _, err := headOf(b)
			if err != nil || seq != l.at+1 {
				return fmt.Errorf("event %d is kept after %d: %w", seq, l.at, err)
			}
			l.keep(kind, seq, b)
		}
	}
	return nil
}

// headOf reads the head of an event, which begins with {"type":…,"seq":…,"at":…: parsing all of it would use CPU
// time that the server needs.
func headOf(b []byte) (kind string, seq int64, at time.Time, err error) {
	rest, ok := bytes.CutPrefix(b, []byte(`{"type":"`))
	name, rest, ok2 := bytes.Cut(rest, []byte(`","seq":`))
	number, rest, ok3 := bytes.Cut(rest, []byte(`,"at":"`))
	moment, _, ok4 := bytes.Cut(rest, []byte(`"`))
	if !ok || !ok2 || !ok3 || !ok4 {
		return "", 0, at, fmt.Errorf("this is no event: %.200s", b)
	}
	if seq, err = strconv.ParseInt(string(number), 10, 64); err != nil {
		return "", 0, at, err
	}
	at, err = time.Parse(time.RFC3339Nano, string(moment))
	return string(name), seq, at, err
}
