// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package queue

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/callvet/callvet/internal/sys"
)

// patience is the longest wait for a required event.
const patience = 5 * time.Minute

// site is a server on a separate store, run by one process after another.
type site struct {
	binary, db string
	http       *http.Client
	admin      person

	process *process
	base    string // where it listens now
	link    string // of the first admin
}

// process is one process of a site.
type process struct {
	cmd     *exec.Cmd
	reading sys.Group
	serving chan string // its address, once

	mu     sync.Mutex
	errors []string // its logged errors
	last   []string // the last lines of standard error
	link   string
}

// person is a user with a token.
type person struct {
	name, id, token string
	cookies         []*http.Cookie // of the session
}

func newSite(binary, dir string) *site {
	return &site{binary: binary, db: filepath.Join(dir, "callvet.db"), http: &http.Client{Timeout: time.Minute}}
}

// begin starts a process without waiting until it serves.
func (s *site) begin(ctx context.Context) error {
	cmd := exec.CommandContext(ctx, s.binary, "serve", "--listen", "127.0.0.1:0", "--db", s.db,
		"--allow-private", "all")
	cmd.Env = append(os.Environ(), "HOME="+filepath.Dir(s.db), "XDG_CONFIG_HOME="+filepath.Dir(s.db))
	errs, err := cmd.StderrPipe()
	if err != nil {
		return fmt.Errorf("start server: %w", err)
	}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("start server: %w", err)
	}
	p := &process{cmd: cmd, serving: make(chan string, 1)}
	p.reading.Go(func() { p.read(errs) })
	s.process = p
	return nil
}

// read reads the standard error of a process until it ends.
func (p *process) read(r io.Reader) {
	defer close(p.serving)
	announced := false
	for lines := bufio.NewScanner(r); lines.Scan(); {
		line := lines.Text()
		if rest, ok := strings.CutPrefix(line, "serving "); ok && !announced {
			announced = true
			at, _, _ := strings.Cut(rest, " ")
			p.serving <- at
		}
		p.mu.Lock()
		if _, link, ok := strings.Cut(line, "#claim="); ok {
			p.link = strings.TrimRight(link, "'")
		}
		if strings.Contains(line, "level=ERROR") || strings.Contains(line, "panic") {
			p.errors = append(p.errors, line)
		}
		if !strings.Contains(line, "level=INFO") {
			p.last = append(p.last, line)
			p.last = p.last[max(0, len(p.last)-20):]
		}
		p.mu.Unlock()
	}
}

// lastLines returns the last lines of standard error, and its lines with errors.
func (p *process) lastLines() (last string, errs []string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return strings.Join(p.last, "\n"), append([]string(nil), p.errors...)
}

// start starts a process and waits until it serves.
func (s *site) start(ctx context.Context) error {
	if err := s.begin(ctx); err != nil {
		return err
	}
	select {
	case at, ok := <-s.process.serving:
		if !ok {
			last, _ := s.process.lastLines()
			return errors.Join(fmt.Errorf("the server did not start:\n%s", last), s.kill())
		}
		s.base = at
	case <-time.After(patience):
		return errors.Join(errors.New("the server did not come up"), s.kill())
	}
	return nil
}

// kill ends the process without warning. It returns the logged errors as an error.
func (s *site) kill() error { return s.over(os.Kill) }

// over sends a signal, and waits for the end.
func (s *site) over(sig os.Signal) error {
	p := s.process
	if p == nil {
		return nil
	}
	s.process = nil
	if err := p.cmd.Process.Signal(sig); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("end server: %w", err)
	}
	p.reading.Wait() // before Wait, which closes the pipe
	err := p.cmd.Wait()
	if sig == os.Kill {
		err = nil // a process that was killed ends with an error
	}
	if _, errs := p.lastLines(); len(errs) > 0 {
		return errors.Join(err, fmt.Errorf("the server logged %d errors, first: %s", len(errs), errs[0]))
	}
	return err
}

// ask sends a request as a person, and reads the answer into out unless that is nil.
func (s *site) ask(ctx context.Context, as *person, method, path string, body, out any) error {
	var send io.Reader
	if b, ok := body.([]byte); ok {
		send = bytes.NewReader(b)
	} else if body != nil {
		b, err := json.Marshal(body)
		if err != nil {
			return fmt.Errorf("write request: %w", err)
		}
		send = bytes.NewReader(b)
	}
	req, err := http.NewRequestWithContext(ctx, method, s.base+path, send)
	if err != nil {
		return fmt.Errorf("%s %s: %w", method, path, err)
	}
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	switch {
	case as == nil:
	case as.token == "":
		for _, c := range as.cookies {
			req.AddCookie(c)
		}
	default:
		req.Header.Set("Authorization", "Bearer "+as.token)
	}
	return s.send(req, out)
}

