// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package judge

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/score"
)

// TestMain lets the test binary be the program of a scorer. SCORER_TEST selects its behavior.
func TestMain(m *testing.M) {
	if mode := os.Getenv("SCORER_TEST"); mode != "" {
		os.Exit(behave(mode))
	}
	os.Exit(m.Run())
}

// behave answers questions.
func behave(mode string) int {
	in := bufio.NewReader(os.Stdin)
	for n := 1; ; n++ {
		text, err := in.ReadBytes('\n')
		if err != nil {
			return 0
		}
		var q struct {
			ID      int64
			Scorer  string
			Vars    map[string]string
			Attempt struct{ Answer string }
		}
		if json.Unmarshal(text, &q) != nil {
			return 4
		}
		switch mode {
		case "good", "once":
			fmt.Printf(`{"id":%d,"score":0.5,"reason":%q,"values":{"n":0.25}}`+"\n", q.ID,
				fmt.Sprintf("%s %s %s %d home=%s", q.Scorer, q.Vars["city"], q.Attempt.Answer, os.Getpid(),
					os.Getenv("HOME")))
			if mode == "once" {
				return 0
			}
		case "noisy":
			fmt.Fprintln(os.Stderr, strings.Repeat("working ", 20_000))
			fmt.Printf("\n\n{\"id\":%d,\"pass\":true}\n", q.ID)
		case "refuses":
			fmt.Printf(`{"id":%d,"error":"no dictionary for it"}`+"\n", q.ID)
		case "prose":
			fmt.Println("It is rather good.")
		case "half":
			fmt.Print(`{"id":1,"pass":`)
			return 0
		case "stale": // such as the answer of a target
			fmt.Println(`{"id":1,"pass":true}`)
		case "anonymous":
			fmt.Println(`{"pass":true}`)
		case "typo":
			fmt.Printf(`{"id":%d,"score":1,"passed":false}`+"\n", q.ID)
		case "twice":
			fmt.Printf(`{"id":%d,"pass":true,"pass":false}`+"\n", q.ID)
		case "range":
			fmt.Printf(`{"id":%d,"score":42}`+"\n", q.ID)
		case "huge":
			fmt.Printf(`{"id":%d,"pass":true,"reason":"`, q.ID)
			for range 64 {
				if _, err := os.Stdout.WriteString(strings.Repeat("x", 1<<16)); err != nil {
					return 5
				}
			}
			fmt.Println(`"}`)
		case "endless":
			for {
				if _, err := os.Stdout.WriteString(strings.Repeat("x", 1<<16)); err != nil {
					return 5
				}
			}
		case "dies":
			fmt.Fprintln(os.Stderr, "Traceback:\nKeyError: 'city'")
			return 3
		case "hang", "child":
			if mode == "hang" { // a child that would outlive it, with the pipe
				c := exec.Command(os.Args[0])
				c.Env, c.Stdout, c.Stdin = []string{"SCORER_TEST=child"}, os.Stdout, os.Stdin
				_ = c.Start()
				if file := os.Getenv("SCORER_PID"); file != "" && c.Process != nil {
					_ = os.WriteFile(file+".new", fmt.Append(nil, c.Process.Pid), 0o600)
					_ = os.Rename(file+".new", file)
				}
			}
			<-time.After(time.Hour) // until killed
		}
	}
}

func pool(t *testing.T, mode string, env ...string) (*ScorerPool, *callvet.Scorer) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	p := NewScorerPool(ScorerConfig{Dir: t.TempDir(), Env: append(env, "SCORER_TEST="+mode)})
	t.Cleanup(func() {
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	})
	return p, &callvet.Scorer{Name: "tone", Exec: "'" + self + "'", Vars: json.RawMessage(`{"city":"Paris"}`)}
}

func attempt() *score.Attempt {
	return &score.Attempt{Case: &callvet.Case{ID: "c"}, Trace: &callvet.Trace{Answer: "It rains."}}
}

