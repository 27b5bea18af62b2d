// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package library_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/library"
	"github.com/callvet/callvet/internal/store"
	"github.com/callvet/callvet/internal/suite"
)

// libraryOpen makes a library on a store of its own, which reads as the command line does.
func libraryOpen(t *testing.T) *library.Suites {
	t.Helper()
	db, err := store.Open(t.Context(), filepath.Join(t.TempDir(), "x.db"), store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return library.NewSuites(library.SuiteConfig{Store: db, Read: read})
}

func read(ctx context.Context, text []byte, format string) (*callvet.Suite, []callvet.Problem, error) {
	return suite.Check(ctx, "-",
		suite.Options{Stdin: strings.NewReader(string(text)), NoIncludes: true, Dialect: format}, suite.LintOptions{})
}

const own = `
callvet: 1
name: cities
tools:
  - {name: weather_now, description: Current weather of a city., parameters: {type: object, properties: {city: {type: string}}, required: [city]}}
cases:
  - {prompt: How is Oslo?, expected_tool: weather_now, expected_params: {city: Oslo}}
  - {id: tone, prompt: How is Rome?, expect: {tools_called: [weather_now], response: {contains: Rome}}}
`

// TestForms: a suite in another form is kept in callvet's own, and shown in the fields of Tool
// Calling Evaluation with the rest that these cannot contain.
func TestForms(t *testing.T) {
	t.Parallel()
	l := libraryOpen(t)
	d, err := l.Import(t.Context(), []byte(own), "", "")
	if err != nil {
		t.Fatal(err)
	}
	w, err := l.Add(t.Context(), "ana", d, "", false)
	if err != nil || w.Form != library.FormOwn || w.Tools != 1 || w.Cases != 2 {
		t.Fatalf("%+v %v", w, err)
	}
	v, err := w.Document.View()
	if err != nil {
		t.Fatal(err)
	}
	if c := v.Cases[0]; len(c.Lost) != 0 || !strings.Contains(string(c.Fields), `"expected_params"`) {
		t.Errorf("%+v", c)
	}
	if c := v.Cases[1]; c.ID != "tone" || len(c.Lost) == 0 || !strings.Contains(string(c.Own), `"contains"`) {
		t.Errorf("%s loses %v", c.Own, c.Lost)
	}
	for _, form := range library.Exports() {
		text, lost, err := w.Document.Export(form, false)
		if err != nil || len(text) == 0 {
			t.Errorf("%s: %v", form, err)
		}
		if form == library.FormOwn && len(lost) > 0 {
			t.Errorf("callvet's own form loses %v", lost)
		}
		if form == library.FormToolsuite && len(lost) == 0 {
			t.Error("a tool suite says that it carries everything")
		}
	}
	if yaml, _, err := w.Document.Export(library.FormOwn, true); err != nil || strings.HasPrefix(string(yaml), "{") {
		t.Errorf("yaml: %s %v", yaml, err)
	}
}

// TestShipped: suites of every form in the documents are imported, keep their meaning, and are
// exported unchanged.
func TestShipped(t *testing.T) {
	t.Parallel()
	l := libraryOpen(t)
	var files []string
	for _, pattern := range []string{
		"../../examples/*.yaml", "../../examples/select/*.json",
		"../suite/testdata/forms/*", "../suite/testdata/forms/*/*",
	} {
		found, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, found...)
	}
	kept := 0
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			continue // a folder
		}
		s, problems, err := read(t.Context(), text, "")
		if err != nil || suite.HasErrors(problems) || len(s.Cases) == 0 {
			continue
		}
		d, err := l.Import(t.Context(), text, "", "named")
		if err != nil {
			t.Errorf("%s: %v", f, err)
			continue
		}
		w, err := l.Add(t.Context(), "ana", d, "", false)
		if err != nil {
			t.Errorf("%s: %v", f, err)
			continue
		}
		kept++
		e, v, err := l.Now(t.Context(), w.ID)
		if err != nil || e.Cases != int64(len(s.Cases)) || e.Tools != int64(len(s.Tools)) {
			t.Errorf("%s: %+v, %v; want %d cases, %d tools", f, e, err, len(s.Cases), len(s.Tools))
		}
		again, _, err := read(t.Context(), v.Document.Bytes(), v.Form)
		if err != nil {
			t.Errorf("%s: %v", f, err)
			continue
		}
		for i := range s.Cases {
			if d := cmp.Diff(s.Cases[i].Expect, again.Cases[i].Expect); d != "" {
				t.Errorf("%s: case %d: %s", f, i, d)
			}
		}
		if _, err := v.Document.View(); err != nil {
			t.Errorf("%s: %v", f, err)
		}
		converts(t, l, f, s)
	}
	if kept < 5 {
		t.Errorf("%d of %d files were kept", kept, len(files))
	}
	t.Logf("%d of %d files are suites without errors, and were kept", kept, len(files))
}

