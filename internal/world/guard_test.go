// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package world_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/world"
	"github.com/callvet/callvet/score/safety"
)

// open is a policy that allows everything but what the text forbids.
func open(t testing.TB, text string) *world.Policy {
	t.Helper()
	for _, def := range []string{
		`tools: ["*"]`, `domains: ["*"]`, `confirm_writes: false`, `deny_pii: false`,
		`deny_private: false`,
	} {
		if key, _, _ := strings.Cut(def, ":"); !strings.Contains(text, key+":") {
			text = def + ", " + text
		}
	}
	p, err := world.ReadPolicy("policy.yaml", []byte("{"+text+"}"))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func attempt(t testing.TB, cfg world.GuardsConfig) *world.Guard {
	t.Helper()
	g, err := world.NewGuards(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return g.Attempt("case", nil)
}

func brief(rulings []callvet.Ruling) []string {
	var out []string
	for _, r := range rulings {
		out = append(out, fmt.Sprintf("%s %s", r.Rule, r.Action))
	}
	return out
}

// TestActions: the policy decides what is done about a breach.
func TestActions(t *testing.T) {
	t.Parallel()
	const key = "ghp_16C7e42F292c6912E7710c838347Ae178B4a"
	for name, c := range map[string]struct {
		policy       string
		args, result string
		gets, shown  string // what the tool gets ("": it is not called) and the target is shown
		rulings      []string
	}{
		"nothing wrong": {`guard: {}`, `{"q":1}`, `"ok"`, `{"q":1}`, `"ok"`, nil},
		"arguments are blocked": {
			`deny_pii: true, guard: {}`, `{"q":"ana@example.com"}`, `"ok"`, ``, ``,
			[]string{"pii_in_arguments deny"},
		},
		"arguments are redacted": {
			`deny_pii: true, guard: {actions: {pii_in_arguments: redact}}`,
			`{"q":"ana@example.com"}`, `"ok"`, `{"q":"[REDACTED:email]"}`, `"ok"`,
			[]string{"pii_in_arguments redact"},
		},
		"arguments are flagged": {
			`deny_pii: true, guard: {actions: {pii_in_arguments: flag}}`,
			`{"q":"ana@example.com"}`, `"ok"`, `{"q":"ana@example.com"}`, `"ok"`,
			[]string{"pii_in_arguments flag"},
		},
		"a result is redacted": {
			`guard: {}`, `{}`, `{"to":"ana@example.com","k":"` + key + `"}`, `{}`,
			`{"to":"ana@example.com","k":"[REDACTED:api_key]"}`,
			[]string{"pii_in_result redact"},
		},
		"a result, all of it": {
			`deny_in_results: all, guard: {}`, `{}`, `{"to":"ana@example.com"}`, `{}`,
			`{"to":"[REDACTED:email]"}`,
			[]string{"pii_in_result redact"},
		},
		"a result is withheld": {
			`guard: {actions: {pii_in_result: block}}`, `{}`, `"` + key + `"`, `{}`,
			`"[withheld by the guard: pii_in_result]"`,
			[]string{"pii_in_result redact"},
		},
		"a result is flagged": {
			`guard: {actions: {pii_in_result: flag}}`, `{}`, `"` + key + `"`, `{}`,
			`"` + key + `"`,
			[]string{"pii_in_result flag"},
		},
		"too large, withheld": {
			`max_result_bytes: 40, guard: {}`, `{}`, `"` + strings.Repeat("a", 60) + `"`, `{}`,
			`"[withheld by the guard: result_too_large]"`,
			[]string{"result_too_large redact"},
		},
		"too large, cut": {
			`max_result_bytes: 40, guard: {actions: {result_too_large: cut}}`, `{}`,
			`"` + strings.Repeat("a", 60) + `"`, `{}`, `"` + strings.Repeat("a", 19) + ` [cut by the guard]"`,
			[]string{"result_too_large redact"},
		},
		"too large to take": {
			`max_argument_bytes: 5, guard: {}`, `{"q":1}`, `"ok"`, ``, ``,
			[]string{"arguments_too_large deny"},
		},
	} {
		a := attempt(t, world.GuardsConfig{Policy: open(t, c.policy)})
		pass, deny, rulings := a.Before(t.Context(), nil, callvet.Call{Tool: "note", Args: json.RawMessage(c.args)})
		gets, shown := "", ""
		if deny == nil {
			r, after := a.After(t.Context(), pass,
				callvet.Reply{Status: callvet.StatusOK, Result: json.RawMessage(c.result)})
			gets, shown, rulings = string(pass.Args), string(r.Result), append(rulings, after...)
		} else if deny.Env != callvet.EnvGuard || deny.Status != "" ||
			!strings.Contains(deny.Error, strings.Fields(c.rulings[0])[0]) {
			t.Errorf("%s: %+v", name, deny)
		}
		if gets != c.gets || shown != c.shown {
			t.Errorf("%s: the tool gets %s, the target %s", name, gets, shown)
		}
		if d := cmp.Diff(c.rulings, brief(rulings)); d != "" {
			t.Errorf("%s: %s", name, d)
		}
		for _, r := range rulings {
			if r.Detail == "" || strings.Contains(r.Detail, key) || strings.Contains(r.Detail, "ana@") {
				t.Errorf("%s: %+v", name, r)
			}
		}
	}
}

// TestErrorWithheld: an error with a secret stays an error, without a result.
func TestErrorWithheld(t *testing.T) {
	t.Parallel()
	a := attempt(t, world.GuardsConfig{Policy: open(t, `guard: {actions: {pii_in_result: block}}`)})
	r, rulings := a.After(t.Context(), callvet.Call{Tool: "x"},
		callvet.Reply{Status: callvet.StatusExecErr, Error: "bad key ghp_16C7e42F292c6912E7710c838347Ae178B4a"})
	if r.Result != nil || r.Error != "withheld by the guard: pii_in_result" || r.Status != callvet.StatusExecErr ||
		len(rulings) != 1 {
		t.Errorf("%+v %+v", r, rulings)
	}
}

// TestCutIsJSON: whatever is cut is valid JSON of at most the size that is allowed, or of the words alone.
func TestCutIsJSON(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		most := rapid.IntRange(1, 200).Draw(rt, "most")
		a := attempt(t,
			world.GuardsConfig{Policy: open(t,
				fmt.Sprintf(`max_result_bytes: %d, guard: {actions: {result_too_large: cut}}`, most))})
		result, err := json.Marshal(rapid.String().Draw(rt, "text") + strings.Repeat("é\"\n", 70))
		if err != nil {
			rt.Fatal(err)
		}
		r, _ := a.After(t.Context(), callvet.Call{Tool: "x"}, callvet.Reply{Status: callvet.StatusOK, Result: result})
		if !json.Valid(r.Result) || len(r.Result) > max(most, len(`" [cut by the guard]"`)) {
			rt.Fatalf("%d bytes of %d: %s", len(r.Result), most, r.Result)
		}
	})
}

