// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package foreign

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/trace"
)

// One travel agent was run under each SDK: two parallel calls, then one that fails, in three
// requests of 120 and 30 tokens.
func travels() []string {
	return []string{
		`get_weather {"city":"Paris"}`,
		`get_weather {"city":"Oslo"}`,
		`book_flight {"from":"Oslo","to":"Paris","seat":"12A"}`,
	}
}

// captures are the recordings of real SDKs, with those of a folder that CALLVET_CAPTURES
// names, and fixtures the ones that were written by hand.
func captures(t *testing.T) []string {
	t.Helper()
	files := glob(t, data(t, filepath.Join("..", "real", "captures")))
	if more := os.Getenv("CALLVET_CAPTURES"); more != "" {
		files = append(files, glob(t, more)...)
	}
	return files
}

func fixtures(t *testing.T) []string {
	t.Helper()
	return glob(t, filepath.Join("testdata", "sdk"))
}

func glob(t *testing.T, dir string) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.*"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%s: %d files, %v", dir, len(files), err)
	}
	return files
}

// silent are recordings without the calls.
func silent(file string) bool { return strings.HasPrefix(filepath.Base(file), "otel-openai.") }

func callTexts(a *trace.Attempt) []string {
	var out []string
	for _, c := range a.Trace.Calls() {
		out = append(out, c.Tool+" "+compact(c.Args))
	}
	return out
}

// TestCaptures holds what is read of each SDK: one task with three calls, their arguments and
// what came of them, and the tokens; the same from JSON and protobuf, plain and compressed.
func TestCaptures(t *testing.T) {
	t.Parallel()
	t.Run("recorded", func(t *testing.T) { travelsAreRead(t, captures(t)) })
	t.Run("by hand", func(t *testing.T) { travelsAreRead(t, fixtures(t)) })
}

func travelsAreRead(t *testing.T, files []string) {
	t.Helper()
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		forms := map[string][]byte{"as it is": text}
		if filepath.Ext(file) != ".gz" {
			forms["compressed"] = compressed(t, text)
		}
		if spans := mergedText(text); spans != nil {
			forms["as protobuf"] = protobufOf(t, spans)
			forms["as compressed protobuf"] = compressed(t, forms["as protobuf"])
		}
		for form, content := range forms {
			as, r, err := importBytes(content, Options{})
			if err != nil || len(as) != 1 {
				t.Errorf("%s %s: %d attempts, %v", file, form, len(as), err)
				continue
			}
			a := &as[0]
			if silent(file) {
				if a.Trace.Outcome != callvet.OutcomeError || r.Unknown != 1 || len(a.Trace.Calls()) > 0 {
					t.Errorf("%s %s: %s, %d unknown, %v", file, form, a.Trace.Outcome, r.Unknown, callTexts(a))
				}
				continue
			}
			if d := gocmp.Diff(travels(), callTexts(a)); d != "" || a.Trace.Outcome != callvet.OutcomeCalled ||
				r.Unknown > 0 {
				t.Errorf("%s %s: %s, %d unknown: %s", file, form, a.Trace.Outcome, r.Unknown, d)
				continue
			}
			calls := a.Trace.Calls()
			results := []string{compact(calls[0].Result), compact(calls[1].Result), string(calls[2].Status)}
			if !strings.Contains(results[0], "18") || !strings.Contains(results[1], "18") ||
				results[2] != "exec_error" || calls[2].Error == "" {
				t.Errorf("%s %s: %s, %q", file, form, results, calls[2].Error)
			}
			if rounds(a) != 2 {
				t.Errorf("%s %s: calls in %d answers", file, form, rounds(a))
			}
			if tokens := a.Trace.Usage; !strings.Contains(file, "history") && !strings.Contains(file, "logs") &&
				(tokens.InputTokens != 360 || tokens.OutputTokens != 90) {
				t.Errorf("%s %s: %d and %d tokens", file, form, tokens.InputTokens, tokens.OutputTokens)
			}
		}
	}
}

