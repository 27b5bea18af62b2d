// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

//go:build linux

package main

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/spf13/cobra"

	"github.com/callvet/callvet/internal/account"
	"github.com/callvet/callvet/internal/sys"
)

// blocked are command lines that can never end by themselves, for every command. Words in capitals
// are FIFOs. No process has the other end of IN; a process that writes nothing has that of HELD.
// The output of a command without either is a full pipe that no process reads.
var blocked = map[string][]string{
	"backup":            {"saved.db"},
	"calibrate":         {"IN --judge j", "labels.jsonl --judge j --run HELD"},
	"case add":          {"new.json cases.json --mocks IN", "new.json cases.json --tools HELD"},
	"case archive":      {"locked.json rg-a-001 --reason r"},
	"case coverage":     {"cases.json HELD", "cases.json --tools HELD"},
	"case from-failure": {"whole the-coming-week --bug b"},
	"case from-trace":   {"HELD t --tier golden"},
	"case lock":         {"cases.json --tools HELD", "cases.json --mocks IN"},
	"case new":          {"--tier golden --prompt p --expect a --tools HELD"},
	"convert":           {"IN", "HELD", "suite.yaml -o IN"},
	"diff":              {"HELD traces.jsonl", "whole whole"},
	"drill":             {"HELD -m offline/lexical", "-m openai/m --base-url SERVER --no-cache"},
	"fixtures make":     {"HELD -o x.yaml", "whole -o IN.yaml"},
	"gate":              {"HELD --gates gates.yaml", "whole --gates IN", "whole --gates gates.yaml -o IN.md"},
	"gates init":        {"g.yaml"},
	"init":              {"s.yaml", "IN --force"},
	"jobs":              {"http://127.0.0.1:1 --watch j"},
	"judge audit":       {"whole --judge task -m openai/m --base-url SERVER --no-cache"},
	"judge list":        {"", "HELD"},
	"judge run": {
		"whole --judge task -m openai/m --base-url SERVER --no-cache",
		"whole --judge own --prompt IN --schema HELD -m openai/m",
	},
	"judge show":   {"HELD"},
	"label apply":  {"IN traces.jsonl -o l.jsonl", "HELD traces.jsonl --suite s.yaml"},
	"label gold":   {"HELD -o g.yaml"},
	"label export": {"HELD", "labels.jsonl -o IN"},
	"label import": {"IN", "HELD"},
	"label next":   {"IN", "traces.jsonl -o IN"},
	"label stamp":  {"traces.jsonl HELD --by a"},
	"lint":         {"IN", "HELD"},
	"login":        {"http://127.0.0.1:1"},
	"logout":       {"http://127.0.0.1:1"},
	"mcp import":   {"SERVER", "--command COMMAND"},
	"mcp serve": {
		"suite.yaml", "HELD", "suite.yaml --http 127.0.0.1:0",
		"suite.yaml --case paris-now -o t.jsonl",
	},
	"plan":               {"--metric arg_em --bound 0.9", "--metric cost_per_pass --from HELD --bound 0.9"},
	"prices":             {"IN", "HELD", "-o IN", ""},
	"prompt add":         {"HELD --name a"},
	"prompt delete":      {"kept"},
	"prompt list":        {""},
	"prompt show":        {"kept"},
	"prompt tool-caller": {"HELD", "IN", "catalogue.json -o IN"},
	"proxy model":        {"--record rec", "--record rec -- sleep 1000"},
	"proxy mcp":          {"--command cat", "http://127.0.0.1:1/mcp --http 127.0.0.1:0", "--guard HELD --command cat"},
	"replay":             {"whole -o IN.html", "whole -m openai/m --base-url SERVER"},
	"doctor":             {""},
	"restore":            {"copy.db --force"},
	"report":             {"whole -o IN.html", "whole -o IN.json"},
	"run": {
		"HELD -m offline/lexical", "suite.yaml -m openai/m --base-url SERVER --no-cache",
		"suite.yaml -m exec:AGENT", "suite.yaml -m offline/lexical -q -o IN.csv",
	},
	"rekey":  {"--new-secret-key n.key"},
	"runs":   {""},
	"schema": {"suite"},
	"score": {
		"HELD", "- --slice x", "traces.jsonl -o IN.md",
		"asked.jsonl --suite asks.yaml --allow-exec",
	},
	"select":              {"HELD --tools catalogue.json", "questions.json --via SERVER"},
	"select decisions":    {"HELD --tools catalogue.json", "asked.jsonl --tools HELD"},
	"select query":        {"weather --tools HELD", "weather --via SERVER"},
	"select routes":       {""},
	"select routes learn": {"IN -o m.json", "HELD"},
	"select sweep":        {"questions.json --tools HELD"},
	"select tune":         {"HELD --tools catalogue.json"},
	"serve":               {"--listen 127.0.0.1:0"},
	"view":                {""},
	"show":                {"whole"},
	"stale":               {"HELD --tools catalogue.json", "cases.json --tools IN"},
	"targets":             {""},
	"tools":               {""},
	"tools apply":         {"HELD --edits e.yaml -o n.json", "catalogue.json --edits HELD -o n.json"},
	"tools cache":         {""},
	"tools cache clear":   {""},
	"tools confusable":    {"HELD"},
	"tools lint":          {"IN"},
	"tools suggest":       {"HELD --suite questions.json -m openai/m -o new.yaml"},
	"tools whatif":        {"catalogue.json --edits HELD --suite questions.json"},
	"trace check":         {"HELD"},
	"trace export":        {"whole -o IN"},
	"trace import":        {"HELD", "-", "traces.jsonl --follow -o IN", "traces.jsonl -o IN"},
	"tune":                {""},
	"tune apply":          {"last~1 --anyway --targets t.yaml"},
	"tune delete":         {"last"},
	"tune list":           {""},
	"tune params": {
		"HELD -m offline/lexical --preset temperature",
		"suite.yaml -m openai/m --base-url SERVER --no-cache --preset temperature",
	},
	"tune presets":        {""},
	"tune presets add":    {"mine HELD"},
	"tune presets delete": {"mine"},
	"tune prompt":         {"suite.yaml -m script:model.yaml --meta openai/m --meta-base-url SERVER --no-cache"},
	"tune resume":         {"last --max-calls 1000"},
	"tune show":           {"last"},
	"variance":            {"twice"},
	"version":             {""},
}

