// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

//go:build unix

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/callvet/callvet/internal/sys"
)

// outside is the environment of a process: its model and its tools. It kills the process with
// SIGKILL at one of its requests, before it answers.
type outside struct {
	mu           sync.Mutex
	moments      int            // until the process is killed; below 0: it is not
	kill         func()         // kills it
	killed       chan struct{}  // closes when it was killed
	tools        map[int]int    // executions, by item
	models       map[string]int // requests, by question
	acknowledged map[int]string // the result of each item that the model received
}

func newOutside() *outside {
	return &outside{moments: -1, tools: map[int]int{}, models: map[string]int{}, acknowledged: map[int]string{}}
}

// moment is one of the moments when the process may be killed. It returns false if it was.
func (o *outside) moment(do func()) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.moments == 0 {
		return false
	}
	do()
	if o.moments--; o.moments == 0 {
		o.kill()
		close(o.killed)
		return false
	}
	return true
}

// killAfter starts a process, has it be killed after some moments, and waits until it is. Meanwhile
// during is what others do with the process; nil: nothing.
func (o *outside) killAfter(t *testing.T, moments int, start func() *proc, during func(*proc)) {
	t.Helper()
	var p *proc
	started, killed := make(chan struct{}), make(chan struct{})
	o.mu.Lock()
	o.moments, o.killed, o.kill = moments, killed, func() {
		<-started
		if err := p.Process.Kill(); err != nil {
			t.Error(err)
		}
	}
	o.mu.Unlock()
	p = start()
	close(started)
	if during != nil {
		during(p)
	}
	select {
	case <-killed:
	case <-time.After(time.Minute): // only a broken test comes here
		t.Fatalf("callvet %v was never asked often enough:\n%s", p.Args[1:], p.errs.String())
	}
	_ = p.Wait() // it was killed
	o.mu.Lock()
	o.moments = -1
	o.mu.Unlock()
}

// counts returns copies of the counts.
func (o *outside) counts() (tools map[int]int, models map[string]int, acknowledged map[int]string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return maps.Clone(o.tools), maps.Clone(o.models), maps.Clone(o.acknowledged)
}

var itemText = regexp.MustCompile(`item (\d+)\b`)

// ServeHTTP is a model that asks for the item that the user wants, and then repeats the result. It
// is also the tool that has the items.
func (o *outside) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the process is gone
	}
	w.Header().Set("Content-Type", "application/json")
	if r.URL.Path == "/item" {
		var args struct{ N int }
		if json.Unmarshal(body, &args) == nil && o.moment(func() { o.tools[args.N]++ }) {
			fmt.Fprintf(w, `{"text":"text of %d"}`, args.N)
		}
		return
	}
	var q struct {
		Messages []struct{ Role, Content string }
	}
	if err := json.Unmarshal(body, &q); err != nil || len(q.Messages) == 0 {
		http.Error(w, "no messages", http.StatusBadRequest)
		return
	}
	var n int
	acknowledged := ""
	for _, m := range q.Messages {
		if at := itemText.FindStringSubmatch(m.Content); at != nil && m.Role == "user" {
			_, _ = fmt.Sscan(at[1], &n)
		}
		if m.Role == "tool" {
			acknowledged = m.Content
		}
	}
	if !o.moment(func() {
		o.models[string(body)]++
		if acknowledged != "" {
			o.acknowledged[n] = acknowledged
		}
	}) {
		return
	}
	message := fmt.Sprintf(
		`{"role":"assistant","content":null,"tool_calls":[{"id":"t","type":"function","function":{"name":"get_item","arguments":"{\"n\":%d}"}}]}`, n)
	if acknowledged != "" {
		message = fmt.Sprintf(`{"role":"assistant","content":"It is item %d."}`, n)
	}
	fmt.Fprintf(w,
		`{"model":"m","choices":[{"index":0,"message":%s,"finish_reason":"stop"}],"usage":{"prompt_tokens":9,"completion_tokens":1}}`, message)
}

// items writes a suite of n questions, and a file with the address of its tool.
func items(t *testing.T, dir, address string, n int) {
	t.Helper()
	var cases []string
	for i := range n {
		cases = append(cases,
			fmt.Sprintf(
				`{"id":"c%d","prompt":"I want item %d.","expect":{"calls":[{"tool":"get_item","args":{"n":%d}}],"response":{"contains":"item %d"}}}`, i, i, i, i))
	}
	writeFiles(t, dir, map[string]string{
		"s.json":    `{"callvet":1,"name":"items","tools":[{"name":"get_item","description":"An item.","read_only":true,"parameters":{"type":"object","properties":{"n":{"type":"integer"}}}}],"cases":[` + strings.Join(cases, ",") + `]}`,
		"live.yaml": `tools: {get_item: {read_only: true, http: {url: "` + address + `/item"}}}`,
	})
}