func custom(t *testing.T, p *ScorerPool, s *callvet.Scorer) score.Custom {
	t.Helper()
	c, err := p.Custom(s)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestGood(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{"good", "once"} {
		p, s := pool(t, mode)
		c := custom(t, p, s)
		var before string
		for i := range 3 {
			o, err := c.Judge(t.Context(), attempt())
			if err != nil || *o.Score != 0.5 || o.Pass != nil || o.Values["n"] != 0.25 {
				t.Fatalf("%s %d: %+v %v", mode, i, o, err)
			}
			if !strings.HasPrefix(o.Reason, "tone Paris It rains. ") || !strings.HasSuffix(o.Reason, " home=") {
				t.Errorf("%s: %q", mode, o.Reason)
			}
			if same := o.Reason == before; i > 0 && same != (mode == "good") {
				t.Errorf("%s: the same process answers: %t", mode, same)
			}
			before = o.Reason
		}
	}
}

var ids = regexp.MustCompile(`\d{13,16}`)

// TestBad: whatever a program does, there is no opinion, and there is a reason. The next attempt
// gets a program that works.
func TestBad(t *testing.T) {
	t.Parallel()
	for mode, want := range map[string]string{
		"refuses":   `it could not judge the attempt: no dictionary for it`,
		"prose":     `its answer cannot be read: invalid: "It is rather good." (standard output is for answers: print all else to standard error)`,
		"half":      `the program ended before it answered`,
		"stale":     `it answered question "1", and another was asked: invalid`,
		"anonymous": `its answer has no id: invalid: "{\"pass\":true}"`,
		"typo":      `its answer cannot be read: unknown field "passed": invalid: "{\"id\":ID,\"score\":1,\"passed\":false}"`,
		"twice":     `its answer cannot be read: invalid: "{\"id\":ID,\"pass\":true,\"pass\":false}" (standard output is for answers: print all else to standard error)`,
		"range":     `invalid: it gave the score 42, which is not in [0, 1]`,
		"huge":      `its answer has more than 1048576 bytes: limited`,
		"endless":   `its answer has more than 1048576 bytes: limited`,
		"dies":      `the program ended before it answered: exit status 3: KeyError: 'city'`,
		"hang":      `context deadline exceeded`,
	} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			p, s := pool(t, mode)
			c := custom(t, p, s)
			ctx := t.Context()
			if mode == "hang" {
				var cancel context.CancelFunc
				ctx, cancel = context.WithTimeout(ctx, 200*time.Millisecond)
				defer cancel()
			}
			o, err := c.Judge(ctx, attempt())
			if err == nil || ids.ReplaceAllString(err.Error(), "ID") != want {
				t.Fatalf("%+v %v, want %s", o, err, want)
			}
			if n := len(p.idle); (n == 1) != (mode == "refuses") {
				t.Errorf("%d processes wait", n)
			}
			p.cfg.Env = []string{"SCORER_TEST=good"}
			if mode != "refuses" {
				if o, err := c.Judge(t.Context(), attempt()); err != nil || *o.Score != 0.5 {
					t.Errorf("afterwards: %+v %v", o, err)
				}
			}
		})
	}
}

func TestNoise(t *testing.T) {
	t.Parallel()
	p, s := pool(t, "noisy")
	if o, err := custom(t, p, s).Judge(t.Context(), attempt()); err != nil || !*o.Pass {
		t.Errorf("%+v %v", o, err)
	}
}

// TestLargeAttempt: more than a pipe holds is written while it is read.
func TestLargeAttempt(t *testing.T) {
	t.Parallel()
	p, s := pool(t, "good")
	a := attempt()
	a.Case.Context = strings.Repeat("rain ", 1<<18)
	if _, err := custom(t, p, s).Judge(t.Context(), a); err != nil {
		t.Error(err)
	}
	p, s = pool(t, "child") // reads one line and never answers
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if _, err := custom(t, p, s).Judge(ctx, a); !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
}

// TestAtOnce: as many processes as attempts are judged at once, each with its own answer.
func TestAtOnce(t *testing.T) {
	t.Parallel()
	p, s := pool(t, "good")
	c := custom(t, p, s)
	var wg sync.WaitGroup
	errs := make([]error, 8)
	for i := range errs {
		wg.Add(1)
		go func() {
			defer wg.Done()
			a := attempt()
			a.Trace.Answer = fmt.Sprint("number ", i)
			for range 5 {
				o, err := c.Judge(t.Context(), a)
				if err != nil || !strings.Contains(o.Reason, a.Trace.Answer+" ") {
					errs[i] = fmt.Errorf("%d: %+v %w", i, o, err)
				}
			}
		}()
	}
	wg.Wait()
	if err := errors.Join(errs...); err != nil {
		t.Error(err)
	}
	if n := len(p.idle); n == 0 || n > len(errs) {
		t.Errorf("%d processes wait", n)
	}
	if err := p.Close(); err != nil {
		t.Error(err)
	}
	if _, err := c.Judge(t.Context(), attempt()); !errors.Is(err, callvet.ErrConflict) {
		t.Error(err)
	}
}