// TestAsk: a person at the terminal decides, once for each call, and only where nothing else denies it.
func TestAsk(t *testing.T) {
	t.Parallel()
	write, yes := false, true
	tools := []callvet.Tool{{Name: "pay", ReadOnly: &write}, {Name: "look", ReadOnly: &yes}}
	for name, c := range map[string]struct {
		answer  func() (bool, error)
		tool    string
		args    string
		asked   int
		rulings []string
	}{
		"yes": {
			func() (bool, error) { return true, nil }, "pay", `{}`, 1,
			[]string{"unconfirmed_write confirm"},
		},
		"no": {
			func() (bool, error) { return false, nil }, "pay", `{}`, 1,
			[]string{"unconfirmed_write deny"},
		},
		"no answer": {
			func() (bool, error) { return true, errors.New("the terminal is gone") }, "pay", `{}`,
			1,
			[]string{"unconfirmed_write deny"},
		},
		"nobody is there": {nil, "pay", `{}`, 0, []string{"unconfirmed_write deny"}},
		"reading":         {func() (bool, error) { return false, nil }, "look", `{}`, 0, nil},
		"something else is up": {
			func() (bool, error) { return true, nil }, "pay", `{"q":"ana@example.com"}`, 0,
			[]string{"pii_in_arguments deny"},
		},
	} {
		asked := 0
		cfg := world.GuardsConfig{Tools: tools, Policy: open(t, `confirm: ask, guard: {}`)}
		cfg.Policy.ConfirmWrites, cfg.Policy.DenyPII = true, true
		if c.answer != nil {
			cfg.Ask = func(context.Context, *callvet.Call, string) (bool, error) { asked++; return c.answer() }
		}
		_, deny, rulings := attempt(t, cfg).Before(t.Context(), nil,
			callvet.Call{Tool: c.tool, Args: json.RawMessage(c.args)})
		if d := cmp.Diff(c.rulings, brief(rulings)); d != "" || asked != c.asked {
			t.Errorf("%s: asked %d times: %s", name, asked, d)
		}
		if denied := len(c.rulings) > 0 && strings.HasSuffix(c.rulings[0], "deny"); denied != (deny != nil) {
			t.Errorf("%s: %+v", name, deny)
		}
	}
}

