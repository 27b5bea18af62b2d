// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package suite_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/suite"
)

const lockedJSON = `[
  {"id": "rg-a-001", "difficulty": "regression", "createdAt": "2026-03-01", "bugRef": "#1", // {not the end}
   "input": {"message": "A \"}\" b"}, "expect": {"toolsCalled": ["a"]}},
  {"id": "gs-a-001", "input": {"message": "B"}, "expect": {"toolsCalled": ["a"]}}
]
`

const lockedYAML = `callvet: 1
name: n
tools: [{name: a, description: d}]
cases:
  - id: rg-a-001
    tier: regression
    fields: {bugRef: "#1", createdAt: 2026-03-01}
    prompt: A

    # of the case
    expect: {tools_called: [a]}

  # between the cases
  - {id: rg-a-002, tier: regression, fields: {bugRef: "#2", createdAt: 2026-03-02},
    prompt: "B}", expect: {tools_called: [a]}}
  - id: other
    prompt: C
    expected_tool: a
`

func now() time.Time { return time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC) }

// seal writes a file and its lock.
func seal(t *testing.T, name, text string) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), name)
	put(t, path, text)
	s, _, err := suite.Load(path, suite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var l suite.Lock
	if _, err := l.Seal(path, []byte(text), s.Cases, now(), nil); err != nil {
		t.Fatal(err)
	}
	b, err := l.Bytes()
	if err != nil {
		t.Fatal(err)
	}
	put(t, suite.LockPath(path), string(b))
	return path
}

func put(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// suiteCodes are the problems of locks.
func suiteCodes(t *testing.T, path string) (out []string) {
	t.Helper()
	_, problems, err := suite.Load(path, suite.Options{})
	if err != nil {
		return []string{"unreadable"}
	}
	for _, p := range problems {
		if strings.HasPrefix(p.Code, "regression-") || p.Code == "not-locked" {
			out = append(out, p.Code+" "+p.Case)
		}
	}
	return out
}

// TestLockedText: every byte of the text of a regression case is held, and nothing else is.
func TestLockedText(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ text, first, last string }{
		"a.json": {lockedJSON, `{"id": "rg-a-001"`, `["a"]}}`},
		"a.yaml": {lockedYAML, "id: rg-a-001", "[a]}\n"},
		"b.yaml": {
			strings.Replace(lockedYAML,
				"rg-a-001\n    tier: regression\n    fields: {bugRef: \"#1\", createdAt: 2026-03-01}", "first", 1),
			"{id: rg-a-002", "[a]}}",
		},
	} {
		path := seal(t, name, tt.text)
		if got := suiteCodes(t, path); got != nil {
			t.Errorf("%s, unchanged: %v", name, got)
		}
		from := strings.Index(tt.text, tt.first)
		to := from + strings.Index(tt.text[from:], tt.last) + len(strings.TrimSpace(tt.last))
		for i := range len(tt.text) {
			changed := []byte(tt.text)
			if changed[i] == '\n' {
				continue // moves what follows
			}
			changed[i] = map[bool]byte{true: 'x', false: 'y'}[changed[i] == 'y']
			put(t, path, string(changed))
			got := suiteCodes(t, path)
			if in := from <= i && i < to; in && got == nil || !in &&
				slices.Contains(got, "regression-changed rg-a-001") && name != "b.yaml" {
				t.Errorf("%s: byte %d, %q: %v", name, i, tt.text[max(0, i-10):min(len(tt.text), i+10)], got)
			}
		}
		put(t, path, strings.ReplaceAll(tt.text, "\n", "\r\n"))
		if got := suiteCodes(t, path); got != nil {
			t.Errorf("%s, other line ends: %v", name, got)
		}
	}
}

func TestLockOfFolder(t *testing.T) {
	t.Parallel()
	path := seal(t, "a.json", lockedJSON)
	dir := filepath.Dir(path)
	put(t, filepath.Join(dir, "b.json"), strings.ReplaceAll(lockedJSON, "-001", "-002"))
	put(t, path, strings.Replace(lockedJSON, "A ", "A", 1))
	if d := cmp.Diff([]string{"regression-changed rg-a-001", "not-locked "}, suiteCodes(t, dir)); d != "" {
		t.Error(d)
	}
}

func TestArchive(t *testing.T) {
	t.Parallel()
	path := seal(t, "a.json", lockedJSON)
	b, err := os.ReadFile(suite.LockPath(path))
	if err != nil {
		t.Fatal(err)
	}
	l, err := suite.ReadLock("a", b)
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Archive("rg-a-009", "r", now()); !errors.Is(err, callvet.ErrNotFound) {
		t.Error(err)
	}
	if err := l.Archive("rg-a-001", "the tool is gone", now()); err != nil {
		t.Fatal(err)
	}
	if err := l.Archive("rg-a-001", "r", now()); !errors.Is(err, callvet.ErrConflict) {
		t.Error(err)
	}
	if b, err = l.Bytes(); err != nil {
		t.Fatal(err)
	}
	put(t, suite.LockPath(path), string(b))
	s, _, err := suite.Load(path, suite.Options{})
	if err != nil || s.Cases[0].Skip != "archived 2026-05-01: the tool is gone" || s.Cases[1].Skip != "" {
		t.Errorf("%v %+v", err, s.Cases)
	}
	put(t, path, lockedJSON[:4]+lockedJSON[strings.Index(lockedJSON, `{"id": "gs`):])
	if got := suiteCodes(t, path); got != nil {
		t.Errorf("taken out of the file: %v", got)
	}
}