func (s *site) send(req *http.Request, out any) error {
	res, err := s.http.Do(req)
	if err != nil {
		return fmt.Errorf("%s %s: %w", req.Method, req.URL.Path, err)
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		return fmt.Errorf("%s %s: %w", req.Method, req.URL.Path, err)
	}
	if res.StatusCode/100 != 2 {
		return fmt.Errorf("%s %s: status %d: %s", req.Method, req.URL.Path, res.StatusCode, b)
	}
	if cookies, ok := out.(*[]*http.Cookie); ok {
		*cookies = res.Cookies()
		return nil
	}
	if text, ok := out.(*string); ok {
		*text = string(b)
		return nil
	}
	if out == nil {
		return nil
	}
	if err := json.Unmarshal(b, out); err != nil {
		return fmt.Errorf("%s %s: read the answer: %w", req.Method, req.URL.Path, err)
	}
	return nil
}

// comeIn uses a one-time link and makes a token. name is for the first admin; others have a name.
func (s *site) comeIn(ctx context.Context, link, name string, scopes ...string) (person, error) {
	p := person{name: name}
	claim := map[string]string{"link": link, "password": "a long enough password"}
	if name != "" {
		claim["name"] = name
	}
	var cookies []*http.Cookie
	if err := s.ask(ctx, nil, http.MethodPost, "/api/session/claim", claim, &cookies); err != nil {
		return p, err
	}
	b, err := json.Marshal(map[string]any{"name": "verify", "scopes": scopes})
	if err != nil {
		return p, fmt.Errorf("write request: %w", err)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, s.base+"/api/tokens", bytes.NewReader(b))
	if err != nil {
		return p, fmt.Errorf("POST /api/tokens: %w", err)
	}
	req.Header.Set("Content-Type", "application/json")
	for _, c := range cookies {
		req.AddCookie(c)
	}
	var made struct{ Secret string }
	err = s.send(req, &made)
	p.token, p.cookies = made.Secret, cookies
	return p, err
}

// open starts the first process, and logs the first admin in.
func (s *site) open(ctx context.Context) error {
	if err := s.start(ctx); err != nil {
		return err
	}
	for end := time.Now().Add(patience); s.link == ""; time.Sleep(time.Millisecond) { // the line after the address
		s.process.mu.Lock()
		s.link = s.process.link
		s.process.mu.Unlock()
		if time.Now().After(end) {
			return errors.New("the server gave no link for the first admin")
		}
	}
	var err error
	s.admin, err = s.comeIn(ctx, s.link, "root", "read", "run", "write", "admin")
	return err
}

// invite makes a member who may have a number of jobs at the same time.
func (s *site) invite(ctx context.Context, name string, most int) (person, error) {
	var made struct {
		ID   string `json:"id"`
		Link string `json:"link"`
	}
	inPerson := person{cookies: s.admin.cookies} // a token makes no links
	if err := s.ask(ctx, &inPerson, http.MethodPost, "/api/users", map[string]any{"name": name, "role": "member"},
		&made); err != nil {
		return person{}, err
	}
	if err := s.ask(ctx, &s.admin, http.MethodPatch, "/api/users/"+made.ID, map[string]any{"max_jobs": most},
		nil); err != nil {
		return person{}, err
	}
	_, secret, ok := strings.Cut(made.Link, "#claim=")
	if !ok {
		return person{}, fmt.Errorf("the link of %s has no secret", name)
	}
	p, err := s.comeIn(ctx, secret, "", "read", "run", "write")
	p.name, p.id = name, made.ID
	return p, err
}

// keepSuite stores a suite with cells cases.
func (s *site) keepSuite(ctx context.Context, as *person, cells int) (string, error) {
	cases := make([]any, cells)
	for i := range cases {
		cases[i] = map[string]any{
			"id": caseID(i), "prompt": fmt.Sprintf("Look up item %d.", i),
			"expected_tool": "look_up", "expected_params": map[string]any{"item": i},
		}
	}
	var made struct {
		ID string `json:"suite_id"`
	}
	err := s.ask(ctx, as, http.MethodPost, "/api/tool-eval/import",
		map[string]any{"name": fmt.Sprintf("items %d", cells), "test_cases": cases, "tools": []any{map[string]any{
			"type": "function", "function": map[string]any{
				"name": "look_up", "description": "Look up an item.",
				"parameters": map[string]any{
					"type": "object", "required": []string{"item"},
					"properties": map[string]any{"item": map[string]any{"type": "integer"}},
				},
			},
		}}}, &made)
	return made.ID, err
}