// wholeFiles reads all files of a folder that others would read; each must be JSON.
func wholeFiles(t *testing.T, folder string) map[string][]byte {
	t.Helper()
	list, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string][]byte{}
	for _, e := range list {
		if strings.HasPrefix(e.Name(), ".") {
			continue // left by a write that was killed; no process reads it
		}
		b := readFile(t, folder, e.Name())
		if !strings.HasSuffix(e.Name(), ".json") || !json.Valid(b) {
			t.Errorf("%s is not whole: %.200s", e.Name(), b)
		}
		out[e.Name()] = b
	}
	return out
}

// TestUnracedRecordSurvivesKill: a run that records is killed several times, at any request to its
// model or its tool. Every file is whole then, and every result that the model received is in one.
// The resumed run ends with all of them.
func TestUnracedRecordSurvivesKill(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("starts processes and kills them")
	}
	const n, kills = 40, 4
	o := newOutside()
	srv := httptest.NewServer(o)
	defer srv.Close()
	dir := t.TempDir()
	items(t, dir, srv.URL, n)
	random := rand.New(rand.NewPCG(14, 2))
	recorded := func() map[int]string {
		out := map[int]string{}
		for name, b := range wholeFiles(t, filepath.Join(dir, "rec")) {
			var r struct {
				Args   struct{ N int }
				Result json.RawMessage
			}
			if err := json.Unmarshal(b, &r); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			var text bytes.Buffer
			if err := json.Compact(&text, r.Result); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			out[r.Args.N] = text.String()
		}
		return out
	}
	args := []string{
		"run", "s.json", "-m", "vllm/m", "--base-url", srv.URL + "/v1", "-c", "4", "--world", "live",
		"--live", "live.yaml", "--record", "rec",
	}
	for i := range kills {
		o.killAfter(t, 8+random.IntN(18), func() *proc { return begin(t, dir, args...) }, nil)
		args = []string{"run", "--resume", "last"}
		_, _, acknowledged := o.counts()
		has := recorded()
		for item, text := range acknowledged {
			if has[item] != text {
				t.Errorf("kill %d: the model was told %q of item %d, and the recording is %q", i, text, item, has[item])
			}
		}
		t.Logf("kill %d: %d items acknowledged, %d recorded", i, len(acknowledged), len(has))
	}
	if _, _, acknowledged := o.counts(); len(acknowledged) == 0 || len(acknowledged) == n {
		t.Fatalf("%d of %d items were acknowledged before the last kill: nothing is tested", len(acknowledged), n)
	}
	begin(t, dir, append(args, "--require-pass")...).ends(t, exitOK)
	if has := recorded(); len(has) != n {
		t.Errorf("%d recordings, want %d", len(has), n)
	}
	before, _, _ := o.counts()
	for item, times := range before {
		if times > 1+kills {
			t.Errorf("item %d was fetched %d times in %d processes", item, times, 1+kills)
		}
	}
	begin(t, dir, "run", "s.json", "-m", "vllm/m", "--base-url", srv.URL+"/v1", "--no-cache", "--recordings", "rec",
		"--require-pass").ends(t, exitOK)
	if after, _, _ := o.counts(); !maps.Equal(before, after) {
		t.Error("the recordings did not answer everything")
	}
}

