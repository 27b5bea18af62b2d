// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

// Package journeys walks whole journeys of a user through the callvet binary:
// everything passes, everything fails, mixed, only errors, one case, none; once
// and three times; one target and three. After each run every command that reads
// it is called in every format. A step is right if its exit code follows from
// the fixture, nothing panicked, and every format counts the same passes, failures and errors, which
// are known before callvet runs.
//
// The commands are read from the binary's help: a command that no journey uses, and that is not in
// the list of exceptions (apart), is a failure.
package journeys

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/callvet/callvet/internal/sys"
)

// Config chooses the journeys to walk.
type Config struct {
	Binary string    // path of the callvet binary
	Dir    string    // an empty folder for suites, stores and reports
	Out    io.Writer // receives a line for each failure; nil discards them
	Match  string    // only journeys with this text in the name; "" walks all
	// Corners walks only the mixed shape with one repeat of many targets, and with many repeats of
	// one target. Other shapes are walked with one of both and with many of both.
	Corners bool
}

// Report has the results of a walk.
type Report struct {
	Journeys int
	Steps    int // commands that were run
	Checks   int // exit codes and figures that were compared
	Failures []string
}

// repeats and targets are the sizes of every shape.
var (
	repeatCounts = []int{1, 3}
	targetCounts = []int{1, 3}
)

// apart are the commands that read no run and no trace file, each with the reason.
var apart = map[string]string{
	"prompt add":            "keeps texts of a person; scripts of cmd/callvet use it",
	"prompt delete":         "keeps texts of a person; scripts of cmd/callvet use it",
	"prompt list":           "keeps texts of a person; scripts of cmd/callvet use it",
	"prompt show":           "keeps texts of a person; scripts of cmd/callvet use it",
	"tune apply":            "asks cases of its own choice; verify tune simulates searches, and scripts of cmd/callvet use it",
	"tune delete":           "asks cases of its own choice; verify tune simulates searches, and scripts of cmd/callvet use it",
	"tune list":             "asks cases of its own choice; verify tune simulates searches, and scripts of cmd/callvet use it",
	"tune params":           "asks cases of its own choice; verify tune simulates searches, and scripts of cmd/callvet use it",
	"tune presets add":      "keeps texts of a person; scripts of cmd/callvet use it",
	"tune presets delete":   "keeps texts of a person; scripts of cmd/callvet use it",
	"tune prompt":           "asks cases of its own choice; verify tune simulates searches, and scripts of cmd/callvet use it",
	"tune resume":           "asks cases of its own choice; verify tune simulates searches, and scripts of cmd/callvet use it",
	"tune show":             "asks cases of its own choice; verify tune simulates searches, and scripts of cmd/callvet use it",
	"backup":                "copies the store; its script restores it",
	"doctor":                "looks at the store as a whole; the script of backup does",
	"rekey":                 "seals the keys of a server anew; its own tests do",
	"restore":               "puts a copy in place of the store; the script of backup does",
	"case add":              "writes cases into a file of them; verify tiers walks it",
	"case archive":          "writes the lock of a file of cases; verify tiers walks it",
	"case new":              "writes a case into a file of them; verify tiers walks it",
	"case lock":             "writes the lock of a file of cases; verify tiers walks it",
	"completion bash":       "writes a shell's completion script",
	"completion fish":       "writes a shell's completion script",
	"completion powershell": "writes a shell's completion script",
	"completion zsh":        "writes a shell's completion script",
	"drill":                 "runs drills, which make drill and TestShippedDrills do",
	"fixtures make":         "writes a suite or recordings; its script reads them back",
	"help":                  "writes help",
	"jobs":                  "lists and follows what a server does; its test does",
	"login":                 "asks a server for a token; its test does",
	"logout":                "ends the token of a server; its test does",
	"view":                  "serves the page; its test and verify-web open it",
	"serve":                 "answers over HTTP; its test and verify-authz ask it",
	"mcp import":            "asks a server for its tools; verify mcp does with eight of them",
	"mcp serve":             "answers agents that speak MCP; verify mcp does with others' clients",
	"prices":                "lists prices, or makes a table of them from a list of others",
	"prompt tool-caller":    "writes a prompt of tools",
	"proxy model":           "records and replays models of other programs; its script does",
	"proxy mcp":             "stands between an agent and a server; verify mcp does with others' of both",
	"replay":                "makes the same run again; verify replay does a hundred times",
	"tools suggest":         "asks a model for texts of a catalogue",
	"tools apply":           "writes edits into a catalogue",
	"tools cache clear":     "forgets kept vectors",
	"select routes learn":   "reads questions and writes routes",
}