func caseID(i int) string { return fmt.Sprintf("c%04d", i) }

// sent is an accepted job.
type sent struct {
	Job string `json:"job_id"`
	Run string `json:"result_ref"`
}

// submit sends a job: a model by name answers the cases of a suite.
func (s *site) submit(ctx context.Context, as *person, suite, name, url string, concurrency int) (sent, error) {
	var out sent
	err := s.ask(ctx, as, http.MethodPost, "/api/tool-eval", map[string]any{
		"suite_id": suite, "concurrency": concurrency,
		"targets": []any{map[string]string{"provider_key": "openai", "model_id": name, "base_url": url}},
	}, &out)
	return out, err
}

// job is the server's report of a job.
type job struct {
	ID       string    `json:"job_id"`
	User     string    `json:"user_id"`
	Status   string    `json:"status"`
	Done     int       `json:"done"`
	Error    string    `json:"error"`
	Attempt  int       `json:"attempt"`
	Started  time.Time `json:"started_at"`
	Queued   time.Time `json:"queued_at"`
	Finished time.Time `json:"finished_at"`
}

// over reports whether the job has finally ended.
func (j *job) over() bool { return !j.Finished.IsZero() }

func (s *site) job(ctx context.Context, as *person, id string) (job, error) {
	var j job
	err := s.ask(ctx, as, http.MethodGet, "/api/jobs/"+url.PathEscape(id), nil, &j)
	return j, err
}

// await waits until a job is over.
func (s *site) await(ctx context.Context, as *person, id string) (job, error) {
	for end := time.Now().Add(patience); ; {
		j, err := s.job(ctx, as, id)
		if err != nil || j.over() {
			return j, err
		}
		if time.Now().After(end) {
			return j, fmt.Errorf("job %s is still %s after %s, with %d done", id, j.Status, patience, j.Done)
		}
		if err := sys.Sleep(ctx, 10*time.Millisecond); err != nil {
			return j, err
		}
	}
}

// event is one event of a user.
type event struct {
	Seq     int       `json:"seq"`
	Type    string    `json:"type"`
	At      time.Time `json:"at"`
	Job     string    `json:"job_id"`
	Case    string    `json:"test_case"`
	Verdict string    `json:"verdict"`
	Attempt int       `json:"attempt"`
}

// events returns the events of a person after a number. Their numbers must have no gap.
func (s *site) events(ctx context.Context, as *person, since int) (list []event, err error) {
	for {
		var page struct {
			Last   int
			Events []event
		}
		if err := s.ask(ctx, as, http.MethodGet, fmt.Sprintf("/api/events/list?limit=1000&since=%d", since), nil,
			&page); err != nil {
			return nil, err
		}
		for _, e := range page.Events {
			if since++; e.Seq != since {
				return nil, fmt.Errorf("after event %d comes %d", since-1, e.Seq)
			}
		}
		list = append(list, page.Events...)
		if len(page.Events) == 0 {
			if since != page.Last {
				return nil, fmt.Errorf("the last event is %d, and the listed ones end with %d", page.Last, since)
			}
			return list, nil
		}
	}
}

// shards returns the number of shards that workers have now.
func (s *site) shards(ctx context.Context, as *person) (n int, err error) {
	var text string
	if err := s.ask(ctx, as, http.MethodGet, "/metrics", nil, &text); err != nil {
		return 0, err
	}
	const line = "\ncallvet_shards{state=\"running\"} "
	_, rest, found := strings.Cut(text, line)
	if !found {
		return 0, errors.New("GET /metrics: nothing about shards")
	}
	rest, _, _ = strings.Cut(rest, "\n")
	return strconv.Atoi(rest)
}

// cells returns the stored verdicts of the attempts of a run, by case.
func (s *site) cells(ctx context.Context, as *person, run string) (map[string][]string, error) {
	out := map[string][]string{}
	for cursor := ""; ; {
		var page struct {
			Items []struct {
				Case    string `json:"case"`
				Verdict string `json:"verdict"`
			} `json:"items"`
			Next string `json:"next_cursor"`
		}
		if err := s.ask(ctx, as, http.MethodGet,
			fmt.Sprintf("/api/runs/%s/cells?limit=1000&cursor=%s", url.PathEscape(run), url.QueryEscape(cursor)), nil,
			&page); err != nil {
			return nil, err
		}
		for _, c := range page.Items {
			out[c.Case] = append(out[c.Case], c.Verdict)
		}
		if cursor = page.Next; cursor == "" {
			return out, nil
		}
	}
}