// TestUnracedInterrupt: whatever a command of the command tree waits for, it ends at an interrupt
// with exit code 130 and one line, with the command that resumes a run. A server that had begun to
// serve ends with 0.
func TestUnracedInterrupt(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("starts hundreds of processes, each of them slow under the race detector")
	}
	lab := newLaboratory(t)
	var lines []string
	eachCommand((&cli{}).rootCommand(), func(c *cobra.Command) {
		name := strings.TrimPrefix(c.CommandPath(), "callvet ")
		if len(blocked[name]) == 0 {
			t.Errorf("callvet %s: no command line in blocked: how is it held up, and does Ctrl-C end it then?", name)
		}
		for _, args := range blocked[name] {
			lines = append(lines, strings.TrimSpace(name+" "+args))
		}
	})
	// One place in the program takes signals: each line gets the first, and the others in turn.
	signals := [][]syscall.Signal{{syscall.SIGINT}, {syscall.SIGTERM}, {syscall.SIGINT, syscall.SIGINT}}
	_ = sys.InParallel(8, 2*len(lines), func(i int) error {
		line, sent := lines[i/2], signals[i%2*(1+i/2%2)]
		stderr, err := lab.interrupt(t, fmt.Sprint(i), line, sent)
		if err != nil {
			t.Errorf("callvet %s: %v: %v; it printed\n%s", line, sent, err, stderr)
		}
		all := strings.Split(strings.TrimSuffix(stderr, "\n"), "\n")
		last := all[len(all)-1]
		asks := strings.Contains(line, "exec:AGENT") || strings.Contains(line, "SERVER") &&
			!strings.HasPrefix(line, "select query") && !strings.HasPrefix(line, "mcp ")
		if !strings.HasPrefix(last, "callvet: interrupted") || strings.Count(stderr, "interrupted") != 1 || asks &&
			!strings.Contains(last, "go on with: callvet run --resume ") &&
			!strings.Contains(last, "go on with: callvet tune resume ") {
			t.Errorf("callvet %s: %v: it printed\n%s", line, sent, stderr)
		}
		return nil
	})
}

