// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package world_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/sys"
	"github.com/callvet/callvet/internal/world"
	"github.com/callvet/callvet/value"
)

var yes, no = true, false

// shop are a tool that reads and one that writes.
var shop = []callvet.Tool{
	{
		Name: "get_refund_policy", Version: "v3", ReadOnly: &yes,
		Parameters: json.RawMessage(`{"type":"object","properties":{"country":{"type":"string"}}}`),
	},
	{Name: "create_refund", Version: "v1", ReadOnly: &no, Parameters: json.RawMessage(`{"type":"object"}`)},
}

func talk(id string) world.Conversation {
	return world.Conversation{Case: id, Target: "a/b", Tools: shop}
}

// folder writes recordings as files.
func folder(dir string) world.Put {
	return func(_ context.Context, name string, data []byte) error {
		return os.WriteFile(filepath.Join(dir, name), data, 0o600)
	}
}

func at(day int) func() time.Time {
	return func() time.Time { return time.Date(2026, 11, day, 12, 0, 0, 0, time.UTC) }
}

func tape(t *testing.T, dir string, day int) *world.Tape {
	t.Helper()
	out, err := world.NewTape(dir, folder(dir), at(day))
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func opened(t *testing.T, dir string) *world.Recordings {
	t.Helper()
	out, err := world.OpenRecordings(dir)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// answers is a world that gives one reply after the other.
type answers []callvet.Reply

func (a *answers) Answer(context.Context, callvet.Call) (callvet.Reply, error) {
	r := (*a)[0]
	*a = (*a)[1:]
	return r, nil
}

func replayCall(tool, args string) callvet.Call {
	return callvet.Call{Tool: tool, Args: json.RawMessage(args)}
}

func files(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	list, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range list {
		b, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		out[e.Name()] = string(b)
	}
	return out
}

// TestRecordAndReplay: what was recorded is answered, call by call, with its status, error,
// latency and position; arguments count however they are written.
func TestRecordAndReplay(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	live := callvet.Live("http", "https://api.example/refunds")
	script := []struct {
		call, again callvet.Call
		reply       callvet.Reply
	}{
		{
			replayCall("get_refund_policy", `{"country": "AR", "days": 5}`),
			replayCall("GET_REFUND_POLICY", `{"days":5.0,"country":"AR"}`),
			callvet.Reply{
				Status: callvet.StatusOK, Result: json.RawMessage(`{"z": 1, "a": "<x>"}`),
				Latency: 24 * time.Millisecond, Env: live,
			},
		},
		{
			replayCall("create_refund", `{"id":1}`), replayCall("create_refund", `{"id":1e0}`),
			callvet.Reply{Status: callvet.StatusOK, Result: json.RawMessage(`"r-1"`), Env: live},
		},
		{
			replayCall("create_refund", `{"id":1}`), replayCall("create_refund", `{"id":1}`),
			callvet.Reply{Status: callvet.StatusExecErr, Error: "409 refunded before", Env: live},
		},
		{
			replayCall("get_refund_policy", ``), replayCall("get_refund_policy", `{}`),
			callvet.Reply{
				Status: callvet.StatusTimeout, Error: "no answer within 2s", Latency: 2 * time.Second,
				Env: live,
			},
		},
		{
			replayCall("create_refund", `{"id":2}`), replayCall("create_refund", `{"id":2}`),
			callvet.Reply{
				Env: callvet.EnvGuard, Error: "private",
				Guard: []callvet.Ruling{{Rule: "private_address", Action: callvet.RulingDeny, Detail: "10.0.0.1"}},
			},
		},
	}
	var acting answers
	for _, s := range script {
		acting = append(acting, s.reply)
	}
	rec := tape(t, dir, 1)
	recording := rec.World(&acting, talk("refund"))
	var reported []callvet.Reply
	for _, s := range script {
		r, err := recording.Answer(t.Context(), s.call)
		if err != nil {
			t.Fatal(err)
		}
		reported = append(reported, r)
	}
	if n, written := rec.Counts(); n != len(script) || written != len(script) {
		t.Errorf("%d calls, %d files", n, written)
	}
	all := opened(t, dir)
	replayed := all.World(talk("refund"), world.AnswerOptions{})
	for i, s := range script {
		r, err := replayed.Answer(t.Context(), s.again)
		if err != nil {
			t.Fatal(err)
		}
		want := reported[i]
		if want.Env != callvet.EnvGuard {
			want.Env = callvet.EnvRecorded
		}
		if d := cmp.Diff(want, r); d != "" {
			t.Errorf("call %d: %s", i, d)
		}
	}
	if all.Len() != len(script) || all.Answered() != int64(len(script)) || all.Missed() != 0 || len(acting) != 0 {
		t.Errorf("%d recordings, %d answered, %d missed", all.Len(), all.Answered(), all.Missed())
	}
	const want = `{
  "format": "callvet.recording",
  "version": 1,
  "case": "refund",
  "tool": "get_refund_policy",
  "tool_version": "v3",
  "schema": "0d9d88f664341d07",
  "args": {
    "country": "AR",
    "days": 5
  },
  "call": 1,
  "status": "ok",
  "result": {
    "z": 1,
    "a": "<x>"
  },
  "latency_ms": 24,
  "env": "live http https://api.example/refunds",
  "recorded": "2026-11-01T12:00:00Z"
}
`
	var first string
	for name, text := range files(t, dir) {
		if strings.Contains(text, `"days"`) {
			first = text
			if !strings.HasPrefix(name, "get_refund_policy.v3.refund.") {
				t.Errorf("the file is named %s", name)
			}
		}
	}
	if d := cmp.Diff(want, first); d != "" {
		t.Error(d)
	}
}

// TestRecordAgain: the same answers change no byte, another one changes its file and no other.
func TestRecordAgain(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	record := func(day int, policy string) {
		t.Helper()
		w := tape(t, dir,
			day).World(
			&answers{
				{
					Status: callvet.StatusOK, Result: json.RawMessage(policy),
					Latency: time.Duration(day) * time.Millisecond,
				},
				{Status: callvet.StatusOK, Result: json.RawMessage(`7`)},
			}, talk("a"))
		for _, c := range []callvet.Call{
			replayCall("get_refund_policy", `{"country":"AR"}`),
			replayCall("create_refund", `{}`),
		} {
			if _, err := w.Answer(t.Context(), c); err != nil {
				t.Fatal(err)
			}
		}
	}
	record(1, `30`)
	before := files(t, dir)
	record(2, `30`)
	if d := cmp.Diff(before, files(t, dir)); d != "" {
		t.Errorf("the same answers: %s", d)
	}
	record(3, `14`)
	changed := 0
	after := files(t, dir)
	for name, text := range after {
		if before[name] != text {
			changed++
			if !strings.Contains(text, `"result": 14`) {
				t.Errorf("%s: %s", name, text)
			}
		}
	}
	if changed != 1 || len(after) != len(before) {
		t.Errorf("%d files changed, of %d there are %d", changed, len(before), len(after))
	}
}

// TestAttemptsDiffer: attempts at one case that were answered otherwise get their own answers
// again, and others that of the first.
func TestAttemptsDiffer(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	rec := tape(t, dir, 1)
	of := func(target string, repeat int) world.Conversation {
		c := talk("a")
		c.Target, c.Repeat = target, repeat
		return c
	}
	for repeat, result := range []string{`"one"`, `"two"`, `"one"`} {
		w := rec.World(&answers{{Result: json.RawMessage(result)}}, of("m/x", repeat))
		if _, err := w.Answer(t.Context(), replayCall("get_refund_policy", `{}`)); err != nil {
			t.Fatal(err)
		}
	}
	all := opened(t, dir)
	if all.Len() != 2 {
		t.Errorf("%d recordings", all.Len())
	}
	for _, tt := range []struct {
		of   world.Conversation
		want string
	}{{of("m/x", 0), `"one"`}, {of("m/x", 1), `"two"`}, {of("m/x", 2), `"one"`}, {of("m/y", 1), `"one"`}} {
		r, err := all.World(tt.of, world.AnswerOptions{}).Answer(t.Context(), replayCall("get_refund_policy", `{}`))
		if err != nil || string(r.Result) != tt.want {
			t.Errorf("%s %d: %s, %v", tt.of.Target, tt.of.Repeat, r.Result, err)
		}
	}
}

// TestMisses: what has no recording is an error that shows the nearest one; only tools that
// read are answered by recordings of other cases.
func TestMisses(t *testing.T) {
	t.Parallel()
	list := []*world.Recording{
		{
			Case: "a", Tool: "get_refund_policy", ToolVersion: "v3",
			Args: json.RawMessage(`{"country":"AR","lines":[1,2]}`), Call: 1, Result: json.RawMessage(`1`),
		},
		{
			Case: "a", Tool: "create_refund", ToolVersion: "v1", Args: json.RawMessage(`{"id":1}`), Call: 1,
			Result: json.RawMessage(`2`),
		},
		{
			Case: "b", Tool: "create_refund", ToolVersion: "v1", Args: json.RawMessage(`{"id":9}`), Call: 1,
			Result: json.RawMessage(`3`),
		},
		{
			Tool: "create_refund", ToolVersion: "v1", Args: json.RawMessage(`{"id":7}`), Call: 1,
			Result: json.RawMessage(`4`),
		},
		{
			Case: "a", Tool: "old_tool", ToolVersion: "v1", Args: json.RawMessage(`{}`), Call: 1,
			Result: json.RawMessage(`5`),
		},
	}
	all, err := world.RecordingsOf(list)
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		scope string
		calls []callvet.Call
		want  string // of the last one
	}{
		{"a", []callvet.Call{replayCall("get_refund_policy", `{"lines":[1,2],"country":"AR"}`)}, "1 "},
		{
			"b",
			[]callvet.Call{replayCall("get_refund_policy", `{"lines":[1,2],"country":"AR"}`)},
			"1 recorded in case a",
		},
		{"b", []callvet.Call{replayCall("create_refund", `{"id":7}`)}, "4 "},
		{
			"a",
			[]callvet.Call{replayCall("get_refund_policy", `{"lines":[1,3],"city":"x"}`)},
			`no recording of get_refund_policy@v3 {"city":"x","lines":[1,3]}: the nearest one differs in country: recorded "AR", called without; lines[1]: recorded 2, called 3; city: not recorded, called "x"`,
		},
		{
			"a",
			[]callvet.Call{replayCall("create_refund", `{"id":1}`), replayCall("create_refund", `{"id":1}`)},
			`no recording of call 2 of create_refund@v1 {"id":1}: it is recorded 1 times with these arguments, and called once more`,
		},
		{
			"a",
			[]callvet.Call{replayCall("create_refund", `{"id":9}`)},
			`no recording of create_refund@v1 {"id":9}: it is recorded in case b, and only tools that are read_only are answered by recordings of another case`,
		},
		{"a", []callvet.Call{replayCall("pay", `{}`)}, `no recording of pay {}: no call of this tool is recorded`},
		{
			"a",
			[]callvet.Call{replayCall("old_tool", `{}`)},
			`no recording of old_tool {}: it is recorded as v1, and called as without a version`,
		},
	} {
		w, reported := all.World(talk(tt.scope), world.AnswerOptions{}),
			all.World(talk(tt.scope), world.AnswerOptions{ErrorOnMiss: true})
		got, note := "", ""
		for _, c := range tt.calls {
			r, err := w.Answer(t.Context(), c)
			got = fmt.Sprintf("%s %s", r.Result, r.Note)
			if err != nil {
				got = err.Error()
				if miss := (*world.MissError)(nil); !errors.As(err, &miss) || !errors.Is(err, callvet.ErrNotFound) {
					t.Errorf("%v is no miss", err)
				}
			}
			if r, err = reported.Answer(t.Context(), c); err != nil || r.Env != callvet.EnvRecorded {
				t.Errorf("%+v, %v", r, err)
			}
			note = r.Note
		}
		if d := cmp.Diff(tt.want, got); d != "" {
			t.Errorf("%s: %s", tt.scope, d)
		}
		if strings.HasPrefix(got, "no recording") && !strings.HasSuffix(got, ": "+note) {
			t.Errorf("told: %q", note)
		}
	}
	if all.Missed() != 10 {
		t.Errorf("%d missed", all.Missed())
	}
}

// TestDrift: a change of a tool since it was recorded is reported once.
func TestDrift(t *testing.T) {
	t.Parallel()
	rec := func(tool, version, schema, args string) *world.Recording {
		return &world.Recording{Tool: tool, ToolVersion: version, Schema: schema, Args: json.RawMessage(args), Call: 1}
	}
	policy, refund := world.SchemaHash(&shop[0]), world.SchemaHash(&shop[1])
	spaced := shop[0]
	spaced.Parameters = json.RawMessage(`{"properties": {"country": {"type": "string"}}, "type": "object"}`)
	if world.SchemaHash(&spaced) != policy || policy == refund {
		t.Error("a schema is what it says, however it is written")
	}
	for want, list := range map[string][]*world.Recording{
		"": {rec("get_refund_policy", "v3", policy, `{}`), rec("create_refund", "v1", refund, `{}`)},
		"the parameters of get_refund_policy have changed since 2 of its 3 calls were recorded": {
			rec(
				"get_refund_policy", "v3", policy, `{}`), rec("Get_refund_policy", "v3", "0", `1`),
			rec("get_refund_policy", "v3", "0", `2`),
		},
		"create_refund was recorded as v2 and v10 and is now v1: its calls find no recording": {rec("create_refund",
			"v10", refund, `{}`), rec("create_refund", "v2", refund, `{}`)},
	} {
		all, err := world.RecordingsOf(list)
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(all.Drift(append(shop, shop...)), "\n"); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// TestScrub: what must not be kept is in no file, and the call finds its recording all the same.
func TestScrub(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	of := talk("a")
	of.Scrub = func(c *callvet.Call) {
		c.Args = json.RawMessage(strings.ReplaceAll(string(c.Args), "sk-12345678", "[REDACTED:api_key]"))
		c.Result = json.RawMessage(strings.ReplaceAll(string(c.Result), "sk-12345678", "[REDACTED:api_key#2]"))
	}
	ask := replayCall("create_refund", `{"key":"sk-12345678"}`)
	r, err := tape(t, dir, 1).World(&answers{{Result: json.RawMessage(`"sk-12345678"`)}}, of).Answer(t.Context(), ask)
	if err != nil || string(r.Result) != `"sk-12345678"` || string(ask.Args) != `{"key":"sk-12345678"}` {
		t.Errorf("the target got %s for %s, %v", r.Result, ask.Args, err)
	}
	for name, text := range files(t, dir) {
		if strings.Contains(text, "sk-1") {
			t.Errorf("%s: %s", name, text)
		}
	}
	all := opened(t, dir)
	for _, ask := range []callvet.Call{ask, replayCall("create_refund", `{"key":"[REDACTED:api_key#4]"}`)} {
		if r, err = all.World(of, world.AnswerOptions{}).Answer(t.Context(), ask); err != nil ||
			string(r.Result) != `"[REDACTED:api_key#2]"` {
			t.Errorf("%s, %v", r.Result, err)
		}
	}
}

// TestTapeFails: an answer that could not be written down is not given, and an error of the
// world is none.
func TestTapeFails(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	full := errors.New("no space left")
	rec, err := world.NewTape(dir, func(context.Context, string, []byte) error { return full }, at(1))
	if err != nil {
		t.Fatal(err)
	}
	if r, err := rec.World(fixed(`1`), talk("a")).Answer(t.Context(),
		replayCall("create_refund", `{}`)); !errors.Is(err, full) || r.Result != nil {
		t.Errorf("%+v, %v", r, err)
	}
	broken := failing{errors.New("connection refused")}
	good := tape(t, dir, 1)
	if _, err := good.World(broken, talk("a")).Answer(t.Context(), replayCall("create_refund", `{}`)); !errors.Is(err,
		broken.error) || len(files(t, dir)) != 0 {
		t.Errorf("%v", err)
	}
	if good.World(nil, talk("a")) != nil {
		t.Error("no world is recorded as none")
	}
}

type failing struct{ error }

func (f failing) Answer(context.Context, callvet.Call) (callvet.Reply, error) {
	return callvet.Reply{}, f.error
}

type slow struct{}

func (slow) Answer(ctx context.Context, _ callvet.Call) (callvet.Reply, error) {
	<-ctx.Done()
	return callvet.Reply{Env: callvet.Live("http", "x")}, ctx.Err()
}

// TestTimeRunsOut: a time that ran out is recorded as what it is, an interrupt is not.
func TestTimeRunsOut(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		rec, err := world.NewTape(dir, folder(dir), time.Now)
		if err != nil {
			t.Fatal(err)
		}
		gone, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := rec.World(slow{}, talk("a")).Answer(gone, replayCall("create_refund", `{}`)); err == nil {
			t.Error("no error")
		}
		short, cancel := context.WithTimeout(t.Context(), 3*time.Second)
		defer cancel()
		if _, err := rec.World(slow{}, talk("a")).Answer(short, replayCall("create_refund", `{}`)); !errors.Is(err,
			context.DeadlineExceeded) {
			t.Error(err)
		}
	})
	r, err := opened(t, dir).World(talk("a"), world.AnswerOptions{}).Answer(t.Context(),
		replayCall("create_refund", `{}`))
	if err != nil || r.Status != callvet.StatusTimeout || r.Latency != 3*time.Second {
		t.Errorf("%+v, %v", r, err)
	}
}

// TestTapeIsShared: attempts record at once; what each was answered is on the disk by then, and is
// what it is answered again.
func TestTapeIsShared(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	rec := tape(t, dir, 1)
	const attempts, calls = 24, 10
	reported := make([][]string, attempts)
	var wg sync.WaitGroup
	for i := range attempts {
		wg.Go(func() {
			of := talk(fmt.Sprint("case ", i%4))
			of.Repeat = i
			w := rec.World(fixed(fmt.Sprint(i%3)), of)
			for j := range calls {
				r, err := w.Answer(context.Background(), replayCall("create_refund", fmt.Sprintf(`{"id":%d}`, j/2)))
				if err != nil {
					t.Error(err)
				}
				reported[i] = append(reported[i], string(r.Result))
			}
		})
	}
	wg.Wait()
	all := opened(t, dir)
	for i := range attempts {
		of := talk(fmt.Sprint("case ", i%4))
		of.Repeat = i
		w := all.World(of, world.AnswerOptions{})
		var got []string
		for j := range calls {
			r, err := w.Answer(t.Context(), replayCall("create_refund", fmt.Sprintf(`{"id":%d}`, j/2)))
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, string(r.Result))
		}
		if d := cmp.Diff(reported[i], got); d != "" {
			t.Errorf("attempt %d: %s", i, d)
		}
	}
}

