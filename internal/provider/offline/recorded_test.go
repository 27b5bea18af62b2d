// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package offline

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/message"
)

func write(t testing.TB, dir, name, content string) string {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// show writes an answer on one line.
func show(resp *callvet.Response, err error) string {
	var f *callvet.Fault
	if errors.As(err, &f) {
		return fmt.Sprintf("fault %s %d", f.Kind, f.HTTP)
	}
	if err != nil {
		return err.Error()
	}
	var b strings.Builder
	for i, t := range resp.Turns {
		if i > 0 {
			b.WriteString(" | ")
		}
		fmt.Fprintf(&b, "%s %q", t.Role, t.Content)
		for _, c := range t.Calls {
			args := string(c.Args)
			if c.Args == nil {
				args = "?" + c.ArgsRaw
			}
			b.WriteString(" " + c.Tool + args)
		}
	}
	if resp.FinishReason != "" {
		b.WriteString(" " + resp.FinishReason)
	}
	if resp.Unreadable || resp.Why != "" {
		b.WriteString(" unreadable")
	}
	return b.String()
}

func TestForms(t *testing.T) {
	t.Parallel()
	const c = `"case_id":"c",`
	for row, want := range map[string]string{
		`{` + c +
			`"target":"t","repeat":0,"outcome":"called","turns":[{"role":"assistant","calls":[{"tool":"f","args":{"a":1}}]}],"wall_ms":12}`: `assistant "" f{"a":1}`,
		`{` + c +
			`"target":"t","repeat":0,"outcome":"error","fault":{"kind":"timeout","message":"slow","retryable":true}}`: `fault timeout 0`,
		`{` + c +
			`"target":"t","repeat":0,"outcome":"not_run"}`: `fault no_output 0`,
		`{` + c +
			`"target":"t","repeat":0,"outcome":"unparseable","turns":[{"role":"assistant","content":"{\"na"}]}`: `assistant "{\"na" unreadable`,
		`{"id":"c","raw":"x","decoded":null}`:                                      `assistant "x" undecodable`,
		`{"id":"c","raw":"x","decoded":[]}`:                                        `assistant "x" decoded`,
		`{"id":"c","raw":"x","decoded":["f(1)"]}`:                                  `assistant "x" undecodable`,
		`{"id":"c","raw":[{"f":"{\"a\": 1}"}],"decoded":[{"f":{"a":1}},{"g":{}}]}`: `assistant "" f{"a":1} g{} decoded`,
		`{"id":"c","result":[{"f":"{\"a\": 1}"},{"g":"{"}],"latency":1.5}`:         `assistant "" f{"a": 1} g?{`,
		`{"id":"c","result":"[f(a=1, b='x'), g.h()]"}`:                             `assistant "[f(a=1, b='x'), g.h()]" f{"a":1,"b":"x"} g.h{}`,
		`{"id":"c","result":"[f(a=1, b='x'"}`:                                      `assistant "[f(a=1, b='x'" unreadable`,
		`{"id":"c","result":"I cannot do that."}`:                                  `assistant "I cannot do that." decoded`,
		`{"custom_id":"c","response":{"status_code":200,"body":{"choices":[{"message":{"role":"assistant","tool_calls":[{"id":"1","function":{"name":"f","arguments":"{}"}}]},"finish_reason":"tool_calls"}]}},"error":null}`: `assistant "" f{} tool_calls`,
		`{"custom_id":"c","response":{"status_code":429,"body":{"error":{"message":"slow"}}}}`:                                                                                                                                `fault rate_limit 429`,
		`{` + c +
			`"response":{"content":[{"type":"text","text":"Hm."},{"type":"tool_use","id":"1","name":"f","input":{"a":1}}],"stop_reason":"tool_use"}}`: `assistant "Hm." f{"a":1} tool_use`,
		`{` + c +
			`"response":{"object":"response","output":[{"type":"function_call","call_id":"1","name":"f","arguments":"{\"a\":2}"}],"status":"completed"}}`: `assistant "" f{"a":2} completed`,
		`{"id":"c","messages":[{"role":"system","content":"s"},{"role":"user","content":"q"},{"role":"assistant","tool_calls":[{"id":"1","function":{"name":"f","arguments":"{\"a\":"}}]}]}`: `assistant "" f?{"a":`,
		`{` + c +
			`"calls":[{"name":"f","arguments":{"a":1}},{"tool":"g","input":{}},{"name":"h"}],"answer":"ok"}`: `assistant "ok" f{"a":1} g{} h?`,
		`{` + c +
			`"text":"{\"name\":\"f\",\"arguments\":{\"a\":1}}"}`: `assistant "{\"name\":\"f\",\"arguments\":{\"a\":1}}" f{"a":1}`,
		`{` + c + `"error":"boom"}`:                      `fault server 0`,
		`{` + c + `"error":{"http":401,"message":"no"}}`: `fault auth 401`,
		`{` + c + `"calls":[],"text":"none needed"}`:     `assistant "none needed"`,
		`{` + c + `"something":"else"}`:                  `fault malformed 0`,
		`{"id":"c","turns":[{"steps":[{"calls":[{"name":"cd","arguments":{"d":"x"},"result":"ok"}]}]}]}`: `assistant "" cd{"d":"x"} | tool "ok"`,
	} {
		src, err := Open(write(t, t.TempDir(), "r.jsonl", row+"\n"), nil)
		if err != nil {
			t.Errorf("%s: %v", row, err)
			continue
		}
		req := &callvet.Request{
			CaseID: "c", Tools: callvet.NewToolset([]callvet.Tool{{Name: "f"}}),
			Turns: []callvet.Turn{{Role: callvet.RoleUser, Content: "q"}},
		}
		if d := cmp.Diff(want, show(src[0].Model.Generate(t.Context(), req))); d != "" {
			t.Errorf("%s: %s", row, d)
		}
	}
}

func TestRepeatsGroupsAndCoverage(t *testing.T) {
	t.Parallel()
	path := write(t, t.TempDir(), "two.jsonl", strings.Join([]string{
		`{"case_id":"a","target":"x","text":"x0"}`,
		`{"case_id":"a","target":"y","text":"y1","repeat":1}`,
		`{"case_id":"a","target":"x","text":"x1"}`,
		`{"case_id":"gone","target":"x","text":"x"}`,
		``,
		`{"case_id":"a","target":"y","text":"y0","repeat":0}`,
		`{"text":"no id"}`,
		`[1]`,
		`{"case_id":"b","target":"x","text":"cut`,
		`{"case_id":"b","case_id":"b","target":"x","text":"twice \ud800"}`,
	}, "\n"))
	src, err := Open(path, nil)
	if err != nil || len(src) != 2 {
		t.Fatal(src, err)
	}
	ask := func(s *Source, id string, repeat int) string {
		return show(s.Model.Generate(t.Context(), &callvet.Request{CaseID: id, Repeat: repeat}))
	}
	got := []string{
		ask(src[0], "a", 0), ask(src[0], "a", 1), ask(src[0], "a", 2), ask(src[0], "b", 0), ask(src[0], "none", 0),
		ask(src[1], "a", 0), ask(src[1], "a", 1), ask(src[1], "b", 0),
	}
	want := []string{
		`assistant "x0"`, `assistant "x1"`, "fault no_output 0", "assistant \"twice \uFFFD\"", "fault no_output 0",
		`assistant "y0"`, `assistant "y1"`, "fault no_output 0",
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	s := src[0]
	if s.Malformed != 3 || s.Relaxed != 1 || s.Rows != 4 || !s.Target.Recorded ||
		!strings.HasSuffix(s.Target.Name, "#x") {
		t.Errorf("%+v", s)
	}
	lines := []int{s.Problems[0].Line, s.Problems[1].Line, s.Problems[2].Line}
	if d := cmp.Diff([]int{7, 8, 9}, lines); d != "" {
		t.Error(d)
	}
	for attempts, want := range []int{3, 1, 0, 0} { // a has two rows, b has one
		all := slices.Values([]*callvet.Case{{ID: "a"}, {ID: "b"}, {ID: "new"}})
		unused, most := s.Unused(all, func(*callvet.Case) int { return attempts })
		if unused != want || most != 2 {
			t.Errorf("%d attempts leave %d rows unused of at most %d for a case, want %d", attempts, unused, most, want)
		}
	}
	c := s.Coverage(slices.Values([]*callvet.Case{{ID: "a"}, {ID: "b"}, {ID: "new"}}))
	if d := cmp.Diff(Coverage{Missing: []string{"new"}, Unknown: []string{"gone"}}, c); d != "" {
		t.Error(d)
	}
}

func TestFilesAndFolders(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var z bytes.Buffer
	w := gzip.NewWriter(&z)
	_, _ = w.Write([]byte(`{"id":"c","text":"zipped"}` + "\n"))
	_ = w.Close()
	write(t, dir, "b.jsonl.gz", z.String())
	write(t, dir, "a.json", "[\n {\"id\":\"c\",\n  \"text\":\"listed\"}, {\"id\":\"d\",\"text\":\"too\"}\n]")
	write(t, dir, "c.json", "\ufeff{\"id\":\"c\",\n \"text\":\"alone\"}")
	write(t, dir, "notes.txt", "nothing")
	write(t, dir, "model/live/x_result.json", `{"id":"c","result":"joined"}`+"\n")
	write(t, dir, "model/y_result.json", `{"id":"e","result":"more"}`+"\n")
	src, err := Open(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, s := range src {
		got = append(got, filepath.Base(s.Target.Name)+" "+
			show(s.Model.Generate(t.Context(), &callvet.Request{CaseID: "c"})))
	}
	want := []string{
		`a.json assistant "listed"`, `b.jsonl.gz assistant "zipped"`, `c.json assistant "alone"`,
		`model assistant "joined" decoded`,
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if src[3].Rows != 2 || closeAll(src) != nil {
		t.Errorf("joined %d rows", src[3].Rows)
	}
	for name, content := range map[string]string{"bad.json": "nope\nnope\n", "empty.jsonl": "", "cut.json": `[{"id":`} {
		if _, err := Open(write(t, t.TempDir(), name, content), nil); !errors.Is(err, callvet.ErrInvalid) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := Open(filepath.Join(dir, "none"), nil); !errors.Is(err, callvet.ErrNotFound) {
		t.Error(err)
	}
}

// TestStream reads a file through the path for big ones.
func TestStream(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	for i := range 300 {
		fmt.Fprintf(&b, `{"id":"c%d","text":"%s %d"}`+"\r\n", i, strings.Repeat("x", i*40), i)
	}
	b.WriteString(`{"id":"long","text":"` + strings.Repeat("y", 3<<20) + `"}` + "\n" + `{"id":"last","text":"z"}`)
	f, err := os.Open(write(t, t.TempDir(), "big.jsonl", b.String()))
	if err != nil {
		t.Fatal(err)
	}
	l := &loader{store: &store{}, groups: map[string]*Source{}}
	if err := l.stream(f.Name(), f); err != nil || l.malformed != 0 {
		t.Fatal(err, l.problems)
	}
	m := &model{index: l.groups[""].index}
	for id, size := range map[string]int{"c0": 2, "c7": 282, "c299": 299*40 + 4, "long": 3 << 20, "last": 1} {
		resp, err := m.Generate(t.Context(), &callvet.Request{CaseID: id})
		if err != nil || len(resp.Turns[0].Content) != size {
			t.Errorf("%s: %v", id, err)
		}
	}
	for range 2 { // a second time is harmless
		if err := l.store.close(); err != nil {
			t.Error(err)
		}
	}
}

// TestPromptfoo reads a real export when it is there.
func TestPromptfoo(t *testing.T) {
	t.Parallel()
	path := filepath.Join(testData(t, ""), "..", "formats", "promptfoo", "results.v0.123.1.json")
	if _, err := os.Stat(path); err != nil {
		t.Skipf("no promptfoo export at %s", path)
	}
	src, err := Open(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	s := src[0]
	if len(src) != 1 || s.Form != message.FormPromptfoo || s.Rows != 9 || s.Malformed != 0 ||
		s.Target.Model != "torture" {
		t.Fatalf("%d sources, %+v", len(src), s)
	}
	byID := show(s.Model.Generate(t.Context(), &callvet.Request{CaseID: "T01|f1"}))
	byText := show(s.Model.Generate(t.Context(),
		&callvet.Request{CaseID: "?", Turns: []callvet.Turn{{Role: callvet.RoleUser, Content: "T01f1"}}}))
	if want := `assistant "" toggle{"lamp":1} toggle{"lamp":1}`; byID != want || byText != want {
		t.Errorf("%s\n%s", byID, byText)
	}
	faults := 0
	for _, id := range s.index.order {
		_, err := s.Model.Generate(t.Context(), &callvet.Request{CaseID: id})
		var f *callvet.Fault
		if errors.As(err, &f) {
			faults++
			t.Log(id, f)
		}
	}
	t.Logf("%d rows, %d faults, ids %q", s.Rows, faults, s.index.order)
}

func FuzzRow(f *testing.F) {
	for _, s := range []string{
		`{"id":"c","raw":[],"decoded":[{"f":{}}]}`, `{"id":"c","result":"[f(a=1)]"}`,
		`{"id":"c","choices":[{"message":{"tool_calls":[{"function":{"name":"f"}}]}}]}`,
		`{"id":"c","turns":[{"role":"tool"}],"outcome":"called"}`,
		`{"id":"c","messages":[{"role":"tool","content":"x"}]}`,
		`{"id":"c","output":[{"type":"function_call","name":1}]}`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, row []byte) {
		l := &loader{store: &store{}, groups: map[string]*Source{}}
		if err := l.bytes("r", row); err != nil {
			t.Fatal(err)
		}
		for _, s := range l.groups {
			m := &model{index: s.index}
			for _, id := range s.index.order {
				resp, err := m.Generate(t.Context(),
					&callvet.Request{CaseID: id, Tools: callvet.NewToolset([]callvet.Tool{{Name: "f"}})})
				if (resp == nil) == (err == nil) {
					t.Fatalf("%q: neither an answer nor an error", row)
				}
				if err != nil {
					continue
				}
				for _, turn := range resp.Turns {
					for _, c := range turn.Calls {
						if c.Args != nil && !json.Valid(c.Args) {
							t.Fatalf("%q: arguments %q", row, c.Args)
						}
					}
				}
			}
		}
	})
}

// TestRepairedRows: rows with what other loggers write where JSON has no such value are read, and
// the answers have a note.
func TestRepairedRows(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"rows.jsonl": `{"case_id":"a","text":"x"}` + "\n" + `{"case_id":"b","text":"\ud83d","score":NaN}` + "\n",
		"one.json":   "{\"case_id\":\"b\",\n\"text\":\"\\ud83d\",\"score\":NaN}",
		"list.json":  "[{\"case_id\":\"a\",\"text\":\"x\"},\n{\"case_id\":\"b\",\"text\":\"\\ud83d\",\"score\":NaN}]",
	} {
		note := "read with a lone surrogate, NaN or Infinity"
		if name == "list.json" {
			note = "its document was " + note
		}
		src, err := Open(write(t, t.TempDir(), name, text), nil)
		if err != nil {
			t.Fatal(err)
		}
		resp, err := src[0].Model.Generate(t.Context(), &callvet.Request{CaseID: "b"})
		if err != nil || resp.Turns[0].Content != "\uFFFD" || !slices.Contains(resp.Notes, note) ||
			src[0].Relaxed != 1 {
			t.Errorf("%s: %+v, %v, %d relaxed", name, resp, err, src[0].Relaxed)
		}
		if resp, err = src[0].Model.Generate(t.Context(), &callvet.Request{CaseID: "a"}); err == nil &&
			slices.ContainsFunc(resp.Notes, func(n string) bool { return strings.HasPrefix(n, "read with") }) {
			t.Errorf("%s: %q", name, resp.Notes)
		}
	}
}