// TestCapturesAgain holds that telemetry which came twice, as exporters repeat it, is read
// once, and that ids in base64, as protobuf's JSON has them, are the same ids: spans may have
// these and their log records the others.
func TestCapturesAgain(t *testing.T) {
	t.Parallel()
	id := regexp.MustCompile(`"(traceId|spanId|parentSpanId)":"([0-9a-f]+)"`)
	for _, file := range append(captures(t), fixtures(t)...) {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(file, ".otlp.jsonl") || silent(file) {
			continue
		}
		base64s := id.ReplaceAllFunc(text, func(b []byte) []byte {
			m := id.FindSubmatch(b)
			raw, err := hex.DecodeString(string(m[2]))
			if err != nil || len(raw) != 8 && len(raw) != 16 {
				return b // made by hand
			}
			return fmt.Appendf(nil, `"%s":%q`, m[1], base64.StdEncoding.EncodeToString(raw))
		})
		want, _, err := importBytes(text, Options{})
		if err != nil {
			t.Fatal(err)
		}
		for form, content := range map[string][]byte{
			"twice":            bytes.Join([][]byte{bytes.TrimSpace(text), text}, []byte("\n")),
			"ids in base64":    base64s,
			"twice, both ways": bytes.Join([][]byte{bytes.TrimSpace(text), base64s}, []byte("\n")),
		} {
			got, r, err := importBytes(content, Options{})
			if err != nil || len(got) != 1 {
				t.Errorf("%s %s: %d attempts, %v", file, form, len(got), err)
				continue
			}
			if d := gocmp.Diff(want[0].Trace, got[0].Trace); d != "" {
				t.Errorf("%s %s: %s", file, form, d)
			}
			if n := r.Lost["a repetition of a span or a log record"]; (n > 0) != strings.HasPrefix(form, "twice") {
				t.Errorf("%s %s: %d repetitions", file, form, n)
			}
		}
	}
}

// rounds counts the answers that called.
func rounds(a *trace.Attempt) int {
	n := 0
	for _, t := range a.Trace.Turns {
		n += min(1, len(t.Calls))
	}
	return n
}

func compressed(t *testing.T, b []byte) []byte {
	t.Helper()
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	if _, err := w.Write(b); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// merged is lines of OTLP's JSON as one export; nil for other content, and for log records.
func mergedText(text []byte) []byte {
	var all struct {
		ResourceSpans []json.RawMessage `json:"resourceSpans"`
	}
	for _, line := range bytes.Split(bytes.TrimSpace(text), []byte("\n")) {
		one := all
		one.ResourceSpans = nil
		if json.Unmarshal(line, &one) != nil || one.ResourceSpans == nil {
			return nil
		}
		all.ResourceSpans = append(all.ResourceSpans, one.ResourceSpans...)
	}
	b, err := json.Marshal(all)
	if err != nil {
		return nil
	}
	return b
}

// TestDeletedAttributes deletes from each recording every attribute and every family of them,
// by prefix: what is left may tell less or be an error, and it may be unknown what was
// called. It never shows that nothing was called, nor a call that was not made.
func TestDeletedAttributes(t *testing.T) {
	t.Parallel()
	t.Run("recorded", func(t *testing.T) { nothingIsMadeUp(t, captures(t)) })
	t.Run("by hand", func(t *testing.T) { nothingIsMadeUp(t, fixtures(t)) })
}

func nothingIsMadeUp(t *testing.T, files []string) {
	t.Helper()
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			t.Parallel()
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if bytes.HasPrefix(text, []byte("\x1f\x8b")) || filepath.Ext(file) == ".pb" {
				return // its spans are also there as JSON
			}
			families := map[string]bool{}
			var docs []any
			for _, line := range bytes.Split(bytes.TrimSpace(text), []byte("\n")) {
				var doc any
				if err := json.Unmarshal(line, &doc); err != nil {
					t.Fatal(err)
				}
				docs = append(docs, doc)
				names(doc, families)
			}
			for _, family := range slices.Sorted(maps.Keys(families)) {
				var b bytes.Buffer
				for _, doc := range docs {
					line, err := json.Marshal(without(doc, family))
					if err != nil {
						t.Fatal(err)
					}
					b.Write(append(line, '\n'))
				}
				as, r, err := importBytes(b.Bytes(), Options{})
				if why := wrong(as, r, err); why != "" {
					t.Errorf("without %q: %s", family, why)
				}
			}
		})
	}
}

