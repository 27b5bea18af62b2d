// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package run_test

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/run"
	"github.com/callvet/callvet/internal/store"
	"github.com/callvet/callvet/internal/world"
)

const (
	killedStore = "CALLVET_TEST_KILLED_STORE"
	killedCells = 5000
)

// TestKilledChild is the child process of TestKillAndResume: it runs until it is killed.
func TestKilledChild(t *testing.T) {
	path := os.Getenv(killedStore)
	if path == "" {
		t.Skip("only runs as a child of TestKillAndResume")
	}
	db, err := store.Open(t.Context(), path, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	r, err := db.Run(t.Context(), "latest")
	if err != nil {
		t.Fatal(err)
	}
	if err := resume(t, db, r, func(e run.Event) { fmt.Println(e.Done) }); err != nil {
		t.Fatal(err)
	}
}

// resume continues a run with the suite in the store, as a command would.
func resume(t *testing.T, db *store.DB, r store.Run, observe func(run.Event)) error {
	s, err := db.Suite(t.Context(), r.SuiteHash)
	if err != nil {
		return err
	}
	_, err = run.Run(t.Context(), run.Config{
		Suite: s, Compile: compile, Journal: db, RunID: r.ID, Done: db.DoneCells(t.Context(), r.ID),
		Limits: map[string]run.Limits{"": {Concurrency: 32}}, Observe: observe,
		Targets: []run.Target{target("m", "p",
			modelFunc(func(context.Context, *callvet.Request) (*callvet.Response, error) {
				time.Sleep(time.Millisecond) // long enough for the parent to kill in the middle
				return calls("weather", `{}`), nil
			}))},
	})
	return err
}

// A run is killed with SIGKILL several times on the way. Each cell is then stored exactly once,
// with every cell that a process had counted.
func TestKillAndResume(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "x.db")
	db, err := store.Open(t.Context(), path, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	r, err := db.CreateRun(t.Context(), store.NewRun{Suite: suite(killedCells), Manifest: json.RawMessage(`{}`)})
	if err != nil {
		t.Fatal(err)
	}
	for _, at := range []int{500, 1500, 3000} {
		counted := killAt(t, path, at)
		n := len(stored(t, db, r.ID))
		if n < counted || n >= killedCells {
			t.Fatalf("the killed process had counted %d cells, %d are stored", counted, n)
		}
		t.Logf("killed after %d counted cells, %d stored", counted, n)
	}
	var last run.Event
	before := len(stored(t, db, r.ID))
	fresh := 0
	if err := resume(t, db, r, func(e run.Event) { last = e; fresh += len(e.Cells) }); err != nil {
		t.Fatal(err)
	}
	if n := len(stored(t, db, r.ID)); n != killedCells || last.Done != killedCells || fresh != killedCells-before {
		t.Errorf("%d cells stored, %d counted, %d made in the last session after %d", n, last.Done, fresh, before)
	}
}

// killAt starts a child, kills it when it reports that at cells are durable, and returns the last
// number it reported.
func killAt(t *testing.T, path string, at int) (counted int) {
	t.Helper()
	cmd := exec.Command(os.Args[0], "-test.run=^TestKilledChild$")
	cmd.Env = append(os.Environ(), killedStore+"="+path)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	for n := 0; ; {
		if _, err := fmt.Fscanln(out, &n); err != nil {
			break
		}
		counted = n
		if n >= at {
			_ = cmd.Process.Kill() // it may have ended by itself; the count shows it
		}
	}
	if err := cmd.Wait(); err == nil {
		t.Fatal("the child ended before it was killed")
	}
	return counted
}

// TestResumeKnowsTheDearest: a cell without room in the limit is not started, even if this process
// does not know yet what a cell costs.
func TestResumeKnowsTheDearest(t *testing.T) {
	t.Parallel()
	db, s := openStore(t), suite(30)
	usd := 0.3
	cfg := config(t, db, s, func(context.Context, *callvet.Request) (*callvet.Response, error) {
		r := calls("weather", `{}`)
		r.Usage = callvet.Usage{Known: true, CostUSD: &usd}
		return r, nil
	})
	cfg.Budget = run.Budget{MaxCostUSD: 1}
	for range 2 {
		sum, err := run.Run(t.Context(), cfg)
		if !errors.Is(err, callvet.ErrBudget) || sum.Done != 3 || sum.Spent.USD > 1 {
			t.Fatalf("%d done, %v spent, %v", sum.Done, sum.Spent.USD, err)
		}
		cfg.Done, cfg.Spent = db.DoneCells(t.Context(), cfg.RunID), sum.Spent
	}
}

func TestResumeRunsErrorsAgain(t *testing.T) {
	t.Parallel()
	db, s := openStore(t), suite(30)
	var asked atomic.Int64
	broken := true
	cfg := config(t, db, s, func(_ context.Context, req *callvet.Request) (*callvet.Response, error) {
		asked.Add(1)
		if broken && req.CaseID >= "case-000020" {
			return nil, &callvet.Fault{Kind: callvet.FaultRequest, HTTP: 400, Message: "broken"}
		}
		return calls("weather", `{}`), nil
	})
	cfg.Cases = []int{0, 1, 2, 3, 20, 21, 22}
	if sum := mustRun(t, cfg); sum.Error != 3 || sum.Pass != 4 {
		t.Fatalf("%+v", sum.Totals)
	}
	cfg.Done, cfg.KeepErrors = db.DoneCells(t.Context(), cfg.RunID), true
	if sum := mustRun(t, cfg); sum.Error != 3 || sum.Done != 7 || asked.Load() != 7 {
		t.Errorf("kept errors: %+v after %d requests", sum.Totals, asked.Load())
	}
	broken = false
	cfg.Done, cfg.KeepErrors, cfg.Cases = db.DoneCells(t.Context(), cfg.RunID), false, nil
	sum := mustRun(t, cfg)
	want := run.Totals{Total: 30, Done: 30, Pass: 30, Requests: 30}
	if d := cmp.Diff(want, sum.Totals); d != "" || asked.Load() != 7+26 {
		t.Errorf("%s after %d requests", d, asked.Load())
	}
	for _, c := range stored(t, db, cfg.RunID) {
		if c.Result.Verdict != callvet.VerdictPass {
			t.Errorf("case %d is stored as %s", c.Case, c.Result.Verdict)
		}
	}
}

func TestFullDiskEndsTheRun(t *testing.T) {
	t.Parallel()
	db, err := store.Open(t.Context(), filepath.Join(t.TempDir(), "x.db"), store.Options{MaxPages: 300})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	cfg := config(t, db, suite(5000), func(context.Context, *callvet.Request) (*callvet.Response, error) {
		return calls("weather", `{}`), nil
	})
	sum, err := run.Run(t.Context(), cfg)
	var h *callvet.Hinted
	if !errors.Is(err, callvet.ErrUnavailable) || !errors.As(err, &h) || sum.Status != run.StatusFailed {
		t.Errorf("%s, %v", sum.Status, err)
	}
	if n := len(stored(t, db, cfg.RunID)); n != sum.Done || n == 0 || n == 5000 {
		t.Errorf("%d cells stored, %d counted", n, sum.Done)
	}
}

// Cells that are finished when the user interrupts again are stored, and no others count.
func TestAbortStoresFinishedCells(t *testing.T) {
	t.Parallel()
	db := openStore(t)
	abort := make(chan struct{})
	var n, session atomic.Int64
	cfg := config(t, db, suite(2000), func(ctx context.Context, _ *callvet.Request) (*callvet.Response, error) {
		switch k := n.Add(1); {
		case k == 700:
			close(abort)
		case k > 700 && session.Load() == 0:
			<-ctx.Done() // in flight when the user insists
			return nil, ctx.Err()
		}
		return calls("weather", `{}`), nil
	})
	cfg.Abort = abort
	sum, err := run.Run(t.Context(), cfg)
	if got := len(stored(t, db, cfg.RunID)); err != nil || sum.Status != run.StatusInterrupted ||
		got != sum.Done || got < 600 {
		t.Errorf("%s, %v: %d counted, %d stored, %d asked", sum.Status, err, sum.Done, got, n.Load())
	}
	session.Store(1)
	cfg.Abort, cfg.Done = nil, db.DoneCells(t.Context(), cfg.RunID)
	if sum := mustRun(t, cfg); sum.Done != 2000 || len(stored(t, db, cfg.RunID)) != 2000 {
		t.Errorf("resumed: %+v", sum.Totals)
	}
}

// identified is a model with an identity of its requests.
type identified struct {
	modelFunc
	deployment string
}

func (m identified) Identity(req *callvet.Request) [sha256.Size]byte {
	b, err := json.Marshal([]any{m.deployment, req.System, req.Turns, req.Tools, req.ToolChoice, req.Params})
	if err != nil {
		panic(err)
	}
	return sha256.Sum256(b)
}

func TestCache(t *testing.T) {
	t.Parallel()
	db, s := openStore(t), suite(40)
	s.Tools = append(s.Tools, callvet.Tool{Name: "other"})
	var asked atomic.Int64
	m := modelFunc(func(_ context.Context, req *callvet.Request) (*callvet.Response, error) {
		asked.Add(1)
		if req.CaseID == "case-000009" {
			return nil, &callvet.Fault{Kind: callvet.FaultRequest, HTTP: 400}
		}
		r, cost := calls("weather", fmt.Sprintf(`{"n":%d}`, asked.Load())), 0.5
		r.Usage = callvet.Usage{Known: true, CostUSD: &cost}
		return r, nil
	})
	again := func(change func(cfg *run.Config, s *callvet.Suite)) (run.Summary, int64, run.Config) {
		t.Helper()
		s := *s
		s.Cases = append([]callvet.Case(nil), s.Cases...)
		cfg := config(t, db, &s, m)
		cfg.Cache, cfg.Targets[0].Model, cfg.Repeats = db, identified{m, "here"}, 2
		change(&cfg, &s)
		before := asked.Load()
		sum := mustRun(t, cfg)
		return sum, asked.Load() - before, cfg
	}
	_, n, first := again(func(*run.Config, *callvet.Suite) {})
	if n != 80 {
		t.Fatalf("%d requests at first", n)
	}
	for _, tt := range []struct {
		name   string
		change func(cfg *run.Config, s *callvet.Suite)
		asks   int64
	}{
		{"nothing changed, errors are asked again", func(*run.Config, *callvet.Suite) {}, 2},
		{"other name and expectation", func(c *run.Config, s *callvet.Suite) {
			c.Targets[0].Name = "renamed"
			for i := range s.Cases {
				s.Cases[i].Description, s.Cases[i].Expect.MinToolCalls = "x", new(int)
			}
		}, 2},
		{"one more repeat", func(c *run.Config, _ *callvet.Suite) { c.Repeats = 3 }, 42},
		{"one input", func(_ *run.Config, s *callvet.Suite) {
			s.Cases[0].Input = []callvet.Turn{{Role: callvet.RoleUser, Content: "new"}}
		}, 4},
		{"one context", func(_ *run.Config, s *callvet.Suite) { s.Cases[1].Context = "new" }, 4},
		{"tools of one case", func(_ *run.Config, s *callvet.Suite) { s.Cases[2].ToolNames = []string{"weather"} }, 4},
		{"tool choice of one case", func(_ *run.Config, s *callvet.Suite) { s.Cases[3].ToolChoice = "required" }, 4},
		{"a temperature", func(c *run.Config, _ *callvet.Suite) { c.Targets[0].Params.Temperature = new(float64) }, 80},
		{"a deployment", func(c *run.Config, _ *callvet.Suite) { c.Targets[0].Model = identified{m, "there"} }, 80},
		{"a system prompt", func(c *run.Config, _ *callvet.Suite) { c.Targets[0].SystemPrompt = "new" }, 80},
		{"the suite's tool choice", func(_ *run.Config, s *callvet.Suite) { s.Defaults.ToolChoice = "none" }, 80},
		{
			"a model that cannot identify its requests",
			func(c *run.Config, _ *callvet.Suite) { c.Targets[0].Model = m }, 80,
		},
		{"no cache", func(c *run.Config, _ *callvet.Suite) { c.Cache = nil }, 80},
	} {
		sum, n, _ := again(tt.change)
		if n != tt.asks || sum.Requests != int(tt.asks) {
			t.Errorf("%s: %d requests (%d counted), want %d", tt.name, n, sum.Requests, tt.asks)
		}
	}
	_, _, second := again(func(*run.Config, *callvet.Suite) {})
	a, b := stored(t, db, first.RunID), stored(t, db, second.RunID)
	for i := range a {
		if a[i].Trace.Fault != nil {
			continue
		}
		if string(a[i].Trace.Calls()[0].Args) != string(b[i].Trace.Calls()[0].Args) || !b[i].Trace.Cached ||
			a[i].Trace.Cached || b[i].Trace.Attempts != 0 {
			t.Errorf("cell %d: %+v became %+v", i, a[i].Trace, b[i].Trace)
		}
	}
	sum, _, _ := again(func(c *run.Config, _ *callvet.Suite) { c.Budget.MaxCostUSD = 0.01 })
	if sum.Cached != 78 || sum.CostUSD != 0 || sum.Status != run.StatusDone {
		t.Errorf("a run from the cache: %+v", sum)
	}
}

// Every field of a case and of a suite changes the request, or the use of the answers if calls are
// answered; or it is listed here with the reason why a stored trace is valid for any value of it.
func TestCacheSeparatesCases(t *testing.T) {
	t.Parallel()
	const scored = "it decides how a trace is scored, and a stored one is scored again"
	const named = "it names or describes, and is not sent"
	turns := []callvet.Turn{{Role: callvet.RoleUser, Content: "other"}}
	mocks := []callvet.Mock{{Tool: "weather", Replies: []callvet.MockReply{{Error: "down"}}}}
	tools := []callvet.Tool{{Name: "weather", Description: "other"}}
	type change = func(s *callvet.Suite)
	of := func(f func(c *callvet.Case)) change { return func(s *callvet.Suite) { f(&s.Cases[0]) } }
	// For a chain of calls every field matters except names; for a single turn only the request
	// does.
	chain := map[string]change{
		"Case.Input":      of(func(c *callvet.Case) { c.Input = turns }),
		"Case.Context":    of(func(c *callvet.Case) { c.Context = "x" }),
		"Case.ToolNames":  of(func(c *callvet.Case) { c.ToolNames = []string{"weather"} }),
		"Case.Tools":      of(func(c *callvet.Case) { c.Tools = tools }),
		"Case.ToolChoice": of(func(c *callvet.Case) { c.ToolChoice = "required" }),
		"Case.Expect":     of(func(c *callvet.Case) { c.Expect.Plans = nil }),
		"Case.MultiTurn":  of(func(c *callvet.Case) { c.MultiTurn = &callvet.MultiTurn{MaxRounds: 3} }),
		"Case.Mocks":      of(func(c *callvet.Case) { c.Mocks = mocks }),
		"Case.Scoring":    of(func(c *callvet.Case) { c.Scoring = &callvet.Scoring{Contract: "off"} }),
		"Case.Faults":     of(func(c *callvet.Case) { c.Faults = []callvet.ToolFault{{Way: callvet.WayNull}} }),
		"Case.Safety":     of(func(c *callvet.Case) { c.Safety = &callvet.Safety{} }),

		"Suite.SystemPrompt": func(s *callvet.Suite) { s.SystemPrompt = "x" },
		"Suite.Tools":        func(s *callvet.Suite) { s.Tools = append(s.Tools, callvet.Tool{Name: "third"}) },
		"Suite.Defaults":     func(s *callvet.Suite) { s.Defaults.Scoring.CaseSensitiveNames = true },
		"Suite.Mocks":        func(s *callvet.Suite) { s.Mocks = mocks },
		"Suite.Faults":       func(s *callvet.Suite) { s.Faults = []callvet.ToolFault{{Way: callvet.WayError}} },
	}
	single := map[string]string{
		"Case.Expect": scored, "Case.Scoring": scored, "Suite.Defaults": scored,
		"Case.Mocks": "no call is answered", "Suite.Mocks": "no call is answered",
		"Case.MultiTurn": "it makes a chain of the case",
	}
	cannot := map[string]string{
		"Case.ID": named, "Case.Description": named, "Case.Tier": named, "Case.Tags": named,
		"Case.Family": named, "Case.Fields": named,
		"Case.AsOf": named, "Case.Position": named, "Case.Foreign": named,
		"Case.Skip": "such a case is not asked", "Case.Selectable": "it is about targets that are never cached",
		"Case.Repeat": "a further attempt has a key of its own",
		"Suite.Name":  named, "Suite.Version": named, "Suite.Description": named,
		"Suite.Cases": "they are distinguished one by one", "Suite.Dialect": named, "Suite.Foreign": named,
	}
	make1 := func(chained bool) *callvet.Suite {
		s := suite(1)
		s.Tools = append(s.Tools, callvet.Tool{Name: "other"})
		s.Cases[0].Expect.Plans = []callvet.Plan{{Calls: []callvet.ExpectedCall{{Tools: []string{"weather"}}}}}
		if chained {
			s.Cases[0].MultiTurn = &callvet.MultiTurn{MaxRounds: 2}
		}
		return s
	}
	for _, chained := range []bool{true, false} {
		db := openStore(t)
		ask := func(change change) int64 {
			t.Helper()
			s, asked := make1(chained), int64(0)
			change(s)
			m := modelFunc(func(context.Context, *callvet.Request) (*callvet.Response, error) {
				asked++
				return answer("no"), nil
			})
			cfg := config(t, db, s, m)
			cfg.Cache, cfg.Targets[0].Model = db, identified{m, "here"}
			cfg.Worlds = func(c *callvet.Case, _ string,
				_ int,
			) callvet.World {
				return world.Mocks(s, c, world.MockOptions{})
			}
			cfg.Faults = func(c *callvet.Case) []callvet.ToolFault { return callvet.FaultsOf(s, c) }
			cfg.Faulty = func(w callvet.World, _ []callvet.ToolFault, _ *callvet.Case, _ int) callvet.World { return w }
			mustRun(t, cfg)
			return asked
		}
		if ask(func(*callvet.Suite) {}) != 1 || ask(func(*callvet.Suite) {}) != 0 {
			t.Fatal("the same case is answered from the cache")
		}
		for _, typ := range []reflect.Type{reflect.TypeFor[callvet.Case](), reflect.TypeFor[callvet.Suite]()} {
			for _, f := range reflect.VisibleFields(typ) {
				name := typ.Name() + "." + f.Name
				change := chain[name]
				if (change == nil) == (cannot[name] == "") {
					t.Errorf("field %s: state either how it changes a trace or why it cannot", name)
				}
				if change == nil {
					continue
				}
				want := int64(1)
				if !chained && single[name] != "" && name != "Case.MultiTurn" {
					want = 0
				}
				if n := ask(change); n != want {
					t.Errorf("%s (chain of calls: %t): %d requests, want %d", name, chained, n, want)
				}
			}
		}
	}
}