// TestTimeLimit: durations that tools declare count as if they had passed.
func TestTimeLimit(t *testing.T) {
	t.Parallel()
	a := attempt(t, world.GuardsConfig{Policy: open(t, `guard: {timeout_ms: 100}`)})
	for latency, want := range map[time.Duration]callvet.Status{
		100 * time.Millisecond: callvet.StatusOK,
		101 * time.Millisecond: callvet.StatusTimeout,
	} {
		r, _ := a.After(t.Context(), callvet.Call{Tool: "x"},
			callvet.Reply{
				Status: callvet.StatusOK, Latency: latency, Env: callvet.EnvMock,
				Result: json.RawMessage(`1`),
			})
		if r.Status != want || r.Latency > 100*time.Millisecond || r.Env != callvet.EnvMock {
			t.Errorf("%s: %+v", latency, r)
		}
	}
	if a.Timeout() != 100*time.Millisecond {
		t.Error(a.Timeout())
	}
}

// storm makes n calls of a tool that always fails after some time, and returns which were executed.
func storm(t testing.TB, a *world.Guard, n int, latency time.Duration) (executed int, calls []callvet.Call) {
	t.Helper()
	for range n {
		call := callvet.Call{Tool: "flaky", Args: json.RawMessage(`{}`)}
		pass, deny, rulings := a.Before(t.Context(), []callvet.Turn{{Role: callvet.RoleAssistant, Calls: calls}}, call)
		call.Guard, call.QueueMS = rulings, pass.QueueMS
		if deny != nil {
			call.Env, call.Error = deny.Env, deny.Error
		} else {
			executed++
			r, after := a.After(t.Context(), pass,
				callvet.Reply{Status: callvet.StatusExecErr, Error: "down", Latency: latency, Env: callvet.EnvMock})
			call.Status, call.Error, call.Env, call.ExecMS, call.Guard = r.Status, r.Error, r.Env,
				float64(r.Latency)/1e6, append(call.Guard, after...)
		}
		calls = append(calls, call)
	}
	return executed, calls
}

// TestErrorStorm: of 1,000 calls of a tool that fails, no more are executed than may fail in a row
// and one more for each period. All are in the trace, and the scorer reports the same of it.
// Source: Evaluating Tool Calling, §12 ("Evaluate with error-storm scenarios").
func TestErrorStorm(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		policy  string
		latency time.Duration
		bound   int
	}{
		"never again":           {`stop_after_failures: 5, reopen_seconds: 0, guard: {}`, time.Second, 5},
		"in no time":            {`stop_after_failures: 5, reopen_seconds: 30, guard: {}`, 0, 5},
		"without a breaker":     {`stop_after_failures: 0, guard: {max_backoff_ms: 10}`, 0, 1000},
		"one failure is enough": {`stop_after_failures: 1, reopen_seconds: 0, guard: {}`, time.Second, 1},
	} {
		p := open(t, c.policy)
		executed, calls := storm(t, attempt(t, world.GuardsConfig{Policy: p}), 1000, c.latency)
		if executed != c.bound || len(calls) != 1000 {
			t.Errorf("%s: %d of %d calls were executed, and %d may be", name, executed, len(calls), c.bound)
		}
		check, err := safety.New(nil, p.Rules)
		if err != nil {
			t.Fatal(err)
		}
		report := check.Check(nil,
			&callvet.Trace{WallMS: 1, Turns: []callvet.Turn{{Role: callvet.RoleAssistant, Calls: calls}}})
		blocked := 0
		for _, i := range report.Incidents {
			if i.Executed || i.Rule != safety.RuleFailing {
				t.Fatalf("%s: %+v", name, i)
			}
			blocked++
		}
		if blocked != 1000-executed {
			t.Errorf("%s: %d calls were denied, and %d count as blocked", name, 1000-executed, blocked)
		}
		// The other half alone: the same storm without a guard.
		for i := range calls {
			calls[i] = callvet.Call{Tool: "flaky", Args: json.RawMessage(`{}`), Status: callvet.StatusExecErr}
		}
		report = check.Check(nil,
			&callvet.Trace{WallMS: 1, Turns: []callvet.Turn{{Role: callvet.RoleAssistant, Calls: calls}}})
		if len(report.Incidents) != 1000-c.bound {
			t.Errorf("%s: unguarded, %d calls count as executed beyond the bound, not %d", name, len(report.Incidents),
				1000-c.bound)
		}
	}
}