// TestOpenRefuses: a folder that is none, a file that is no recording, two for one call.
func TestOpenRefuses(t *testing.T) {
	t.Parallel()
	const good = `{"format":"callvet.recording","version":1,"tool":"a","args":{},"call":1,"result":1}`
	for name, tt := range map[string]struct {
		files map[string]string
		want  string
	}{
		"empty":      {map[string]string{"README.md": "x", ".x.json": "{"}, "no .json file in it"},
		"other JSON": {map[string]string{"a.json": `{"tools":[]}`}, "a.json:1:"},
		"no args": {
			map[string]string{"a.json": `{"format":"callvet.recording","version":1,"tool":"a","call":1}`},
			"args",
		},
		"future":      {map[string]string{"a.json": strings.Replace(good, `"version":1`, `"version":2`, 1)}, "version"},
		"unknown key": {map[string]string{"a.json": strings.Replace(good, `"call"`, `"cal":1,"call"`, 1)}, `"cal"`},
		"two": {
			map[string]string{"a.json": good, "b.json": strings.Replace(good, `{}`, ` { } `, 1)},
			"answer the same call: a {}",
		},
	} {
		dir := t.TempDir()
		for file, text := range tt.files {
			if err := os.WriteFile(filepath.Join(dir, file), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := world.OpenRecordings(dir); err == nil || !strings.Contains(err.Error(), tt.want) ||
			!errors.Is(err, callvet.ErrInvalid) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := world.OpenRecordings(filepath.Join(t.TempDir(), "none")); !errors.Is(err, callvet.ErrNotFound) {
		t.Error(err)
	}
}

// TestNames: names are safe on every file system, and differ where recordings do.
func TestNames(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	rapid.Check(t, func(t *rapid.T) {
		r := &world.Recording{
			Tool:        rapid.StringN(1, 80, 200).Draw(t, "tool"),
			ToolVersion: rapid.String().Draw(t, "version"), Case: rapid.String().Draw(t, "case"),
			Args: json.RawMessage(`{}`), Call: 1,
		}
		name := r.Name()
		if len(name) > 180 || strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789_-@.") != "" ||
			strings.HasPrefix(name, ".") {
			t.Fatalf("%q", name)
		}
		r.Call = 2
		if seen[r.Name()] = true; r.Name() == name {
			t.Fatalf("%q twice", name)
		}
	})
	for tool, want := range map[string]string{
		"NUL": "nul_.any.", "com1": "com1_.any.", "a/b c": "a-b-c.any.",
		"日本": "x.any.",
	} {
		if got := (&world.Recording{Tool: tool, Args: json.RawMessage(`{}`), Call: 1}).Name(); !strings.HasPrefix(got,
			want) {
			t.Errorf("%q, want %q…", got, want)
		}
	}
}

// TestCanonical: equal values share one text, others do not.
func TestCanonical(t *testing.T) {
	t.Parallel()
	for want, list := range map[string][]string{
		`{}`:                       {``, ` `, `{ }`},
		`5`:                        {`5`, `5.0`, `5e0`, `0.5e1`, `50E-1`},
		`-0.05`:                    {`-0.05`, `-5e-2`},
		`0`:                        {`0`, `-0`, `0.000`, `0e9`},
		`1200`:                     {`1.2e3`, `1200.0`},
		`1e30`:                     {`1e30`, `10e29`},
		`"a<é"`:                    {`"a<é"`, `"a\u003c\u00e9"`},
		`{"a":[1,{"b":2}],"c":""}`: {`{"c":"","a":[1.0,{"b":2}]}`},
	} {
		for _, in := range list {
			if got := string(value.Canonical(json.RawMessage(in))); got != want {
				t.Errorf("%s is %s, want %s", in, got, want)
			}
		}
	}
}

func FuzzCanonical(f *testing.F) {
	for _, s := range []string{
		`{"a":1,"b":[1.50,-2e3,null,true,"x\u0000"]}`, `1e-7`, `12345678901234567890123.5`,
		`"\u2028"`,
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		v, err := value.Parse([]byte(s))
		if err != nil {
			return
		}
		out := value.Canonical(json.RawMessage(s))
		w, err := value.Parse(out)
		if err != nil || !value.Equal(v, w) {
			t.Fatalf("%s is %s: %v", s, out, err)
		}
		if again := value.Canonical(out); string(again) != string(out) {
			t.Fatalf("%s is %s", out, again)
		}
	})
}

func FuzzReadRecording(f *testing.F) {
	for _, s := range []string{`{"format":"callvet.recording","version":1,"tool":"a","args":{"b":1},"call":1,"result":[1, 2]}`, `{`, `{"format":"x"}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		r, err := world.ReadRecording("f.json", b)
		if err != nil {
			return
		}
		out, err := r.Encode()
		if err != nil {
			t.Fatal(err)
		}
		again, err := world.ReadRecording("f.json", out)
		if err != nil {
			t.Fatalf("%s: %v", out, err)
		}
		second, err := again.Encode()
		if err != nil || string(second) != string(out) || again.Name() != r.Name() {
			t.Fatalf("%s\n%s\n%v", out, second, err)
		}
	})
}

// TestHash: it depends on the content of recordings, and not on the names of their files.
func TestHash(t *testing.T) {
	t.Parallel()
	a := world.Recording{Tool: "a", Args: json.RawMessage(`{}`), Call: 1, Result: json.RawMessage(`1`)}
	b := a
	b.Call = 2
	c := a
	c.Result = json.RawMessage(`2`)
	hashes := map[string]bool{}
	for _, list := range [][]*world.Recording{{&a, &b}, {&b, &a}, {&c, &b}, {&a}} {
		all, err := world.RecordingsOf(list)
		if err != nil {
			t.Fatal(err)
		}
		hashes[all.Hash()] = true
	}
	if len(hashes) != 3 {
		t.Errorf("%d hashes: %v", len(hashes), slices.Collect(maps.Keys(hashes)))
	}
}

// TestTapeTogether: calls that are answered at the same time, the last one first, are recorded in the
// order in which they came.
func TestTapeTogether(t *testing.T) {
	t.Parallel()
	const n = 6
	dir := t.TempDir()
	tape, err := world.NewTape(dir, func(_ context.Context, name string, data []byte) error {
		return os.WriteFile(filepath.Join(dir, name), data, 0o600)
	}, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	came := make(chan struct{})
	answered := make([]chan struct{}, n+1) // of each call; of the one behind the last: at once
	for i := range answered {
		answered[i] = make(chan struct{})
	}
	close(answered[n])
	acting := tape.World(replayAnswering(func(_ context.Context, call callvet.Call) (callvet.Reply, error) {
		i, err := strconv.Atoi(call.ID)
		if err != nil {
			return callvet.Reply{}, err
		}
		came <- struct{}{}
		<-answered[i+1]
		close(answered[i])
		return callvet.Reply{Status: callvet.StatusOK, Result: json.RawMessage(call.ID)}, nil
	}), world.Conversation{Case: "a"})
	var g sys.Group
	for i := range n {
		g.Go(func() {
			if _, err := acting.Answer(t.Context(),
				callvet.Call{ID: strconv.Itoa(i), Tool: "get", Args: json.RawMessage(`{}`)}); err != nil {
				t.Error(err)
			}
		})
		<-came // the next one comes behind it
	}
	g.Wait()
	all, err := world.OpenRecordings(dir)
	if err != nil {
		t.Fatal(err)
	}
	again := all.World(world.Conversation{Case: "a"}, world.AnswerOptions{})
	for i := range n {
		if r, err := again.Answer(t.Context(), callvet.Call{Tool: "get", Args: json.RawMessage(`{}`)}); err != nil ||
			string(r.Result) != strconv.Itoa(i) {
			t.Errorf("call %d: %s, %v", i, r.Result, err)
		}
	}
}

// replayAnswering is a World made of a function.
type replayAnswering func(ctx context.Context, call callvet.Call) (callvet.Reply, error)

func (f replayAnswering) Answer(ctx context.Context, call callvet.Call) (callvet.Reply, error) {
	return f(ctx, call)
}
