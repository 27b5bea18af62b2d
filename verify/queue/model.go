// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package queue

import (
	"context"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"io"
	"net"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/callvet/callvet/internal/sys"
)

// Models with these prefixes do not answer: they are silent, stop in the middle of the answer, or
// request a retry in a minute.
const (
	silent  = "silent"
	halting = "halting"
	busy    = "busy"
)

// model is a server of models in the form of OpenAI's API. It counts its requests.
type model struct {
	url  string
	stop func()
	// slow is the least time of an answer; it may take five times as long.
	slow time.Duration
	// cells is the number of cells of the job with the model USER-JOB.
	cells int

	mu    sync.Mutex
	seen  map[string]*asked
	users map[string]*together
}

// storing is the longest time from an answer to the store: the program waits 10 ms for more answers and
// then flushes the disk.
const storing = 100 * time.Millisecond

// asked has the requests for one model. Each job has its own model.
type asked struct {
	begun    map[int]int  // requests by the number of the case
	done     map[int]bool // cases with an answer
	requests int
	reached  int // how many are done
	answered int
	flying   int
	most     int         // flying at the same time
	recent   []time.Time // times of the last answers
	open     bool
}

// together is the number of a user's running jobs, as seen by the model server.
type together struct{ now, most int }

func startModel(ctx context.Context, slow time.Duration, cells int) (*model, error) {
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("start model server: %w", err)
	}
	m := &model{
		url: "http://" + l.Addr().String(), slow: slow, cells: cells, seen: map[string]*asked{},
		users: map[string]*together{},
	}
	srv := &http.Server{Handler: m, ReadHeaderTimeout: time.Minute}
	var owner sys.Group
	owner.Go(func() { _ = srv.Serve(l) }) // ends with Close
	m.stop = func() {
		_ = srv.Close() // hanging requests are closed with it
		owner.Wait()
	}
	return m, nil
}

// item returns the number of the case in a prompt.
var item = regexp.MustCompile(`Look up item (\d+)\.`)

// wrong reports whether the models answer a case wrongly, so that verdicts differ.
func wrong(n int) bool { return n%7 == 3 }

// ServeHTTP answers one request.
func (m *model) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var in struct {
		Model    string          `json:"model"`
		Messages json.RawMessage `json:"messages"`
	}
	b, err := io.ReadAll(r.Body)
	if err == nil {
		err = json.Unmarshal(b, &in)
	}
	found := item.FindSubmatch(in.Messages)
	if err != nil || found == nil {
		http.Error(w, "no request of this check", http.StatusBadRequest)
		return
	}
	n, err := strconv.Atoi(string(found[1]))
	if err != nil {
		http.Error(w, "no number of a case", http.StatusBadRequest)
		return
	}
	wait := m.begin(in.Model, n)
	m.end(in.Model, n, m.answer(w, r, in.Model, n, wait))
}

// answer writes the answer; it returns false if it was not written completely.
func (m *model) answer(w http.ResponseWriter, r *http.Request, name string, n int, wait time.Duration) bool {
	switch kind, _, _ := strings.Cut(name, "-"); kind {
	case silent:
		<-r.Context().Done()
		return false
	case halting:
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, `{"model":"m","choices":[{"finish_reason":`)
		if f, ok := w.(http.Flusher); ok {
			f.Flush()
		}
		<-r.Context().Done()
		return false
	case busy:
		w.Header().Set("Retry-After", "60")
		http.Error(w, `{"error":{"message":"slow down","type":"rate_limit"}}`, http.StatusTooManyRequests)
		return true
	}
	t := time.NewTimer(wait)
	defer t.Stop()
	select {
	case <-t.C:
	case <-r.Context().Done():
		return false
	}
	if wrong(n) {
		n++
	}
	w.Header().Set("Content-Type", "application/json")
	_, err := fmt.Fprintf(w,
		`{"model":"m","choices":[{"finish_reason":"tool_calls","message":{"role":"assistant","tool_calls":[{"id":"1","type":"function","function":{"name":"look_up","arguments":"{\"item\":%d}"}}]}}],"usage":{"prompt_tokens":50,"completion_tokens":10,"total_tokens":60}}`, n)
	return err == nil && r.Context().Err() == nil
}

// begin counts a request, and returns the time of its answer.
func (m *model) begin(name string, n int) time.Duration {
	m.mu.Lock()
	defer m.mu.Unlock()
	a := m.of(name)
	a.requests++
	a.begun[n]++
	a.flying++
	a.most = max(a.most, a.flying)
	if user, _, ok := strings.Cut(name, "-"); ok && !a.open {
		a.open = true
		u := m.users[user]
		if u == nil {
			u = &together{}
			m.users[user] = u
		}
		u.now++
		u.most = max(u.most, u.now)
	}
	h := fnv.New32a()
	fmt.Fprint(h, name, n, a.begun[n])
	return m.slow * time.Duration(100+h.Sum32()%400) / 100
}

// end counts the end of a request; ok: its answer was written.
func (m *model) end(name string, n int, ok bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	a := m.of(name)
	if a.flying--; !ok {
		return
	}
	now := time.Now()
	for len(a.recent) > 0 && now.Sub(a.recent[0]) > 10*storing {
		a.recent = a.recent[1:]
	}
	a.recent = append(a.recent, now)
	if !a.done[n] {
		a.done[n] = true
		a.reached++
	}
	if a.answered++; a.answered == m.cells {
		if user, _, ok := strings.Cut(name, "-"); ok {
			m.users[user].now--
		}
	}
}

// of returns the requests for a model. m.mu is held.
func (m *model) of(name string) *asked {
	a := m.seen[name]
	if a == nil {
		a = &asked{begun: map[int]int{}, done: map[int]bool{}}
		m.seen[name] = a
	}
	return a
}

// look returns the state of the requests for a model, without its slices and maps, which are shared.
func (m *model) look(name string) asked {
	m.mu.Lock()
	defer m.mu.Unlock()
	a := *m.of(name)
	a.begun, a.done, a.recent = nil, nil, nil
	return a
}

// since counts the answers since a recent moment.
func (m *model) since(name string, t time.Time) (n int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, at := range m.of(name).recent {
		if !at.Before(t) {
			n++
		}
	}
	return n
}

// together returns the most jobs of a user at the same time.
func (m *model) together(user string) int {
	m.mu.Lock()
	defer m.mu.Unlock()
	if u := m.users[user]; u != nil {
		return u.most
	}
	return 0
}
