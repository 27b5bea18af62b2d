// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package trace

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"pgregory.net/rapid"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/redact"
)

// example is the step of Evaluating Tool Calling, §2.2, on one line.
const example = `{"task_id":"t_10023","turn_id":3,"call_id":"t_10023#3#1","tool":"get_refund_policy@v3",` +
	`"args":{"country":"AR","product_type":"electronics"},"args_raw":"{\"country\":\"AR\",\"product_type\":\"electronics\"}",` +
	`"accept_time_ms":173,"result":{"window_days":30,"exceptions":["defecto..."]},"error":null,"latency_ms":{"queue":2,"exec":24},` +
	`"status":"ok","gold":{"needed":true,"args":{"country":"AR","product_type":"electronics"},"result_check":"window_days==30"},` +
	`"tags":["refunds","es-AR"]}`

func ptr[T any](v T) *T { return &v }

func exampleStep() Step {
	return Step{
		TaskID: "t_10023", TurnID: 3, CallID: "t_10023#3#1", Tool: "get_refund_policy", ToolVersion: "v3",
		Args:    json.RawMessage(`{"country":"AR","product_type":"electronics"}`),
		ArgsRaw: `{"country":"AR","product_type":"electronics"}`, AcceptMS: ptr(173.0),
		Result: json.RawMessage(`{"window_days":30,"exceptions":["defecto..."]}`), QueueMS: ptr(2.0), ExecMS: ptr(24.0),
		Status: callvet.StatusOK,
		Gold: &Gold{
			Needed: ptr(true), Args: json.RawMessage(`{"country":"AR","product_type":"electronics"}`),
			ResultCheck: "window_days==30",
		},
		Tags: []string{"refunds", "es-AR"},
	}
}

func readAll(t testing.TB, data string, o Options) ([]Step, *Log, error) {
	t.Helper()
	r, err := Open(strings.NewReader(data), o)
	if err != nil {
		t.Fatal(err)
	}
	var out []Step
	for {
		v, err := r.Next()
		if errors.Is(err, io.EOF) {
			return out, r.Log(), nil
		}
		if err != nil {
			return out, r.Log(), err
		}
		out = append(out, v.Step())
	}
}

func TestExampleBothWays(t *testing.T) {
	t.Parallel()
	steps, log, err := readAll(t, example, Options{Strict: true})
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]Step{exampleStep()}, steps); d != "" {
		t.Error(d)
	}
	if log.Steps != 1 || log.Bad != 0 {
		t.Errorf("log %+v", log)
	}
	var b bytes.Buffer
	w := NewWriter(&b)
	if err := w.Step(&steps[0]); err != nil {
		t.Fatal(err)
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(example+"\n", b.String()); d != "" {
		t.Error(d)
	}
}