// Walk walks every journey with as many processes as there are processors.
func Walk(ctx context.Context, cfg Config) (*Report, error) {
	binary, err := filepath.Abs(cfg.Binary)
	if err != nil {
		return nil, fmt.Errorf("find the binary: %w", err)
	}
	w := &walker{cfg: cfg, binary: binary, used: map[string]bool{}}
	tree, err := w.tree(ctx, nil)
	if err != nil {
		return nil, fmt.Errorf("list the commands of %s: %w", binary, err)
	}
	walked := slices.DeleteFunc(journeysOf(cfg.Corners),
		func(j journey) bool { return !strings.Contains(j.name, cfg.Match) })
	w.report.Journeys = len(walked)
	err = sys.InParallel(runtime.GOMAXPROCS(0), len(walked), func(i int) error {
		if err := w.journey(ctx, walked[i]); err != nil {
			w.fail(walked[i].name, "%v", err)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	if cfg.Match == "" {
		w.covered(tree)
	}
	slices.Sort(w.report.Failures)
	return &w.report, ctx.Err()
}

// journey is one path through the product.
type journey struct {
	name             string
	kind             kind
	shape            *shape
	repeats, targets int
}

// kind is where a journey begins.
type kind int

const (
	ofRun      kind = iota // callvet run SUITE
	ofSelect               // callvet select SUITE
	ofTraces               // callvet score TRACES
	ofNewcomer             // callvet init, then all its proposals
)

func journeysOf(corners bool) []journey {
	var out []journey
	for i := range shapes {
		for _, r := range repeatCounts {
			for _, t := range targetCounts {
				s := &shapes[i]
				if corners && s.name != "mixed" && (r == 1) != (t == 1) {
					continue
				}
				out = append(out,
					journey{fmt.Sprintf("run, %s, repeat %d, targets %d", s.name, r, t), ofRun, s, r, t},
					journey{fmt.Sprintf("traces, %s, repeat %d, targets %d", s.name, r, t), ofTraces, s, r, t})
			}
			out = append(out,
				journey{fmt.Sprintf("select, %s, repeat %d", shapes[i].name, r), ofSelect, &shapes[i], r, 1})
		}
	}
	return append(out, journey{"newcomer", ofNewcomer, &shapes[0], 1, 1})
}

// Expected is how many journeys a whole walk has: each shape by repeats, by targets
// for runs and trace files and alone for retrievers, and the newcomer.
func Expected(corners bool) int {
	all := len(shapes)*len(repeatCounts)*(2*len(targetCounts)+1) + 1
	if corners {
		all -= 2 * 2 * (len(shapes) - 1)
	}
	return all
}

type walker struct {
	cfg    Config
	binary string

	mu     sync.Mutex
	used   map[string]bool // commands that a journey used
	report Report
}

func (w *walker) fail(at, format string, args ...any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	line := at + ": " + fmt.Sprintf(format, args...)
	w.report.Failures = append(w.report.Failures, line)
	if w.cfg.Out != nil {
		fmt.Fprintln(w.cfg.Out, line)
	}
}

// check counts one comparison and stores it if it fails.
func (w *walker) check(ok bool, at, format string, args ...any) {
	w.mu.Lock()
	w.report.Checks++
	w.mu.Unlock()
	if !ok {
		w.fail(at, format, args...)
	}
}

// covered fails for every command that no journey used.
func (w *walker) covered(tree []string) {
	for _, c := range tree {
		w.check(w.used[c] != (apart[c] != ""), "command "+c,
			"either a journey uses it or the list of exceptions has the reason: used %v, apart %q",
			w.used[c], apart[c])
	}
	for _, c := range slices.Sorted(maps.Keys(apart)) {
		w.check(slices.Contains(tree, c), "command "+c, "is on the list of commands apart and does not exist")
	}
}

// tree lists the commands with an action, such as "label next".
func (w *walker) tree(ctx context.Context, path []string) ([]string, error) {
	out, err := exec.CommandContext(ctx, w.binary, append(slices.Clone(path), "--help")...).Output()
	if err != nil {
		return nil, err
	}
	var list []string
	usage, rest, _ := strings.Cut(string(out), "Available Commands:\n")
	// A command with subcommands has an action itself if it takes an argument.
	takes := regexp.MustCompile(`\n  callvet ` + strings.Join(path, " ") + ` [A-Z]`)
	if len(path) > 0 && (rest == "" || takes.MatchString(usage)) {
		list = append(list, strings.Join(path, " "))
	}
	for line := range strings.Lines(rest) {
		name, _, _ := strings.Cut(strings.TrimSpace(line), " ")
		if name == "" {
			break
		}
		below, err := w.tree(ctx, append(slices.Clone(path), name))
		if err != nil {
			return nil, err
		}
		list = append(list, below...)
	}
	return list, nil
}

// traveller does the steps of one journey in a separate folder.
type traveller struct {
	*walker
	ctx  context.Context
	of   journey
	dir  string
	want []counts // by target
}

func (w *walker) journey(ctx context.Context, j journey) error {
	name := strings.NewReplacer(" ", "-", ",", "").Replace(j.name)
	t := &traveller{
		walker: w, ctx: ctx, of: j, dir: filepath.Join(w.cfg.Dir, name),
		want: j.shape.counts(j.targets, j.repeats),
	}
	if j.kind == ofSelect {
		first := shape{
			j.shape.name, j.shape.cases,
			func(target, ix, _ int) verdict { return j.shape.want(target, ix, 0) },
		}
		t.want = first.counts(j.targets, j.repeats)
	}
	if err := os.MkdirAll(t.dir, 0o755); err != nil {
		return fmt.Errorf("make the journey's folder: %w", err)
	}
	switch j.kind {
	case ofRun:
		return t.run()
	case ofSelect:
		return t.selects()
	case ofTraces:
		return t.traces()
	case ofNewcomer:
		return t.newcomer()
	}
	return fmt.Errorf("journey of kind %d is not known", j.kind)
}

func (t *traveller) write(name, text string) error {
	if err := os.WriteFile(filepath.Join(t.dir, name), []byte(text), 0o644); err != nil {
		return fmt.Errorf("write a fixture: %w", err)
	}
	return nil
}

// result is the result of a step.
type result struct {
	step     string
	exit     int
	out, err string
}

// anyVerdict is the exit code of a step if another check tests its verdict.
const anyVerdict = -1

// step runs a command in the journey's folder. command is its path in the tree;
// exit is the required exit code, or anyVerdict for 0, 3 or 4.
func (t *traveller) step(exit int, command string, args ...string) result {
	t.mu.Lock()
	t.used[command] = true
	t.mu.Unlock()
	return t.exec(exit, append(strings.Fields(command), args...))
}

func (t *traveller) exec(exit int, args []string) result {
	cmd := exec.CommandContext(t.ctx, t.binary, args...)
	return t.process(exit, "callvet "+strings.Join(args, " "), cmd)
}

func (t *traveller) process(exit int, what string, cmd *exec.Cmd) result {
	var out, errs bytes.Buffer
	cmd.Dir, cmd.Stdout, cmd.Stderr = t.dir, &out, &errs
	cmd.Env = append(os.Environ(), "CALLVET_DB="+filepath.Join(t.dir, "runs.db"), "HOME="+t.dir,
		"XDG_CACHE_HOME="+t.dir, "XDG_DATA_HOME="+t.dir, "NO_COLOR=1", "GITHUB_ACTIONS=",
		"PATH="+filepath.Dir(t.binary)+string(os.PathListSeparator)+os.Getenv("PATH"))
	err := cmd.Run()
	r := result{step: what, out: out.String(), err: errs.String()}
	var ended *exec.ExitError
	if errors.As(err, &ended) {
		r.exit = ended.ExitCode()
	} else if err != nil {
		t.fail(t.of.name, "%s: %v", what, err)
		r.exit = -1
	}
	t.mu.Lock()
	t.report.Steps++
	t.mu.Unlock()
	at := t.of.name + ": " + what
	t.check(!strings.Contains(r.err, "panic:") && !strings.Contains(r.err, "goroutine ") &&
		!strings.Contains(r.err, "bug in callvet"), at, "panicked: %s", first(r.err, 400))
	ok := r.exit == exit || exit == anyVerdict && (r.exit == 0 || r.exit == 3 || r.exit == 4)
	t.check(ok, at, "exit %d, want %d: %s", r.exit, exit, first(r.err, 400))
	return r
}

func first(s string, n int) string {
	s = strings.TrimSpace(s)
	if len(s) > n {
		s = s[:n] + " …"
	}
	return s
}

// formats returns the extensions in the help of a command.
func (t *traveller) formats(command ...string) []string {
	out, err := exec.CommandContext(t.ctx, t.binary, append(command, "--help")...).Output()
	if err != nil {
		t.fail(t.of.name, "help of %v: %v", command, err)
		return nil
	}
	var found []string
	for _, line := range strings.Split(string(out), "\n") {
		if strings.Contains(line, ".html") || strings.Contains(line, ".md") {
			for _, ext := range extensions.FindAllString(line, -1) {
				// a PDF is the printed page, and needs a browser
				if ext = strings.TrimSpace(ext); !slices.Contains(found, ext) && ext != ".yaml" && ext != ".pdf" {
					found = append(found, ext)
				}
			}
		}
	}
	slices.Sort(found)
	t.check(len(found) >= 4, t.of.name, "the help of %v names %d formats", command, len(found))
	return found
}

var extensions = regexp.MustCompile(`(?:^| )\.[a-z]+`)