func eachCommand(c *cobra.Command, do func(*cobra.Command)) {
	if c.Runnable() {
		do(c)
	}
	for _, sub := range c.Commands() {
		eachCommand(sub, do)
	}
}

// laboratory is what the commands work on.
type laboratory struct {
	self, server string
	files        map[string]string
	asked        map[string]chan error // by the path of the server's address
	mu           sync.Mutex
}

func newLaboratory(t *testing.T) *laboratory {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	lab := &laboratory{self: self, files: map[string]string{}, asked: map[string]chan error{}}
	over := make(chan struct{})
	srv := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		id := strings.Split(r.URL.Path, "/")[1]
		lab.mu.Lock()
		if c := lab.asked[id]; c != nil {
			close(c)
			delete(lab.asked, id)
		}
		lab.mu.Unlock()
		select {
		case <-r.Context().Done():
		case <-over:
		}
	}))
	t.Cleanup(srv.Close)
	t.Cleanup(func() { close(over) })
	lab.server = srv.URL

	examples := filepath.Join("..", "..", "examples")
	for name, from := range map[string]string{
		"suite.yaml": "weather.yaml", "traces.jsonl": "safety-drill.jsonl", "catalogue.json": "select/catalogue.json",
		"questions.json": "select/suite.json", "gates.yaml": "regression/gates.yaml",
	} {
		lab.files[name] = string(readFile(t, examples, from))
	}
	lab.files["cases.json"] = `[{"id":"rg-a-001","description":"d","difficulty":"regression","createdAt":"2026-03-01","bugRef":"#1","input":{"message":"m"},"expect":{"toolsCalled":["a"]}}]`
	lab.files["locked.json.lock"] = `{"callvet_lock": 1, "locked": [{"id": "rg-a-001", "tier": "regression", "sha256": "` + strings.Repeat("a", 64) + `", "at": "2026-03-01"}]}`
	lab.files["asks.yaml"] = "callvet: 1\nname: asks\ncases: [{id: a, prompt: p, expect: {scorers: [{name: slow, exec: sleep 1000}]}}]\n"
	lab.files["asked.jsonl"] = `{"type":"task","task_id":"a","goal":"p","final_answer":"x"}` + "\n"
	lab.files["labels.jsonl"] = `{"task_id":"a","by":"x","pass":true,"judged":[{"judge":"j","pass":true}]}` + "\n"
	lab.files["e.yaml"] = "edits:\n  - tool: trafikverket_trafikinfo_olyckor\n    description: Olyckor på vägar.\n    status: accepted\n"
	lab.files["answer.json"] = `{"message": "It rains.", "toolCalls": []}`
	lab.files["model.yaml"] = "rules: [{case: '*', text: It rains.}]\n"
	lab.files["space.yaml"] = "params: {temperature: [0, 0.5, 1]}\n"
	dir := t.TempDir()
	writeFiles(t, dir, lab.files)
	runApp(t, dir, nil, exitOK, "run", "suite.yaml", "-m", "exec:cat answer.json", "-r", "2", "-q", "--name", "twice")
	runApp(t, dir, nil, exitOK, "run", "suite.yaml", "-m", "offline/lexical", "-q", "--name", "whole")
	runApp(t, dir, nil, exitOK, "prompt", "add", "answer.json", "--name", "kept")
	runApp(t, dir, nil, exitOK, "tune", "presets", "add", "mine", "space.yaml")
	// One search has candidates, and the limits of the other one ended it.
	for _, calls := range []string{"1000", "1"} {
		runApp(t, dir, nil, exitOK, "tune", "params", "suite.yaml", "-m", "script:model.yaml", "--preset", "mine",
			"--max-calls", calls, "-q")
	}
	lab.files["runs.db"] = string(readFile(t, dir, "runs.db"))
	lab.files["copy.db"] = lab.files["runs.db"]
	// rekey opens secrets with it
	lab.files["runs.db.key"] = base64.StdEncoding.EncodeToString(make([]byte, account.SecretSize))
	return lab
}