func wrong(as []trace.Attempt, r Report, err error) string {
	if err != nil || len(as) == 0 {
		return ""
	}
	unknown := int64(0)
	for i := range as {
		if as[i].Trace.Outcome == callvet.OutcomeAbstained {
			return "an attempt abstained"
		}
		nameless := func(c callvet.Call) bool { return c.Nameless() }
		calls := as[i].Trace.Calls()
		if lost := slices.ContainsFunc(calls, nameless); lost || as[i].Trace.Outcome == callvet.OutcomeError {
			if unknown++; lost && as[i].Trace.Outcome != callvet.OutcomeUnparseable &&
				as[i].Trace.Outcome != callvet.OutcomeError {
				return "a call without a name is in an attempt that is " + string(as[i].Trace.Outcome)
			}
		}
		left := travels()
		for _, c := range slices.DeleteFunc(slices.Clone(calls), nameless) {
			n := slices.IndexFunc(left, func(made string) bool {
				tool, args, _ := strings.Cut(made, " ")
				return c.Tool == tool && (ordered(c.Args) == ordered([]byte(args)) || c.Args == nil && c.ArgsRaw == "")
			})
			if n < 0 {
				return fmt.Sprintf("a call that was not made: %s %s among %v", c.Tool, compact(c.Args), callTexts(&as[i]))
			}
			left = slices.Delete(left, n, n+1)
		}
	}
	if r.Unknown != unknown {
		return fmt.Sprintf("%d attempts are unknown, %d were counted", unknown, r.Unknown)
	}
	return ""
}

// ordered is JSON with the members of its objects in the order of their names.
func ordered(raw []byte) string {
	var v any
	if json.Unmarshal(raw, &v) != nil {
		return ""
	}
	b, err := json.Marshal(v)
	if err != nil {
		return ""
	}
	return string(b)
}

// names collects the names of attributes and of members, and their families: gen_ai.tool.name
// is of gen_ai. and gen_ai.tool.
func names(v any, out map[string]bool) {
	add := func(key string) {
		if slices.Contains([]string{"city", "from", "to", "seat", "temp"}, key) {
			return // what the calls are about
		}
		out[key] = true
		for i, c := range key {
			if c == '.' {
				out[key[:i+1]] = true
			}
		}
	}
	switch v := v.(type) {
	case []any:
		for _, e := range v {
			names(e, out)
		}
	case map[string]any:
		if key, ok := v["key"].(string); ok {
			add(key)
		}
		for k, e := range v {
			switch k {
			case "traceId", "spanId", "parentSpanId", "resourceSpans", "resourceLogs", "value", "values", "key",
				"stringValue", "attributes":
			default:
				add(k)
			}
			names(e, out)
		}
	}
}

// without is a document without an attribute, a member or a family of them.
func without(v any, family string) any {
	gone := func(key string) bool {
		return key == family || strings.HasSuffix(family, ".") && strings.HasPrefix(key, family)
	}
	switch v := v.(type) {
	case []any:
		out := []any{}
		for _, e := range v {
			if m, ok := e.(map[string]any); ok {
				if key, ok := m["key"].(string); ok && gone(key) {
					continue
				}
			}
			out = append(out, without(e, family))
		}
		return out
	case map[string]any:
		out := map[string]any{}
		for k, e := range v {
			if !gone(k) {
				out[k] = without(e, family)
			}
		}
		return out
	}
	return v
}
