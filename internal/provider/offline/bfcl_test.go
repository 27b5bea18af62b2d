// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package offline

import (
	"bufio"
	"cmp"
	"compress/gzip"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/message"
)

// testData is the folder of public data sets; the test is skipped without it.
func testData(tb testing.TB, sub string) string {
	tb.Helper()
	root := cmp.Or(os.Getenv("CALLVET_TESTDATA"), filepath.Join("..", "..", "..", "..", "shared", "data"))
	path := filepath.Join(root, sub)
	if _, err := os.Stat(path); err != nil {
		tb.Skipf("no test data at %s (set CALLVET_TESTDATA)", path)
	}
	return path
}

// part is the part of the public data that is read.
func part() string { return cmp.Or(os.Getenv("CALLVET_PART"), "open") }

type bfclRow struct {
	ID      string          `json:"id"`
	Raw     json.RawMessage `json:"raw"`
	Decoded json.RawMessage `json:"decoded"`
	Latency *float64        `json:"latency_s"`
	In      *int            `json:"input_tokens"`
}

// calls are what the row's decoder found, as encoding/json reads it.
func (r *bfclRow) calls() (names []string, args []string, decodable bool) {
	var list []map[string]json.RawMessage
	if json.Unmarshal(r.Decoded, &list) != nil || list == nil {
		return nil, nil, false
	}
	for _, m := range list {
		for k, v := range m {
			names, args = append(names, k), append(args, string(v))
		}
	}
	return names, args, true
}

// TestUnracedBFCLOutputs compares every fifth row of every file with a plain reading of it.
func TestUnracedBFCLOutputs(t *testing.T) {
	t.Parallel()
	for _, dir := range []string{
		"sets/bfcl_v1_2024-08/" + part() + "/outputs",
		"sets/bfcl_v4_2025-11/" + part() + "/outputs",
	} {
		path := testData(t, dir)
		sources, err := Open(path, nil)
		if err != nil {
			t.Fatal(err)
		}
		files, _ := filepath.Glob(filepath.Join(path, "*.gz"))
		if len(files) == 0 || len(sources) != len(files) {
			t.Fatalf("%d sources of %d files", len(sources), len(files))
		}
		rows := 0
		for i, s := range sources {
			if s.Malformed != 0 || s.Form != message.FormBFCL {
				t.Errorf("%s: form %q, malformed %v", s.Target.Name, s.Form, s.Problems)
			}
			rows += s.Rows
			checkBFCL(t, files[i], s)
		}
		t.Logf("%s: %d files, %d rows", dir, len(sources), rows)
	}
}

func checkBFCL(t *testing.T, file string, s *Source) {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	sc := bufio.NewScanner(z)
	sc.Buffer(nil, maxLine)
	n := 0
	for ; sc.Scan(); n++ {
		if n%5 != 0 {
			continue
		}
		var r bfclRow
		if err := json.Unmarshal(sc.Bytes(), &r); err != nil {
			t.Fatal(err)
		}
		resp, err := s.Model.Generate(t.Context(), &callvet.Request{CaseID: r.ID})
		if err != nil {
			t.Fatalf("%s %s: %v", file, r.ID, err)
		}
		names, args, ok := r.calls()
		got := (&callvet.Trace{Turns: resp.Turns}).Calls()
		if len(got) != len(names) || !ok != (resp.FinishReason == callvet.FinishUndecodable) || resp.Unreadable {
			t.Fatalf("%s %s: %d calls, finish %q; want %d, decodable %v", file, r.ID, len(got), resp.FinishReason,
				len(names), ok)
		}
		for i := range got {
			if got[i].Tool != names[i] || string(got[i].Args) != args[i] {
				t.Fatalf("%s %s: call %d is %s%s, want %s%s", file, r.ID, i, got[i].Tool, got[i].Args,
					names[i], args[i])
			}
		}
		if (r.In != nil) != resp.Usage.Known || r.Latency != nil && *r.Latency > 0 && resp.Wall == 0 {
			t.Fatalf("%s %s: usage %+v, wall %v", file, r.ID, resp.Usage, resp.Wall)
		}
	}
	if n != s.Rows {
		t.Errorf("%s: %d rows indexed of %d", file, s.Rows, n)
	}
}

func BenchmarkBFCL(b *testing.B) {
	path := testData(b, "sets/bfcl_v1_2024-08/"+part()+"/outputs")
	sources, err := Open(path, nil)
	if err != nil {
		b.Fatal(err)
	}
	b.Run("open", func(b *testing.B) {
		for b.Loop() {
			if _, err := Open(path, nil); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("generate", func(b *testing.B) {
		b.ReportAllocs()
		req := &callvet.Request{}
		i := 0
		for b.Loop() {
			s := sources[i%len(sources)]
			req.CaseID = s.index.order[i/len(sources)%len(s.index.order)]
			i++
			if _, err := s.Model.Generate(b.Context(), req); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// TestUnracedTextsOfOutputs reads the outputs that are text as those of a live model would be, and
// holds whether a call was attempted against what the model's own decoder found.
func TestUnracedTextsOfOutputs(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("reads many outputs")
	}
	root := testData(t, "sets/bfcl_v1_2024-08")
	tools := map[string]*callvet.Toolset{}
	files, _ := filepath.Glob(filepath.Join(root, "cases", "*.gz"))
	for _, file := range files {
		eachLine(t, file, func(line []byte) {
			var c struct {
				ID        string         `json:"id"`
				Functions []callvet.Tool `json:"functions"`
			}
			if err := json.Unmarshal(line, &c); err != nil {
				t.Fatal(err)
			}
			tools[c.ID] = callvet.NewToolset(c.Functions)
		})
	}
	files, _ = filepath.Glob(filepath.Join(root, "*", "outputs", "*.gz"))
	n, agree, decoded, missed, more := 0, 0, 0, 0, 0
	for _, file := range files {
		eachLine(t, file, func(line []byte) {
			var r bfclRow
			var text string
			if err := json.Unmarshal(line, &r); err != nil {
				t.Fatal(err)
			}
			if json.Unmarshal(r.Raw, &text) != nil || tools[r.ID] == nil {
				return // calls in the provider's own form
			}
			names, _, _ := r.calls()
			resp := message.FromText(text, tools[r.ID])
			n++
			called := len(resp.Turns[0].Calls) > 0 || resp.Unreadable
			if len(names) > 0 {
				decoded++
			}
			switch {
			case called == (len(names) > 0):
				agree++
			case called:
				more++
			default:
				missed++
			}
		})
	}
	t.Logf("%d texts: %d as their decoders read them, %d of %d calls missed, %d more", n, agree, missed, decoded, more)
	// What is more are calls that a decoder cannot take out of the prose around them.
	if n < 5000 || float64(missed) > 0.02*float64(decoded) || float64(agree) < 0.87*float64(n) {
		t.Errorf("%d texts: %d as their decoders read them, %d of %d calls missed", n, agree, missed, decoded)
	}
}

func eachLine(t *testing.T, file string, do func([]byte)) {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	sc := bufio.NewScanner(z)
	sc.Buffer(nil, maxLine)
	for sc.Scan() {
		do(sc.Bytes())
	}
	if err := sc.Err(); err != nil {
		t.Fatal(err)
	}
}