// interrupt starts a command, and waits until it has begun. If it asks a server or starts a
// program, it waits for that too. Then it sends the signals and returns the text on standard error.
func (lab *laboratory) interrupt(t *testing.T, id, line string, signals []syscall.Signal) (stderr string, err error) {
	dir := t.TempDir()
	writeFiles(t, dir, lab.files)
	fifo := func(name string) string {
		path := filepath.Join(dir, name)
		if err := syscall.Mkfifo(path, 0o600); err != nil && !errors.Is(err, syscall.EEXIST) {
			t.Error(err)
		}
		return path
	}
	begun := fifo("begun")
	args := []string{"callvet", "--cpuprofile", begun, "--db", filepath.Join(dir, "runs.db")}
	ready := []<-chan error{opened(begun)}
	full := true
	for _, word := range strings.Fields(line) {
		switch {
		case word == "HELD":
			held, err := os.OpenFile(fifo(word), os.O_RDWR, 0)
			if err != nil {
				return "", err
			}
			defer held.Close()
		case strings.HasPrefix(word, "IN"):
			fifo(word)
		case word == "SERVER":
			word = lab.server + "/" + id
			c := make(chan error)
			lab.mu.Lock()
			lab.asked[id] = c
			lab.mu.Unlock()
			ready = append(ready, c)
		case word == "exec:AGENT":
			started := fifo("started")
			word = "exec:sh -c 'echo x > " + started + "; exec sleep 1000'"
			ready = append(ready, opened(started))
		case word == "COMMAND": // a server over stdio that answers nothing
			started := fifo("started")
			word = "sh -c 'echo x > " + started + "; exec sleep 1000'"
			ready = append(ready, opened(started))
		case word == "-":
		default:
			args = append(args, word)
			continue
		}
		full = false
		args = append(args, word)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, lab.self)
	cmd.Args, cmd.Dir = args, dir
	cmd.Env = append(os.Environ(), "HOME="+dir, "OPENAI_API_KEY=k", "CALLVET_TOKEN=t", "CALLVET_CACHE="+dir)
	var errs bytes.Buffer
	cmd.Stderr = &errs
	in, err := cmd.StdinPipe()
	if err != nil {
		return "", err
	}
	defer in.Close()
	if full {
		r, w, err := os.Pipe()
		if err != nil {
			return "", err
		}
		defer r.Close()
		defer w.Close()
		if err := fill(w); err != nil {
			return "", err
		}
		cmd.Stdout = w
	}
	if err := cmd.Start(); err != nil {
		return "", err
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	for _, c := range ready {
		select {
		case <-c:
		case err := <-ended:
			return errs.String(), fmt.Errorf("ended before the signal: %w", err)
		}
	}
	for i, s := range signals {
		// the first may be enough
		if err := cmd.Process.Signal(s); err != nil && !(i > 0 && errors.Is(err, os.ErrProcessDone)) {
			return "", err
		}
	}
	err = <-ended
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.ExitCode() == exitInterrupted {
		err = nil
		// an interrupt is how a server ends
	} else if err == nil && !strings.HasPrefix(line, "serve ") && !strings.HasPrefix(line, "view") {
		err = errors.New("exit 0")
	}
	left, lerr := filepath.Glob(filepath.Join(dir, ".callvet-*"))
	if len(left) > 0 {
		err = errors.Join(err, fmt.Errorf("left behind: %v", left))
	}
	return errs.String(), errors.Join(err, lerr)
}

// opened reports when a process has opened a FIFO for writing.
func opened(path string) <-chan error {
	c := make(chan error)
	go func() {
		defer close(c)
		if f, err := os.Open(path); err == nil {
			_ = f.Close()
		}
	}()
	return c
}

// fill writes to a pipe as much as it takes.
func fill(w *os.File) error {
	fd := int(w.Fd())
	if err := syscall.SetNonblock(fd, true); err != nil {
		return err
	}
	chunk := make([]byte, 1<<12)
	for {
		if _, err := syscall.Write(fd, chunk); errors.Is(err, syscall.EAGAIN) {
			return syscall.SetNonblock(fd, false)
		} else if err != nil {
			return err
		}
	}
}
