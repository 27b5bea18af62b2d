// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

//go:build unix

package main

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/callvet/callvet/internal/store"
)

// gated is a server that answers a few requests and then holds all until it is opened. It counts
// its requests by their question.
type gated struct {
	url  string
	mu   sync.Mutex
	free int
	seen map[string]int
	held chan struct{} // one for each request that is held
	open chan struct{}
	// release answers the requests that are held, and holds no more.
	release func()
}

func newGated(t *testing.T, free int) *gated {
	t.Helper()
	g := &gated{free: free, seen: map[string]int{}, held: make(chan struct{}, 1000), open: make(chan struct{})}
	g.release = sync.OnceFunc(func() { close(g.open) })
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return // the process is gone
		}
		g.mu.Lock()
		g.seen[string(body)]++
		g.free--
		hold := g.free < 0
		g.mu.Unlock()
		if hold {
			g.held <- struct{}{}
			<-g.open
		}
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w,
			`{"model":"m","choices":[{"message":{"content":"no"},"finish_reason":"stop"}],"usage":{"prompt_tokens":9,"completion_tokens":1}}`)
	}))
	t.Cleanup(func() { g.release(); srv.Close() }) // a server waits for what it holds
	g.url = srv.URL
	return g
}

// asked returns how many questions were asked, and how many requests that took.
func (g *gated) asked() (questions, requests int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, n := range g.seen {
		requests += n
	}
	return len(g.seen), requests
}

// proc is a callvet of its own.
type proc struct {
	*exec.Cmd
	out  bytes.Buffer
	errs watched
}

// watched is the output of a process, for others to wait for.
type watched struct {
	mu   sync.Mutex
	text strings.Builder
	more chan struct{}
}

func (w *watched) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.text.Write(p)
	select {
	case w.more <- struct{}{}:
	default:
	}
	return len(p), nil
}

func (w *watched) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.text.String()
}

// begin starts a process in dir.
func begin(t *testing.T, dir string, args ...string) *proc {
	t.Helper()
	return beginIn(t, dir, nil, args...)
}

func beginIn(t *testing.T, dir string, env []string, args ...string) *proc {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	p := &proc{Cmd: exec.Command(self)}
	p.Args = append([]string{"callvet"}, args...)
	p.Dir = dir
	p.Env = append(env, "HOME="+dir, "CALLVET_DB="+filepath.Join(dir, "runs.db"))
	p.errs.more = make(chan struct{}, 1)
	p.Stdout, p.Stderr = &p.out, &p.errs
	if err := p.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.Process.Kill(); _ = p.Wait() })
	return p
}

// says waits until the process has written a text to standard error.
func (p *proc) says(t *testing.T, text string) {
	t.Helper()
	for !strings.Contains(p.errs.String(), text) {
		select {
		case <-p.errs.more:
		case <-time.After(time.Minute): // only a broken test comes here
			t.Fatalf("callvet %v never said %q:\n%s", p.Args[1:], text, p.errs.String())
		}
	}
}

func (p *proc) ends(t *testing.T, code int) string {
	t.Helper()
	_ = p.Wait()
	if got := p.ProcessState.ExitCode(); got != code {
		t.Fatalf("callvet %v: exit %d, want %d\n%s%s", p.Args[1:], got, code, p.out.String(), p.errs.String())
	}
	return p.out.String()
}

// manyCases writes a suite of n questions, and returns the flags that ask g about it.
func manyCases(t *testing.T, dir string, n int, g *gated) []string {
	t.Helper()
	cases := make([]string, n)
	for i := range cases {
		cases[i] = fmt.Sprintf(`{"id":"c%d","prompt":"hello %d","expected_tool":"ping"}`, i, i)
	}
	writeFiles(t, dir,
		map[string]string{"s.json": `{"name":"s","tools":[{"name":"ping","parameters":{"type":"object"}}],"cases":[` +
			strings.Join(cases, ",") + `]}`})
	return []string{"run", "s.json", "-m", "vllm/m", "--base-url", g.url + "/v1", "-c", "4"}
}

// Two processes resume one run: one carries it out, and the other follows it. Every question is
// asked once, and both report the same.
func TestTwoResumeOneRun(t *testing.T) {
	t.Parallel()
	dir, g := t.TempDir(), newGated(t, 10)
	if p := begin(t, dir, append(manyCases(t, dir, 40, g), "--max-calls", "10")...); p.ends(t, exitBudget) == "" {
		t.Error("a run that ended early tells nothing")
	}
	first := begin(t, dir, "run", "--resume", "last", "--max-calls", "1000", "--json")
	<-g.held
	second := begin(t, dir, "run", "--resume", "last", "--json")
	second.says(t, fmt.Sprintf("is being carried out by process %d on ", first.Process.Pid))
	third := begin(t, dir, "run", "--resume", "last", "--no-wait")
	if third.ends(t, exitError); !strings.Contains(third.errs.String(), fmt.Sprintf("process %d", first.Process.Pid)) {
		t.Errorf("--no-wait: %s", third.errs.String())
	}
	gone := begin(t, dir, "runs", "--delete", "last")
	if gone.ends(t, exitError); !strings.Contains(gone.errs.String(),
		fmt.Sprintf("being carried out by process %d", first.Process.Pid)) ||
		!strings.Contains(gone.errs.String(), "try: wait for it") {
		t.Errorf("--delete: %s", gone.errs.String())
	}
	left := begin(t, dir, "run", "--resume", "last")
	left.says(t, "following it")
	if err := left.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if left.ends(t, exitInterrupted); !strings.Contains(left.errs.String(), "goes on with it") {
		t.Errorf("a follower that was interrupted: %s", left.errs.String())
	}
	g.release()
	one, two := first.ends(t, exitOK), second.ends(t, exitOK)
	if one == "" || one != two {
		t.Errorf("the two tell\n%s\nand\n%s", one, two)
	}
	if questions, requests := g.asked(); questions != 40 || requests != 40 {
		t.Errorf("%d questions in %d requests, want 40 in 40", questions, requests)
	}
	runApp(t, dir, nil, exitOK, "runs", "--delete", "last")
}