// TestAddCase: a case and its entry are made together, and what was there stays.
func TestAddCase(t *testing.T) {
	t.Parallel()
	c := &callvet.Case{
		ID: "rg-a-007", Description: "d", Tier: callvet.TierRegression,
		Fields: map[string]string{"difficulty": "regression", "bugRef": "#7", "createdAt": "2026-04-01"},
		Input:  []callvet.Turn{{Role: callvet.RoleUser, Content: "C"}},
		Expect: callvet.Expect{ToolsCalled: []string{"a"}},
	}
	for name, text := range map[string]string{
		"new": "", "empty": "[]\n", "list": lockedJSON,
		"envelope": `{"metadata": {"toolName": "a"}, "cases": [{"id": "rg-a-001", "difficulty": "regression", "createdAt": "2026-03-01", "bugRef": "#1", "input": {"message": "m"}, "expect": {"toolsCalled": ["a"]}}]}`,
	} {
		var l suite.Lock
		out, err := suite.AddCase("a.json", []byte(text), &l, c, now(), json.RawMessage(`{"x": 1}`))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		path := filepath.Join(t.TempDir(), "a.json")
		put(t, path, string(out))
		b, err := l.Bytes()
		if err != nil {
			t.Fatal(err)
		}
		put(t, suite.LockPath(path), string(b))
		s, _, err := suite.Load(path, suite.Options{})
		if err != nil {
			t.Fatalf("%s: %v\n%s", name, err, out)
		}
		last := s.Cases[len(s.Cases)-1]
		if last.ID != c.ID || last.Fields["bugRef"] != "#7" || l.Find(c.ID) == nil || *l.Find(c.ID).State != 0 {
			t.Errorf("%s: %+v %+v", name, last, l)
		}
		for _, code := range suiteCodes(t, path) {
			if !strings.HasPrefix(code, "not-locked") {
				t.Errorf("%s: %s", name, code)
			}
		}
		if _, err := suite.AddCase("a.json", out, &l, c, now(), nil); !errors.Is(err, callvet.ErrConflict) {
			t.Errorf("%s twice: %v", name, err)
		}
	}
	for name, text := range map[string]string{"x.json": `{"metadata": {}, "cases": []}`, "y.yaml": "- id: rg-a-001\n"} {
		if out, err := suite.AddCase(name, []byte(text), &suite.Lock{}, c, now(), nil); err == nil {
			t.Errorf("%s: %s", name, out)
		}
	}
}

func TestReadLock(t *testing.T) {
	t.Parallel()
	sum := strings.Repeat("a", 64)
	for text, want := range map[string]string{
		`{"callvet_lock": 1, "locked": [{"id": "a", "sha256": "` + sum + `", "at": "2026-01-01"}]}`: "",
		`{"callvet_lock": 2, "locked": []}`:                                               "version 2",
		`{"callvet_lock": 1, "locked": [{"id": "a", "sha256": "x", "at": "2026-01-01"}]}`: "no sha256",
		`{"callvet_lock": 1, "locked": [{"id": "a", "sha256": "` + sum + `", "at": ""}, {"id": "a", "sha256": "` + sum +
			`", "at": ""}]}`: "twice",
		`{"callvet_lock": 1, "locked": [{"id": "a", "sha256": "` + sum +
			`", "at": "", "state": 0}]}`: "state 0 of 0",
		`{"callvet_lock": 1, "lokced": []}`: "lokced",
		`{`:                                 "l.json:1",
	} {
		_, err := suite.ReadLock("l.json", []byte(text))
		if want == "" && err != nil || want != "" &&
			(err == nil || !errors.Is(err, callvet.ErrInvalid) || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v", text, err)
		}
	}
}

func FuzzReadLock(f *testing.F) {
	f.Add([]byte(`{"callvet_lock": 1, "locked": [{"id": "a", "sha256": "x", "at": ""}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		if l, err := suite.ReadLock("l", data); err == nil {
			b, err := l.Bytes()
			if err != nil {
				t.Fatal(err)
			}
			if _, err := suite.ReadLock("l", b); err != nil {
				t.Fatalf("%s: %v", b, err)
			}
		}
	})
}

func TestReadMocks(t *testing.T) {
	t.Parallel()
	want := []callvet.Mock{{Tool: "a", Replies: []callvet.MockReply{{Result: json.RawMessage(`{"v":1}`)}}}}
	for name, text := range map[string]string{
		"m.json": `{"a": {"v": 1}}`, "m.yaml": "a: {v: 1}\n", "list.yaml": "- {tool: a, result: {v: 1}}\n",
		"suite.yaml": "mocks:\n  - {tool: a, result: {v: 1}}\n", "short.yaml": "mock_responses:\n  a: {v: 1}\n",
	} {
		got, problems := suite.ReadMocks(name, []byte(text))
		if len(problems) > 0 {
			t.Errorf("%s: %v", name, problems)
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%s: %s", name, d)
		}
	}
	for name, text := range map[string]string{
		"m.json": `{"a": `, "n.yaml": "5\n", "o.yaml": "- {tul: a}\n",
		"p.yaml": "mocks: []\nother: 1\n",
	} {
		if got, problems := suite.ReadMocks(name, []byte(text)); !suite.HasErrors(problems) {
			t.Errorf("%s: %v", name, got)
		}
	}
}