func TestUnknownArgumentsStayUnknown(t *testing.T) {
	t.Parallel()
	steps, _, _ := readAll(t, `{"task_id":"t","tool":"a"}`+"\n"+`{"task_id":"t","tool":"a","args":null}`+"\n"+
		`{"task_id":"t","tool":"a","args":{}}`, Options{})
	var got []string
	for i := range steps {
		var b bytes.Buffer
		w := NewWriter(&b)
		if err := errors.Join(w.Step(&steps[i]), w.Flush()); err != nil {
			t.Fatal(err)
		}
		from := strings.Index(b.String(), `"args":`)
		got = append(got,
			fmt.Sprintf("%v %s", steps[i].Args == nil, b.String()[from:strings.Index(b.String(), `,"accept`)]))
	}
	want := []string{
		`true "args":null,"args_raw":null`, `true "args":null,"args_raw":null`,
		`false "args":{},"args_raw":"{}"`,
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

func TestBadLines(t *testing.T) {
	t.Parallel()
	lines := []string{
		example, `{"task_id":"t"`, ``, `[1]`, `{"tool":"x"}`, `{"task_id":"t"}`,
		`{"task_id":"t","tool":"x","turn_id":"3"}`,
		`{"task_id":"t","tool":"x","status":"success"}`, `{"task_id":"t","tool":"x","tool":"y"}`,
		`{"task_id":"t","tool":"x","latency_ms":{"exec":-1}}`,
		`{"task_id":"t","tool":"x","tags":[1]}`, `{"task_id":"t","tool":"x","version":9}`,
		`{"type":"span","task_id":"t","tool":"x"}`,
		`{"task_id":7,"tool":"x"}`, `{"task_id":"t","tool":"x","resut":1,"whatever":2}`,
		`{"task_id":"` + strings.Repeat("x", 2000) + `","tool":"x"}`,
		`{"type":"task","task_id":"t","final_answer":"yes","costusd":1}`, "{\"task_id\":\"t\",\"tool\":\"\xff\"}",
		`{"task_id":"t","tool":"x","gold":{"needed":1}}`,
	}
	data := strings.Join(lines, "\r\n")
	for _, block := range []int{0, 64, 700} {
		steps, log, err := readAll(t, data, Options{MaxLine: 1000, MaxBad: 13, Block: block})
		if err != nil {
			t.Fatal(err)
		}
		if len(steps) != 4 || log.Steps != 3 || log.Tasks != 1 || log.Lines != int64(len(lines)) || log.Bad != 14 ||
			log.Repaired != 1 {
			t.Errorf("block %d: %d records, log %+v", block, len(steps), log)
		}
		var got []string
		for _, p := range log.Problems("f.jsonl") {
			got = append(got, p.Error())
		}
		want := []string{
			`f.jsonl:2: not JSON: byte 14: an object is not closed (the record is cut off, or goes on in the next line: write each on one line)`,
			`f.jsonl:4: the line is an array, not an object`,
			`f.jsonl:5: "task_id" is missing`,
			`f.jsonl:6: "tool" is missing`,
			`f.jsonl:7: "turn_id" is a string, not a whole number from 0`,
			`f.jsonl:8: "status" is "success"; it must be ok, rejected_by_contract, exec_error or timeout`,
			`f.jsonl:9: not JSON: byte 27: duplicate key "tool"`,
			`f.jsonl:10: "latency_ms.exec" is -1; it must be a number from 0`,
			`f.jsonl:11: "tags[0]" is a number, not a string`,
			`f.jsonl:12: the record is of version 9; this callvet reads up to 1`,
			`f.jsonl:13: "type" is "span"; it must be step or task`,
			`f.jsonl:14: "task_id" is a number, not a string`,
			`f.jsonl:16: the line is longer than the limit of 1000 bytes`,
			`f.jsonl: 1 more lines are no records`,
			`f.jsonl:18: this line has invalid UTF-8 and was read with repairs`,
			`f.jsonl:17: unknown key "costusd", first here, on 1 lines (did you mean "cost_usd"?)`,
			`f.jsonl:15: unknown key "resut", first here, on 1 lines (did you mean "result"?)`,
			`f.jsonl:15: unknown key "whatever", first here, on 1 lines`,
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("block %d: %s", block, d)
		}
	}
	for want, line := range map[string]string{
		"line 1: not JSON: byte 1: expected a member name (the record is cut off, or goes on in the next line: write each on one line): invalid": `{`,
		`line 1: unknown key "resut", did you mean "result"?: invalid`:                                                                           `{"task_id":"t","tool":"x","resut":1}`,
	} {
		if _, _, err := readAll(t, line, Options{Strict: true}); err == nil || err.Error() != want ||
			!errors.Is(err, callvet.ErrInvalid) {
			t.Errorf("strict: %v, want %s", err, want)
		}
	}
}

func TestCompressedAndMarked(t *testing.T) {
	t.Parallel()
	var z bytes.Buffer
	for range 2 { // two members, as concatenated files have them
		w := gzip.NewWriter(&z)
		if _, err := io.WriteString(w, example+"\n"); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if steps, _, err := readAll(t, z.String(), Options{}); err != nil || len(steps) != 2 {
		t.Errorf("%d steps, %v", len(steps), err)
	}
	if _, _, err := readAll(t, z.String()[:z.Len()-4], Options{}); err == nil {
		t.Error("a file that is cut off was read to its end without a word")
	}
	if steps, log, _ := readAll(t, "\uFEFF"+example, Options{}); len(steps) != 1 || log.Bad != 0 {
		t.Errorf("byte order mark: %+v", log)
	}
	if steps, log, err := readAll(t, "", Options{}); len(steps) != 0 || log.Lines != 0 || err != nil {
		t.Errorf("empty file: %+v, %v", log, err)
	}
}

// TestBlocksInParts holds scanners that share a file against one reader of it.
func TestBlocksInParts(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	for i := range 500 {
		switch {
		case i%37 == 5:
			b.WriteString("{broken\n")
		case i%53 == 7:
			fmt.Fprintf(&b, `{"task_id":"%s","tool":"x"}`+"\n", strings.Repeat("y", 9000))
		default:
			fmt.Fprintf(&b, `{"task_id":"t%d","tool":"x","zz":1}`+"\n", i)
		}
	}
	o := Options{MaxLine: 4096, Block: 512, MaxBad: 9}
	_, want, err := readAll(t, b.String(), o)
	if err != nil {
		t.Fatal(err)
	}
	blocks, err := NewBlocks(strings.NewReader(b.String()), o)
	if err != nil {
		t.Fatal(err)
	}
	scanners := []*Scanner{NewScanner(o), NewScanner(o), NewScanner(o)}
	for i := 0; ; i++ {
		bl, err := blocks.Next(nil)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if err := scanners[i%3].Scan(bl, func(*View) error { return nil }); err != nil {
			t.Fatal(err)
		}
	}
	got := scanners[2].Log
	got.Merge(&scanners[0].Log)
	got.Merge(&scanners[1].Log)
	if d := cmp.Diff(*want, got); d != "" {
		t.Error(d)
	}
}

func TestFollow(t *testing.T) {
	t.Parallel()
	file, err := os.Create(filepath.Join(t.TempDir(), "traces.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	write := func(text string) error {
		_, err := file.WriteString(text)
		return err
	}
	waits := 0
	tail, err := FollowFile(file.Name(), func() error {
		switch waits++; waits {
		case 1:
			return write(example[40:])
		case 2:
			return write("\n" + example) // the last line never gets its end
		}
		return io.ErrClosedPipe
	})
	if err := errors.Join(err, write(example+"\n"+example[:40])); err != nil {
		t.Fatal(err)
	}
	defer tail.Close()
	r, err := Open(tail, Options{Live: true})
	if err != nil {
		t.Fatal(err)
	}
	var seen []int
	for {
		if _, err := r.Next(); err != nil {
			if !errors.Is(err, io.EOF) {
				t.Fatal(err)
			}
			break
		}
		seen = append(seen, waits)
	}
	if d := cmp.Diff([]int{0, 2, 3}, seen); d != "" {
		t.Errorf("waits before each record: %s", d)
	}
}

// TestRedacted: secrets and personal data go out of every member that holds what was said,
// ids and figures stay, and callvet reads what it wrote.
func TestRedacted(t *testing.T) {
	t.Parallel()
	red, err := redact.New(redact.Config{})
	if err != nil {
		t.Fatal(err)
	}
	const id, call = "555-123-2002", "5500005555555559" // ids join lines: they stay
	secret := json.RawMessage(`{"to":"a@b.com","password":"hunter22","lat":59.4111111111111111}`)
	a := Attempt{
		Trace: callvet.Trace{
			CaseID: id, Answer: "mail to a@b.com sent",
			Usage:  callvet.Usage{Known: true, InputTokens: 1, CostUSD: ptr(0.4000000000000002)},
			Fault:  &callvet.Fault{Kind: callvet.FaultServer, Message: "bad key: password=hunter22"},
			WallMS: 1204.5555555555,
			Turns: []callvet.Turn{
				{Role: callvet.RoleAssistant, Content: "a@b.com", Reasoning: "password=hunter22", Calls: []callvet.Call{
					{
						ID: call, Tool: "mail", Args: secret, ArgsRaw: string(secret),
						Error: "no account GB29NWBK60161331926819", Status: callvet.StatusExecErr,
					},
					{
						ID: "2", Tool: "mail", ArgsRaw: `{"n":1,"password":"swordfish`,
						Result: json.RawMessage(
							`{"body":"{\"password\":\"swordfish\",\"n\":[\"{\\\"pwd\\\":\\\"swordfish\\\"}\"]}"}`),
					},
				}},
				{Role: callvet.RoleTool, CallID: call, Content: `{"pwd":"hunter22"}`},
			},
		},
		Input: []callvet.Turn{{Role: callvet.RoleUser, Content: "password=hunter22"}}, Goal: "a@b.com",
		Reward: ptr(0.4000000000000002),
		Gold: &TaskGold{
			Steps: []GoldStep{{Tool: "mail", Args: secret}}, Checks: []string{`n == 4111111111111111`},
			Facts: []string{"a@b.com"},
		},
		Judged:    []Judged{{Judge: "j", Score: ptr(0.4000000000000002), Reason: "a@b.com"}},
		Labels:    []Label{{By: "a@b.com", Note: "a@b.com"}},
		Safety:    []Incident{{Rule: "pii_in_arguments", Note: "a@b.com"}},
		UserCalls: []callvet.Call{{Tool: "mail", Args: secret}},
		Tags:      []string{"a@b.com"}, Fields: map[string]string{"user": "a@b.com"}, Foreign: secret,
		Steps: map[int]StepNote{0: {
			TurnID: 1, Tags: []string{"a@b.com"}, Fields: map[string]string{"user": "a@b.com"},
			Gold: &Gold{Args: secret, Result: secret, ResultCheck: `to == "a@b.com"`},
		}},
	}
	before, err := json.Marshal(a)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	w, hidden := NewWriter(&b), a.Redacted(red)
	if err := errors.Join(w.Attempt(&hidden), w.Flush()); err != nil {
		t.Fatal(err)
	}
	for _, leak := range []string{"a@b.com", "hunter22", "GB29", "swordfish", "#2] sent"} {
		if strings.Contains(b.String(), leak) {
			t.Errorf("%q was written: %s", leak, b.String())
		}
	}
	for text, n := range map[string]int{
		call: 3, id: 3, "59.4111111111111111": 7, "0.4000000000000002": 3,
		"1204.5555555555": 1, "n == 9999999999999999": 1,
	} {
		if got := strings.Count(b.String(), text); got != n {
			t.Errorf("%q is there %d times, not %d: %s", text, got, n, b.String())
		}
	}
	steps, log, err := readAll(t, b.String(), Options{Strict: true})
	if err != nil || log.Tasks != 1 {
		t.Fatal(err, log)
	}
	if d := cmp.Diff(`{"to":"[REDACTED:email]","password":"[REDACTED:secret]","lat":59.4111111111111111}`,
		steps[0].ArgsRaw); d != "" {
		t.Error(d)
	}
	if after, err := json.Marshal(a); err != nil || string(after) != string(before) {
		t.Errorf("the attempt was changed: %v", err)
	}
	// A second pass has nothing to do.
	again := hidden.Redacted(red)
	var c bytes.Buffer
	w = NewWriter(&c)
	if err := errors.Join(w.Attempt(&again), w.Flush()); err != nil || c.String() != b.String() {
		t.Errorf("%v: a second pass wrote %s", err, cmp.Diff(b.String(), c.String()))
	}
}

// TestRedactionKeepsFigures: what is no card number and no secret is written byte for byte,
// whatever it looks like.
func TestRedactionKeepsFigures(t *testing.T) {
	t.Parallel()
	red, err := redact.New(redact.Config{})
	if err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, func(t *rapid.T) {
		number := rapid.OneOf(
			rapid.Map(rapid.Float64Range(-180, 180),
				func(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }),
			rapid.Map(rapid.Float64(), func(f float64) string { return strconv.FormatFloat(f, 'e', -1, 64) }),
			// times in ms
			rapid.Map(rapid.Int64Range(1e12, 2e12), func(n int64) string { return strconv.FormatInt(n, 10) }),
			rapid.Map(rapid.Int64Range(1e15, 2e15), func(n int64) string { return strconv.FormatInt(n, 10) }),
			rapid.Map(rapid.Int64Range(-1e18, 1e11), func(n int64) string { return strconv.FormatInt(n, 10) }),
		)
		text := rapid.OneOf(rapid.StringMatching(`[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-8[0-9a-f]{3}-[0-9a-f]{12}`),
			rapid.StringMatching(`[0-9a-f]{40}[a-f]`),
			rapid.StringMatching(`-?[0-9]{1,3}\.[0-9]{16}`),
			rapid.StringMatching(`20[0-9]{2}-0[1-9]-[012][1-8]T1[0-9]:[0-5][0-9]:[0-5][0-9]\.[0-9]{6}Z`))
		name := rapid.SampledFrom([]string{"lat", "cost_usd", "started", "x", "value", "trace", "n"})
		b := []byte{'{'}
		for i := range rapid.IntRange(1, 8).Draw(t, "members") {
			if i > 0 {
				b = append(b, ',')
			}
			b = append(AppendQuoted(b, name.Draw(t, "name")+strconv.Itoa(i)), ':')
			if rapid.Bool().Draw(t, "number") {
				b = append(b, number.Draw(t, "figure")...)
			} else {
				b = AppendQuoted(b, text.Draw(t, "id"))
			}
		}
		b = append(b, '}')
		if got := red.JSON(b); string(got) != string(b) {
			t.Fatalf("%s became %s", b, got)
		}
	})
}

func compiled(t *testing.T) *jsonschema.Schema {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(Schema()))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("trace", doc); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("trace")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestSchemaAgrees holds the published schema against the reader.
func TestSchemaAgrees(t *testing.T) {
	t.Parallel()
	published := compiled(t)
	for _, line := range []string{
		example, `{"task_id":"t","tool":"x"}`, `{"type":"task","task_id":"t","final_answer":null}`,
		`{"task_id":"t","tool":""}`, `{"task_id":"t"}`,
		`{"task_id":"t","tool":"x","turn_id":1.5}`, `{"task_id":"t","tool":"x","turn_id":-1}`,
		`{"task_id":"t","tool":"x","status":"done"}`,
		`{"task_id":"t","tool":"x","latency_ms":{"queue":null,"exec":-2}}`, `{"task_id":"t","tool":"x","tags":null}`,
		`{"task_id":"t","tool":"x","tags":["a",1]}`,
		`{"task_id":"t","tool":"x","gold":{"needed":"yes"}}`, `{"task_id":"t","tool":"x","gold":null}`,
		`{"task_id":"t","tool":"x","call":1}`,
		`{"type":"task","task_id":"t","tool":"x"}`,
		`{"gold":{"steps":[{"tool":"x"}]},"final_answer":"a","task_id":"t","type":"task"}`,
		`{"task_id":"t","tool":1,"type":"task"}`, `{"task_id":"t","tool":"x","version":1}`,
		`{"task_id":"t","tool":"x","version":2}`,
	} {
		v, err := jsonschema.UnmarshalJSON(strings.NewReader(line))
		if err != nil {
			t.Fatal(err)
		}
		_, _, read := readAll(t, line, Options{Strict: true})
		if reported := published.Validate(v); (reported == nil) != (read == nil) {
			t.Errorf("%s: schema says %v, reader says %v", line, reported, read)
		}
	}
}

// FuzzReader reads anything, and writes again what it took as records.
func FuzzReader(f *testing.F) {
	f.Add([]byte(example+"\n"+example), 64)
	f.Add([]byte(`{"type":"task","task_id":"t","conversation":[{"role":"assistant","call_ids":["a"]}]}`), 10)
	f.Add([]byte("\x1f\x8b\x08"), 0)
	f.Fuzz(func(t *testing.T, data []byte, block int) {
		o := Options{Block: min(block, 1<<16), MaxLine: 1 << 12}
		r, err := Open(bytes.NewReader(data), o)
		if err != nil {
			return
		}
		var b bytes.Buffer
		w := NewWriter(&b)
		n := int64(0)
		for {
			v, err := r.Next()
			if err != nil {
				break
			}
			if v.IsTask {
				continue
			}
			n++
			if s := v.Step(); w.Step(&s) != nil {
				t.Fatalf("line %s was read and cannot be written", v.Raw)
			}
		}
		if err := w.Flush(); err != nil {
			t.Fatal(err)
		}
		if _, log, err := readAll(t, b.String(), Options{Strict: true}); err != nil || log.Steps != n {
			t.Fatalf("%d steps written, %d read: %v\n%s", n, log.Steps, err, b.String())
		}
	})
}

func BenchmarkScan(b *testing.B) {
	data := []byte(strings.Repeat(example+"\n", 2000))
	s, n := NewScanner(Options{}), 0
	b.SetBytes(int64(len(data)))
	for b.Loop() {
		if err := s.Scan(Block{Data: data, Line: 1},
			func(v *View) error { n += len(v.Args.Raw()); return nil }); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkWrite(b *testing.B) {
	for _, with := range []string{"plain", "redacted"} {
		b.Run(with, func(b *testing.B) {
			red, err := redact.New(redact.Config{})
			if err != nil {
				b.Fatal(err)
			}
			w, s := NewWriter(io.Discard), exampleStep()
			a := join([]Step{s}, nil)
			b.SetBytes(int64(len(example)))
			for b.Loop() {
				x := a
				if with == "redacted" {
					x = a.Redacted(red)
				}
				if err := w.Attempt(&x); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func attempts() *rapid.Generator[Attempt] {
	value := rapid.SampledFrom([]string{`{}`, `{"a":1}`, `"text"`, `[1,2]`, `0`})
	word := rapid.StringMatching(`[a-z]{1,4}`)
	return rapid.Custom(func(t *rapid.T) Attempt {
		a := Attempt{Trace: callvet.Trace{
			CaseID: word.Draw(t, "case"), Target: word.Draw(t, "target"),
			Repeat: rapid.IntRange(0, 3).Draw(t, "repeat"),
		}}
		for i := range rapid.IntRange(0, 3).Draw(t, "turns") {
			say := callvet.Turn{
				Role:    callvet.RoleAssistant,
				Content: rapid.StringMatching(`[ -~é]{0,5}`).Draw(t, "text"),
			}
			var results []callvet.Turn
			for j := range rapid.IntRange(0, 2).Draw(t, "calls") {
				c := callvet.Call{
					ID: fmt.Sprintf("c%d.%d", i, j), Tool: word.Draw(t, "tool"),
					Version: rapid.SampledFrom([]string{"", "v2"}).Draw(t, "v"),
				}
				switch rapid.IntRange(0, 2).Draw(t, "args") {
				case 0:
					c.Args = json.RawMessage(value.Draw(t, "value"))
				case 1:
					c.ArgsRaw = `{"cut":`
				}
				if rapid.Bool().Draw(t, "answered") {
					c.Result, c.Status, c.ExecMS = json.RawMessage(value.Draw(t, "result")), callvet.StatusOK, 2.5
					results = append(results,
						callvet.Turn{Role: callvet.RoleTool, CallID: c.ID, Tool: c.Tool, Content: resultText(c.Result)})
				}
				if rapid.Bool().Draw(t, "timed") {
					c.StartMS = ptr(float64(rapid.SampledFrom([]float64{0, 3, 17.25}).Draw(t, "start")))
				}
				c.Env = callvet.Env(rapid.SampledFrom([]string{"", "mock", "live http https://a.example/x"}).Draw(t,
					"env"))
				if c.Status == "" && rapid.Bool().Draw(t, "denied") {
					c.Env, c.Error = callvet.EnvGuard, "not allowed"
					c.Guard = []callvet.Ruling{{
						Rule: "tool_not_allowed", Action: callvet.RulingDeny,
						Detail: "\u2028 \"x\"",
					}, {Rule: "size", Action: callvet.RulingFlag}}
				}
				say.Calls = append(say.Calls, c)
			}
			a.Trace.Turns = append(append(a.Trace.Turns, say), results...)
		}
		a.Input = []callvet.Turn{{Role: callvet.RoleUser, Content: "hi"}}
		a.Trace.Usage = callvet.Usage{InputTokens: 3, OutputTokens: 4, Known: true, CostUSD: ptr(0.25)}
		a.Pass, a.Reward = ptr(true), ptr(0.5)
		a.Trace.Classify("")
		return a
	})
}

// TestAttemptsComeBack writes attempts with their lines mixed and reads them.
func TestAttemptsComeBack(t *testing.T) {
	t.Parallel()
	published := compiled(t)
	rapid.Check(t, func(t *rapid.T) {
		in := rapid.SliceOfNDistinct(attempts(), 0, 5, func(a Attempt) string { return a.Name() }).Draw(t, "attempts")
		var b bytes.Buffer
		w := NewWriter(&b)
		var steps [][]Step
		var tasks []Task
		for i := range in {
			s, task := in[i].Lines()
			steps, tasks = append(steps, s), append(tasks, task)
		}
		for left := true; left; { // one line of each attempt in turn
			left = false
			for i := range steps {
				if len(steps[i]) > 0 {
					left = true
					if err := w.Step(&steps[i][0]); err != nil {
						t.Fatal(err)
					}
					steps[i] = steps[i][1:]
				}
			}
		}
		for i := range tasks {
			if err := w.Task(&tasks[i]); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Flush(); err != nil {
			t.Fatal(err)
		}
		for _, line := range bytes.Split(bytes.TrimSpace(b.Bytes()), []byte("\n")) {
			if v, err := jsonschema.UnmarshalJSON(bytes.NewReader(line)); len(line) > 0 &&
				(err != nil || published.Validate(v) != nil) {
				t.Fatalf("the published schema refuses %s: %v", line, published.Validate(v))
			}
		}
		r, err := Open(&b, Options{Strict: true})
		if err != nil {
			t.Fatal(err)
		}
		g := NewGrouper(0)
		var out []Attempt
		for a, err := range r.Attempts(g) {
			if err != nil {
				t.Fatal(err)
			}
			out = append(out, a)
		}
		if g.Split != 0 {
			t.Fatalf("%d attempts in pieces", g.Split)
		}
		if d := cmp.Diff(in, out, cmpopts.EquateEmpty(), cmpopts.IgnoreFields(Attempt{}, "Steps", "Order"),
			cmpopts.SortSlices(func(a, b Attempt) bool { return a.Name() < b.Name() })); d != "" {
			t.Fatal(d)
		}
	})
}

func TestWindow(t *testing.T) {
	t.Parallel()
	line := func(task string) string { return fmt.Sprintf(`{"task_id":%q,"turn_id":1,"tool":"x"}`+"\n", task) }
	data := line("a") + line("a") + line("b") + line("c") + line("a")
	r, err := Open(strings.NewReader(data), Options{})
	if err != nil {
		t.Fatal(err)
	}
	g := NewGrouper(2)
	var got []string
	for a, err := range r.Attempts(g) {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, fmt.Sprintf("%s:%d", a.Trace.CaseID, len(a.Trace.Calls())))
	}
	if d := cmp.Diff([]string{"a:2", "b:1", "c:1", "a:1"}, got); d != "" || g.Split != 1 {
		t.Errorf("%s, split %d", d, g.Split)
	}
}