// converts: a suite that was converted keeps the name of its first form as its dialect, and comes in
// as a suite of callvet's own form.
func converts(t *testing.T, l *library.Suites, file string, s *callvet.Suite) {
	t.Helper()
	for _, kind := range []string{"json", "yaml"} {
		text, err := suite.Export(s, kind)
		if err != nil {
			t.Errorf("%s: %v", file, err)
			continue
		}
		form, cases, problems, err := l.Read(t.Context(), text, "")
		if err != nil || form != library.FormOwn || cases != len(s.Cases) {
			t.Errorf("%s as %s: form %s, %d cases, %v, %v", file, kind, form, cases, problems, err)
		}
		d, err := l.Import(t.Context(), text, "", "named")
		if err != nil || d.Form != library.FormOwn || len(d.Cases) != len(s.Cases) {
			t.Errorf("%s as %s, dialect %s: %v", file, kind, s.Dialect, err)
		}
	}
}

// TestEdits: whatever edits are made, every case keeps its id, and its text unless it was edited.
// No id is used twice, and every version can be read unchanged.
func TestEdits(t *testing.T) {
	t.Parallel()
	l := libraryOpen(t)
	rapid.Check(t, func(rt *rapid.T) {
		d, err := l.Import(t.Context(),
			[]byte(`{"name": "n", "tools": [], "test_cases": [{"prompt": "first question", "expected_tool": null}]}`),
			"", "")
		if err != nil {
			rt.Fatal(err)
		}
		w, err := l.Add(t.Context(), "ana", d, "", false)
		if err != nil {
			rt.Fatal(err)
		}
		want := map[string]string{"case-1": string(w.Document.Cases[0])}
		ever := map[string]bool{"case-1": true}
		versions := [][]byte{w.Document.Bytes()}
		for i := range rapid.IntRange(1, 6).Draw(rt, "edits") {
			kind := rapid.SampledFrom([]string{"add", "remove", "rename"}).Draw(rt, "kind")
			var fresh string
			w, err = l.Edit(t.Context(), "ana", w.ID, "", nil, func(d *library.Document) error {
				switch {
				case kind == "add":
					d.Cases = append(d.Cases,
						fmt.Appendf(nil,
							`{"prompt": "another question, number %d", "expected_tool": null, "category": "ü"}`, i))
				case kind == "remove" && len(d.Cases) > 0:
					at := rapid.IntRange(0, len(d.Cases)-1).Draw(rt, "at")
					delete(want, d.IDs()[at])
					d.Cases = append(d.Cases[:at:at], d.Cases[at+1:]...)
				case kind == "rename":
					return d.SetText("name", fmt.Sprintf("name %d", i))
				}
				return nil
			})
			if err != nil {
				rt.Fatal(err)
			}
			for j, id := range w.Document.IDs() {
				if old, known := want[id]; known {
					if old != string(w.Document.Cases[j]) {
						rt.Fatalf("case %s was %s and is %s", id, old, w.Document.Cases[j])
					}
					continue
				}
				fresh = id
				if ever[id] {
					rt.Fatalf("the id %s is given twice", id)
				}
				ever[id], want[id] = true, string(w.Document.Cases[j])
			}
			if kind == "add" && fresh == "" {
				rt.Fatal("nothing was added")
			}
			if len(w.Document.Cases) != len(want) {
				rt.Fatalf("%d cases, want %d", len(w.Document.Cases), len(want))
			}
			if w.Changed {
				versions = append(versions, w.Document.Bytes())
			}
		}
		for i, text := range versions {
			v, err := l.Version(t.Context(), w.ID, int64(i+1))
			if err != nil || string(v.Document.Bytes()) != string(text) {
				rt.Fatalf("version %d: %v", i+1, err)
			}
		}
	})
}