// TestUnracedModelProxySurvivesKill: a proxy that records models is killed several times while four clients
// ask it. Every file is whole then, and the next proxy answers what any client had an answer to with
// the same bytes and without asking again.
func TestUnracedModelProxySurvivesKill(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("starts processes and kills them")
	}
	const n, kills = 60, 4
	o := newOutside()
	srv := httptest.NewServer(o)
	defer srv.Close()
	dir := t.TempDir()
	random := rand.New(rand.NewPCG(3, 14))
	listening := regexp.MustCompile(`OPENAI_BASE_URL=(\S+)`)
	question := func(i int) string {
		return fmt.Sprintf(`{"model":"m","messages":[{"role":"user","content":"I want item %d."}]}`, i)
	}
	var mu sync.Mutex
	answers := map[int]string{} // that clients had, whole
	ask := func(ctx context.Context, base string, i int) {
		req, err := http.NewRequestWithContext(ctx, http.MethodPost, base+"/chat/completions",
			strings.NewReader(question(i)))
		if err != nil {
			t.Error(err)
			return
		}
		req.Header.Set("Authorization", "Bearer k")
		req.Header.Set("Content-Type", "application/json")
		resp, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Do(req)
		if err != nil {
			return // it was killed
		}
		defer resp.Body.Close()
		body, err := io.ReadAll(resp.Body)
		if err != nil || resp.StatusCode != http.StatusOK {
			return // it was killed on the way
		}
		mu.Lock()
		defer mu.Unlock()
		if was, had := answers[i]; had && was != string(body) {
			t.Errorf("item %d: the answer was %q and is %q", i, was, body)
		}
		answers[i] = string(body)
	}
	// round asks everything of a proxy, four at a time, in another order each time.
	round := func(p *proc) {
		p.says(t, "listening: ")
		base := listening.FindStringSubmatch(p.errs.String())[1]
		order := random.Perm(n)
		if err := sys.InParallel(4, n, func(i int) error { ask(t.Context(), base, order[i]); return nil }); err != nil {
			t.Error(err)
		}
	}
	start := func() *proc {
		return begin(t, dir, "proxy", "model", "--record", "models", "--openai", srv.URL+"/v1")
	}
	for i := range kills {
		had := maps.Clone(answers)
		_, asked, _ := o.counts()
		o.killAfter(t, 4+random.IntN(n/kills-4), start, round)
		_, now, _ := o.counts()
		files := slices.Collect(maps.Values(wholeFiles(t, filepath.Join(dir, "models"))))
		for item := range answers {
			if !slices.ContainsFunc(files,
				func(b []byte) bool { return bytes.Contains(b, fmt.Appendf(nil, "I want item %d.", item)) }) {
				t.Errorf("kill %d: item %d was answered, and no file has it", i, item)
			}
		}
		for item := range had {
			if q := question(item); now[q] != asked[q] {
				t.Errorf("kill %d: item %d was asked again", i, item)
			}
		}
		t.Logf("kill %d: %d items answered, %d recorded", i, len(answers), len(files))
	}
	if len(answers) == 0 || len(answers) == n {
		t.Fatalf("%d of %d items were answered before the last kill: nothing is tested", len(answers), n)
	}
	_, asked, _ := o.counts()
	had := maps.Clone(answers)
	last := start()
	round(last)
	if err := last.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	_ = last.Wait()
	if files := wholeFiles(t, filepath.Join(dir, "models")); len(answers) != n || len(files) != n {
		t.Errorf("%d answers and %d files, want %d", len(answers), len(files), n)
	}
	_, now, _ := o.counts()
	for item := range had {
		if q := question(item); now[q] != asked[q] {
			t.Errorf("item %d was asked again", item)
		}
	}
}

// TestDrillGoesOn: a drill that was killed is gone on with, and ends as one that was not: each question
// is asked once, but for those that were under way.
func TestDrillGoesOn(t *testing.T) {
	t.Parallel()
	const n = 40
	drilled := func(kill bool) string {
		dir, g := t.TempDir(), newGated(t, n/2)
		cases := make([]string, n)
		for i := range cases {
			cases[i] = fmt.Sprintf(
				`{"id":"c%d","prompt":"hello %d","safety":{"honeypots":["ping"]},"expect":{"no_call":true}}`, i, i)
		}
		writeFiles(t, dir,
			map[string]string{"d.json": `{"callvet":1,"name":"d","tools":[{"name":"ping","description":"Ping.","parameters":{"type":"object"}}],"cases":[` + strings.Join(cases, ",") + `]}`})
		first := begin(t, dir, "drill", "d.json", "-m", "vllm/m", "--base-url", g.url+"/v1", "-c", "4", "--json")
		last, most := first, n
		if kill {
			for range 4 {
				<-g.held
			}
			stored(t, dir, n/2)
			if err := first.Process.Kill(); err != nil {
				t.Fatal(err)
			}
			_ = first.Wait()
			last, most = begin(t, dir, "drill", "--resume", "last", "--json"), n+4
		}
		g.release()
		out := last.ends(t, exitOK)
		if questions, requests := g.asked(); questions != n || requests > most {
			t.Errorf("killed %v: %d questions in %d requests, want %d in at most %d", kill, questions,
				requests, n, most)
		}
		var d map[string]any
		if err := json.Unmarshal([]byte(out), &d); err != nil {
			t.Fatal(err)
		}
		delete(d, "run")
		b, err := json.Marshal(d)
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	killed, whole := drilled(true), drilled(false)
	if killed != whole {
		t.Errorf("a drill that was killed ends with\n%s\nand one that was not with\n%s", killed, whole)
	}
	if !strings.Contains(whole, fmt.Sprintf(`"decided":%d`, n)) {
		t.Errorf("nothing was decided: %s", whole)
	}
}