// TestBreakerCloses: after a time one call is tried; a failure opens it again, a success closes it.
func TestBreakerCloses(t *testing.T) {
	t.Parallel()
	a := attempt(t,
		world.GuardsConfig{Policy: open(t, `stop_after_failures: 2, reopen_seconds: 10, guard: {backoff_ms: 1}`)})
	step := func(tool string, status callvet.Status, latency time.Duration) string {
		pass, deny, rulings := a.Before(t.Context(), nil, callvet.Call{Tool: tool, Args: json.RawMessage(`{}`)})
		list := strings.Join(brief(rulings), ",")
		if deny == nil {
			a.After(t.Context(), pass, callvet.Reply{Status: status, Latency: latency})
		}
		return list
	}
	var got []string
	for _, c := range []struct {
		tool    string
		status  callvet.Status
		latency time.Duration
	}{
		{"x", callvet.StatusExecErr, 0},
		{"X", callvet.StatusTimeout, 0},
		{"x", callvet.StatusOK, 0},
		{"y", callvet.StatusOK, 10 * time.Second},
		{"x", callvet.StatusExecErr, 0},
		{"x", callvet.StatusOK, 0},
		{"y", callvet.StatusOK, 10 * time.Second},
		{"x", callvet.StatusOK, 0},
		{"x", callvet.StatusOK, 0},
	} {
		got = append(got, step(c.tool, c.status, c.latency))
	}
	want := []string{
		"", "backoff wait", "failing_tool_called deny", "", "failing_tool_called wait",
		"failing_tool_called deny", "", "failing_tool_called wait", "",
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

// TestBackoff: waits double up to a bound, jitter only shortens them, and a seed repeats them.
func TestBackoff(t *testing.T) {
	t.Parallel()
	waits := func(policy string, seed uint64) (out []float64) {
		_, calls := storm(t, attempt(t, world.GuardsConfig{Policy: open(t, policy), Seed: seed}), 6, 0)
		for _, c := range calls {
			out = append(out, c.QueueMS)
		}
		return out
	}
	const plain = `stop_after_failures: 0, guard: {backoff_ms: 100, max_backoff_ms: 500, jitter: 0}`
	want := []float64{0, 100, 200, 400, 500, 500}
	if d := cmp.Diff(want, waits(plain, 1)); d != "" {
		t.Error(d)
	}
	const jittered = `stop_after_failures: 0, guard: {backoff_ms: 100, max_backoff_ms: 500}`
	one, same, other := waits(jittered, 1), waits(jittered, 1), waits(jittered, 2)
	for i := range want {
		if one[i] > want[i] || one[i] < want[i]/2 {
			t.Errorf("wait %d is %g ms, not within half of %g", i, one[i], want[i])
		}
	}
	if d := cmp.Diff(one, same); d != "" || cmp.Equal(one, other) {
		t.Errorf("a seed repeats the waits, another does not: %v, %v, %v", one, same, other)
	}
}

// TestRetryAfter: a tool that asks not to be called for a time is not, up to the longest wait.
func TestRetryAfter(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]float64{
		"429 too many requests; retry after 3s":           3000,
		"HTTP 429 Too Many Requests; retry after 7: slow": 7000,
		"Retry after 1.5s.":                               1500,
		"retry after 2":                                   2000,
		"retry after 5 seconds":                           5000,
		"retry after 3600":                                60_000,
		"retry after Wed, 21 Oct 2026 07:28:00 GMT":       100,
		"retry after -5":                                  100,
		"retry after 99999999999999999999999":             100,
		"retry after ":                                    100,
		"try again":                                       100,
	} {
		a := attempt(t, world.GuardsConfig{Policy: open(t, `guard: {backoff_ms: 100, jitter: 0}`)})
		pass, _, _ := a.Before(t.Context(), nil, callvet.Call{Tool: "x"})
		a.After(t.Context(), pass, callvet.Reply{Status: callvet.StatusExecErr, Error: text})
		if pass, _, _ = a.Before(t.Context(), nil, callvet.Call{Tool: "X"}); pass.QueueMS != want {
			t.Errorf("%q: it waited %g ms, want %g", text, pass.QueueMS, want)
		}
		a.After(t.Context(), pass, callvet.Reply{Status: callvet.StatusOK})
		if pass, _, _ = a.Before(t.Context(), nil, callvet.Call{Tool: "x"}); pass.QueueMS != 0 {
			t.Errorf("%q: after a success it waited %g ms", text, pass.QueueMS)
		}
	}
}

// TestRateLimit: wherever a period begins, it holds no more calls than the limit; what waits is
// executed later, what would wait too long is denied.
func TestRateLimit(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		n, per := rapid.IntRange(1, 4).Draw(rt, "calls"), rapid.IntRange(1, 5).Draw(rt, "seconds")
		most := rapid.SampledFrom([]int{1, 2000, 60_000}).Draw(rt, "wait")
		a := attempt(t,
			world.GuardsConfig{Policy: open(t,
				fmt.Sprintf(`rate_limits: {x: {calls: %d, per_seconds: %d}}, guard: {max_wait_ms: %d}`, n, per, most))})
		now, starts := 0.0, []float64(nil)
		for range rapid.IntRange(1, 30).Draw(rt, "made") {
			took := float64(rapid.IntRange(0, 3000).Draw(rt, "ms"))
			pass, deny, rulings := a.Before(t.Context(), nil, callvet.Call{Tool: "x", Args: json.RawMessage(`{}`)})
			switch {
			case deny != nil:
				if got := brief(rulings); len(got) != 1 || got[0] != "rate_limit_exceeded deny" {
					rt.Fatal(got)
				}
				continue
			case pass.QueueMS > float64(most):
				rt.Fatalf("it waited %g ms", pass.QueueMS)
			}
			now += pass.QueueMS
			starts = append(starts, now)
			a.After(t.Context(), pass, callvet.Reply{Status: callvet.StatusOK, Latency: time.Duration(took * 1e6)})
			now += took
		}
		for i := n; i < len(starts); i++ {
			if starts[i]-starts[i-n] < float64(per)*1000-0.001 {
				rt.Fatalf("%d calls in %g ms: %v", n+1, starts[i]-starts[i-n], starts)
			}
		}
	})
	write := `rate_limits: {x: {calls: 1, per_seconds: 60}}, guard: {actions: {rate_limit_exceeded: %s}}`
	for action, want := range map[string]string{
		"block": "rate_limit_exceeded deny", "flag": "rate_limit_exceeded flag",
		"wait": "rate_limit_exceeded wait",
	} {
		a := attempt(t, world.GuardsConfig{Policy: open(t, fmt.Sprintf(write, action))})
		a.Before(t.Context(), nil, callvet.Call{Tool: "x"})
		_, deny, rulings := a.Before(t.Context(), nil, callvet.Call{Tool: "x"})
		if got := brief(rulings); len(got) != 1 || got[0] != want || (deny != nil) != (action == "block") {
			t.Errorf("%s: %v", action, got)
		}
	}
}