// TestVersions: the declaration of a scorer and the contents of its files make its version.
func TestVersions(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("check.py", "1")
	write("words.txt", "a")
	version := func(s callvet.Scorer) string { return NewScorerPool(ScorerConfig{Dir: dir}).Version(&s) }
	base := callvet.Scorer{Name: "a", Exec: "python3 check.py --strict", Files: []string{"words.txt"}}
	first := version(base)
	if again := version(base); again != first || len(first) != 12 {
		t.Errorf("%s, then %s", first, again)
	}
	seen := map[string]string{first: "first"}
	other := func(name string, s callvet.Scorer) {
		t.Helper()
		v := version(s)
		if was := seen[v]; was != "" {
			t.Errorf("%s has the version of %s", name, was)
		}
		seen[v] = name
	}
	loose := base
	loose.Exec = "python3 check.py"
	other("another command", loose)
	write("words.txt", "b")
	other("another list of words", base)
	write("check.py", "2")
	other("another program", base)
	gone := base
	gone.Files = []string{"gone.txt"}
	other("a file that is not there", gone)
	other("JavaScript", callvet.Scorer{Name: "a", JavaScript: "true"})
	other("Python", callvet.Scorer{Name: "a", Python: "true"})
	if _, err := NewScorerPool(ScorerConfig{Dir: dir}).Custom(&gone); err == nil ||
		!strings.Contains(err.Error(), "gone.txt") {
		t.Error(err)
	}
}

func TestCommandsThatCannotBe(t *testing.T) {
	t.Parallel()
	p := NewScorerPool(ScorerConfig{Dir: t.TempDir()})
	for line, kind := range map[string]error{
		"no-such-program-anywhere": callvet.ErrNotFound,
		"./gone.sh":                callvet.ErrNotFound, `a "b`: callvet.ErrInvalid, "  ": callvet.ErrInvalid,
	} {
		if _, err := p.Custom(&callvet.Scorer{Name: "a", Exec: line}); !errors.Is(err, kind) {
			t.Errorf("%q: %v, want %v", line, err, kind)
		}
	}
	if _, err := p.Custom(&callvet.Scorer{Name: "a"}); !errors.Is(err, callvet.ErrInvalid) {
		t.Error(err)
	}
}

// TestRedact: a program sees what is left.
func TestRedact(t *testing.T) {
	t.Parallel()
	p, s := pool(t, "good")
	p.cfg.Redact = func(c *callvet.Case, tr *callvet.Trace) (callvet.Case, callvet.Trace) {
		own := *tr
		own.Answer = "[gone]"
		return *c, own
	}
	a := attempt()
	o, err := custom(t, p, s).Judge(t.Context(), a)
	if err != nil || !strings.Contains(o.Reason, "[gone]") || a.Trace.Answer != "It rains." {
		t.Errorf("%+v %v %s", o, err, a.Trace.Answer)
	}
}

// interpreted runs a program of a suite; it is skipped without its interpreter.
func interpreted(t *testing.T, s callvet.Scorer, tr *callvet.Trace) (score.Opinion, error) {
	t.Helper()
	name := map[string]string{"javascript": "node", "python": "python3"}[s.Kind()]
	if _, err := exec.LookPath(name); err != nil {
		t.Skip(name, "is not here")
	}
	p := NewScorerPool(ScorerConfig{Dir: t.TempDir(), Env: []string{"PATH=" + os.Getenv("PATH")}})
	t.Cleanup(func() { _ = p.Close() })
	s.Name = "x"
	return custom(t, p, &s).Judge(t.Context(),
		&score.Attempt{Case: &callvet.Case{
			ID:    "c",
			Input: []callvet.Turn{{Role: callvet.RoleUser, Content: "Weather?"}},
		}, Trace: tr})
}