// TestRefused: what would name a file or is no suite is not kept.
func TestRefused(t *testing.T) {
	t.Parallel()
	l := libraryOpen(t)
	for text, want := range map[string]string{
		`{"callvet": 1, "name": "n", "tools_from": "/etc/passwd", "cases": [{"prompt": "p", "expected_tool": null}]}`: "may not read other files",
		`[1, 2]`: "no suite format",
		``:       "empty",
		`{"name": "n", "tools": [], "test_cases": [{"prompt": "p", "expected_tool": "x", "param_scoring": "nearly"}]}`: "unknown scoring mode",
	} {
		d, err := l.Import(t.Context(), []byte(text), "", "")
		var refused *library.RefusedError
		switch {
		case err == nil:
			t.Errorf("%s: kept as %s", text, d.Bytes())
		case errors.As(err, &refused):
			said := fmt.Sprint(refused.Problems)
			if !strings.Contains(said, want) {
				t.Errorf("%s: %s", text, said)
			}
		case !strings.Contains(err.Error(), want):
			t.Errorf("%s: %v", text, err)
		}
	}
}

// TestDeleteSeesEdits: a suite that another user edits between the look at its version and the
// deletion stays.
func TestDeleteSeesEdits(t *testing.T) {
	t.Parallel()
	l := libraryOpen(t)
	d, err := l.Import(t.Context(),
		[]byte(`{"name": "n", "tools": [], "test_cases": [{"prompt": "first question", "expected_tool": null}]}`), "",
		"")
	if err != nil {
		t.Fatal(err)
	}
	w, err := l.Add(t.Context(), "ana", d, "", false)
	if err != nil {
		t.Fatal(err)
	}
	err = l.Delete(t.Context(), w.ID, func(v int64) bool {
		if _, err := l.Edit(t.Context(), "bo", w.ID, "", nil,
			func(d *library.Document) error { return d.SetText("name", "other") }); err != nil {
			t.Fatal(err)
		}
		return v == 1
	}, nil)
	if !errors.Is(err, library.ErrChanged) {
		t.Errorf("deleted, although it was edited meanwhile: %v", err)
	}
	if err := l.Delete(t.Context(), w.ID, func(v int64) bool { return v == 2 }, nil); err != nil {
		t.Errorf("at its version: %v", err)
	}
}

// TestBigTextsTakeTurns: of texts that take long to read two are read at once, and who waits for his turn can give up.
func TestBigTextsTakeTurns(t *testing.T) {
	t.Parallel()
	var now, most atomic.Int64
	entered, leave := make(chan struct{}, 8), make(chan struct{})
	l := library.NewSuites(
		library.SuiteConfig{Read: func(context.Context, []byte, string) (*callvet.Suite, []callvet.Problem, error) {
			most.Store(max(most.Load(), now.Add(1)))
			defer now.Add(-1)
			entered <- struct{}{}
			<-leave
			return nil, nil, callvet.ErrInvalid
		}})
	big := bytes.Repeat([]byte(" "), 1<<20)
	var group sync.WaitGroup
	for range 6 {
		group.Go(func() { _, _, _, _ = l.Read(t.Context(), big, "") })
	}
	<-entered
	<-entered
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, _, err := l.Read(ctx, big, ""); !errors.Is(err, context.Canceled) {
		t.Errorf("who gave up got %v", err)
	}
	group.Go(func() { _, _, _, _ = l.Read(t.Context(), []byte("small"), "") })
	<-entered // a small one does not wait
	close(leave)
	group.Wait()
	if most.Load() != 3 {
		t.Errorf("%d texts were read at once", most.Load())
	}
}