// hands is a clock that a test turns.
type hands struct {
	mu    sync.Mutex
	at    time.Time
	slept time.Duration
}

func (h *hands) Now() time.Time { h.mu.Lock(); defer h.mu.Unlock(); return h.at }

func (h *hands) Sleep(ctx context.Context, d time.Duration) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.slept += d
	return ctx.Err()
}

func (*hands) Spent(time.Duration) {}

// TestShared: attempts at really called tools share what is known of these; others do not.
func TestShared(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		clock  world.GuardClock
		shared bool
	}{"live": {&hands{}, true}, "mock": {nil, false}} {
		g, err := world.NewGuards(
			world.GuardsConfig{Policy: open(t, `stop_after_failures: 2, guard: {}`), Clock: c.clock})
		if err != nil {
			t.Fatal(err)
		}
		var denied bool
		for i := range 3 {
			a := g.Attempt(fmt.Sprint(i), nil)
			pass, deny, _ := a.Before(t.Context(), nil, callvet.Call{Tool: "x"})
			if denied = deny != nil; !denied {
				a.After(t.Context(), pass, callvet.Reply{Status: callvet.StatusExecErr})
			}
		}
		if denied != c.shared {
			t.Errorf("%s: the third attempt was denied: %v", name, denied)
		}
	}
}

// TestCanceled: who waits stops waiting with the run.
func TestCanceled(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	a := attempt(t, world.GuardsConfig{
		Policy: open(t, `rate_limits: {"*": {calls: 1, per_seconds: 60}}, guard: {}`),
		Clock:  world.RealClock{},
	})
	a.Before(ctx, nil, callvet.Call{Tool: "x"})
	cancel()
	if _, deny, _ := a.Before(ctx, nil, callvet.Call{Tool: "x"}); deny == nil {
		t.Error("it was executed all the same")
	}
}