// TestPrograms: return values of JavaScript and Python, and the opinions for them.
func TestPrograms(t *testing.T) {
	t.Parallel()
	half := 0.5
	said := callvet.Trace{Answer: `{"city":"Paris"}`}
	called := callvet.Trace{Turns: []callvet.Turn{{
		Role:  callvet.RoleAssistant,
		Calls: []callvet.Call{{ID: "1", Tool: "weather", Args: json.RawMessage(`{"city":"Paris"}`)}},
	}}}
	num := func(x float64) *float64 { return &x }
	yes, no := true, false
	for name, tc := range map[string]struct {
		of   callvet.Scorer
		of2  *callvet.Trace
		want score.Opinion
		err  string
	}{
		"js expression": {of: callvet.Scorer{JavaScript: `output.includes("Paris")`}, want: score.Opinion{Pass: &yes}},
		"js declaration": {
			of:   callvet.Scorer{JavaScript: `const o = JSON.parse(output); o.city === "a;b"`},
			want: score.Opinion{Pass: &no},
		},
		"js body": {of: callvet.Scorer{JavaScript: "console.log('noise')\nreturn output.length > 3 && context.vars.n === 2", Vars: json.RawMessage(`{"n":2}`)}, want: score.Opinion{Pass: &yes}},
		"js number": {
			of:   callvet.Scorer{JavaScript: `0.25`, Threshold: &half},
			want: score.Opinion{Score: num(0.25), Pass: &no},
		},
		"js above 1": {
			of:   callvet.Scorer{JavaScript: `output.length`},
			want: score.Opinion{Score: num(1), Pass: &yes, Reason: "it returned 16"},
		},
		"js result":  {of: callvet.Scorer{JavaScript: `({pass: true, score: 0.4, reason: "warm", namedScores: {warm: 0.4, big: 7}})`, Threshold: &half}, want: score.Opinion{Score: num(0.4), Pass: &no, Reason: "warm", Values: map[string]float64{"warm": 0.4}}},
		"js promise": {of: callvet.Scorer{JavaScript: `Promise.resolve(true)`}, want: score.Opinion{Pass: &yes}},
		"js calls":   {of: callvet.Scorer{JavaScript: `output[0].function.name === "weather" && JSON.parse(output[0].function.arguments).city === "Paris"`}, of2: &called, want: score.Opinion{Pass: &yes}},
		"js throws": {
			of:  callvet.Scorer{JavaScript: `JSON.parse("{").x`},
			err: "it could not judge the attempt: the program failed: SyntaxError: ",
		},
		"js wrong": {
			of:  callvet.Scorer{JavaScript: `((`},
			err: "it could not judge the attempt: the program failed: SyntaxError: ",
		},
		"js text": {
			of:  callvet.Scorer{JavaScript: `"yes"`},
			err: "it could not judge the attempt: the program failed: Error: it returned string",
		},
		"py expression": {of: callvet.Scorer{Python: `"Paris" in output`}, want: score.Opinion{Pass: &yes}},
		"py body":       {of: callvet.Scorer{Python: "print('noise')\nif json.loads(output)['city'] == 'Rome':\n    return True\nreturn 0.25", Threshold: &half}, want: score.Opinion{Score: num(0.25), Pass: &no}},
		"py result": {
			of:   callvet.Scorer{Python: `{"pass": True, "score": 1, "reason": context["prompt"]}`},
			want: score.Opinion{Score: num(1), Pass: &yes, Reason: "Weather?"},
		},
		"py calls": {
			of: callvet.Scorer{Python: `output[0]["function"]["name"] == "weather"`}, of2: &called,
			want: score.Opinion{Pass: &yes},
		},
		"py throws": {
			of:  callvet.Scorer{Python: `context["vars"]["city"]`},
			err: "it could not judge the attempt: the program failed: KeyError: 'city'",
		},
		"py none": {
			of:  callvet.Scorer{Python: `None`},
			err: "it could not judge the attempt: the program failed: ValueError: it returned NoneType",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tr := tc.of2
			if tr == nil {
				tr = &said
			}
			got, err := interpreted(t, tc.of, tr)
			if tc.err != "" {
				if err == nil || !strings.HasPrefix(err.Error(), tc.err) {
					t.Errorf("%+v %v, want %s", got, err, tc.err)
				}
				return
			}
			if d := cmp.Diff(tc.want, got); err != nil || d != "" {
				t.Error(err, d)
			}
		})
	}
}

func FuzzAnswer(f *testing.F) {
	for _, s := range []string{
		`{"id":1,"score":0.5}`, `{"id":1,"pass":true,"reason":"x","values":{"a":1}}`,
		`{"id":1,"error":"x"}`, `{"id":1e0,"pass":null}`, `[]`, ``, `{"id":1,"score":1e999}`,
		"{\"id\":1,\"pass\":true}\x00", `{"ID":1,"Pass":true}`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		o, err := parse(line, 1)
		if err != nil {
			return
		}
		if err := o.Valid(); err != nil || o.Score == nil && o.Pass == nil {
			t.Fatalf("%q gives %+v: %v", line, o, err)
		}
	})
}