// A process that was killed has its run taken over at once, by one that followed it too.
func TestKilledRunIsTakenOver(t *testing.T) {
	t.Parallel()
	for _, following := range []bool{false, true} {
		dir, g := t.TempDir(), newGated(t, 20)
		first := begin(t, dir, manyCases(t, dir, 40, g)...)
		for range 4 {
			<-g.held
		}
		var second *proc
		if following {
			second = begin(t, dir, "run", "--resume", "last", "--json")
			second.says(t, "following it")
		}
		stored(t, dir, 20)
		if err := first.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_ = first.Wait()
		g.release()
		if !following {
			second = begin(t, dir, "run", "--resume", "last", "--json")
		}
		if out := second.ends(t, exitOK); !strings.Contains(out, `"fail":40`) {
			t.Errorf("the run that was taken over: %s", out)
		}
		if following != strings.Contains(second.errs.String(), "is gone; going on with run") {
			t.Errorf("following %t: %s", following, second.errs.String())
		}
		if questions, requests := g.asked(); questions != 40 || requests != 44 { // what was in flight is asked again
			t.Errorf("%d questions in %d requests, want 40 in 44", questions, requests)
		}
	}
}

// A process that is stopped for longer than its lease loses the run. When it continues it asks
// nothing more, stores nothing, and prints the reason why it ends.
func TestStoppedRunIsLost(t *testing.T) {
	t.Parallel()
	dir, g := t.TempDir(), newGated(t, 20)
	short := []string{"CALLVET_LEASE=3s"}
	first := beginIn(t, dir, short, manyCases(t, dir, 40, g)...)
	for range 4 {
		<-g.held
	}
	stored(t, dir, 20)
	if err := first.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	second := beginIn(t, dir, short, "run", "--resume", "last", "--json")
	second.says(t, "is gone; going on with run")
	g.release()
	summary := second.ends(t, exitOK)
	questions, requests := g.asked()
	if questions != 40 || requests != 44 { // what was in flight is asked again
		t.Errorf("%d questions in %d requests, want 40 in 44", questions, requests)
	}
	before := exported(t, dir)
	if err := first.Process.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	if first.ends(t, exitError); !strings.Contains(first.errs.String(), "lost the run") {
		t.Errorf("the process that stood still: %s", first.errs.String())
	}
	if _, after := g.asked(); after != requests {
		t.Errorf("it sent %d requests more", after-requests)
	}
	if !slices.Equal(before, exported(t, dir)) {
		t.Error("it changed what is stored")
	}
	if again := runApp(t, dir, nil, exitOK, "show", "last", "--json"); again == "" ||
		!strings.Contains(summary, `"fail":40`) {
		t.Errorf("the summary of the run is %s", summary)
	}
}

// stored waits until n cells of the last run are durable.
func stored(t *testing.T, dir string, n int) {
	t.Helper()
	db, err := store.Open(t.Context(), filepath.Join(dir, "runs.db"), store.Options{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	r, err := db.Run(t.Context(), "last")
	if err != nil {
		t.Fatal(err)
	}
	for done := 0; done < n; {
		p, err := db.Progress(t.Context(), r.ID, 0)
		if err != nil {
			t.Fatal(err)
		}
		done = p.Done
	}
}

// exported are the attempts of the last run.
func exported(t *testing.T, dir string) []byte {
	t.Helper()
	runApp(t, dir, nil, exitOK, "report", "last", "-o", "x.jsonl")
	return readFile(t, dir, "x.jsonl")
}

// Another terminal ends a run: the received answers are kept, and the run is resumed.
func TestCanceledFromAnotherTerminal(t *testing.T) {
	t.Parallel()
	dir, g := t.TempDir(), newGated(t, 10)
	first := beginIn(t, dir, []string{"CALLVET_LEASE=2s"}, append(manyCases(t, dir, 40, g), "--no-cache")...)
	for range 4 {
		<-g.held
	}
	if out := runApp(t, dir, nil, exitUsage, "runs", "--cancel", "last", "--delete", "last"); !strings.Contains(out,
		"do not go together") {
		t.Error(out)
	}
	asks := begin(t, dir, "runs", "--cancel", "last")
	if out := asks.ends(t, exitOK); !strings.Contains(out,
		fmt.Sprintf("process %d was asked to stop", first.Process.Pid)) ||
		!strings.Contains(out, "callvet run --resume") {
		t.Error(out)
	}
	if out := first.ends(t, exitInterrupted); !strings.Contains(out+first.errs.String(), "--resume") {
		t.Errorf("the canceled run tells: %s%s", out, first.errs.String())
	}
	g.release()
	if questions, requests := g.asked(); questions != 14 || requests != 14 {
		t.Errorf("%d questions in %d requests, want 14 in 14", questions, requests)
	}
	again := begin(t, dir, "runs", "--cancel", "last")
	if again.ends(t, exitError); !strings.Contains(again.errs.String(), "is not being carried out") {
		t.Errorf("canceled twice: %s", again.errs.String())
	}
	begin(t, dir, "run", "--resume", "last", "--no-cache", "-q").ends(t, exitOK)
	if questions, requests := g.asked(); questions != 40 || requests != 44 { // what was in flight is asked again
		t.Errorf("%d questions in %d requests, want 40 in 44", questions, requests)
	}
}
