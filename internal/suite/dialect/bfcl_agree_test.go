// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package dialect

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"testing"

	"github.com/callvet/callvet"
	rules "github.com/callvet/callvet/score/bfcl"
	"github.com/callvet/callvet/value"
)

func testData(t testing.TB, sub string) string {
	t.Helper()
	dir := filepath.Join(cmp.Or(os.Getenv("CALLVET_TESTDATA"), "../../../../shared/data"), sub)
	if _, err := os.Stat(dir); err != nil {
		t.Skipf("NOT RUN: no test data at %s (set CALLVET_TESTDATA)", dir)
	}
	return dir
}

// agreement counts verdicts that are the official ones.
type agreement struct {
	n, same, sameType map[string]int
	shown             int
}

func newAgreement() *agreement {
	return &agreement{map[string]int{}, map[string]int{}, map[string]int{}, 0}
}

func compileAll(t testing.TB, s *callvet.Suite) map[string]*rules.Case {
	t.Helper()
	out := make(map[string]*rules.Case, len(s.Cases))
	for i := range s.Cases {
		c := &s.Cases[i]
		set := s.Defaults.Scoring
		if c.Scoring != nil {
			set = *c.Scoring
		}
		r, ok := rules.RulesFor(set.Profile, set.Language)
		if !ok {
			t.Fatalf("profile %q", set.Profile)
		}
		x, err := rules.CompileCase(c, c.Tools, r)
		if err != nil {
			t.Errorf("%s: %v", c.ID, err)
			continue
		}
		out[c.ID] = x
	}
	return out
}

// decodedCalls are the calls of a row's official decoding; ok is false when it
// is not a list of calls.
func decodedCalls(v value.Value) (out []rules.Call, ok bool) {
	if v.Kind() != value.Array {
		return nil, false
	}
	for e, more := v.First(); more; e, more = v.Next(e) {
		if e.Kind() != value.Object {
			return nil, false
		}
		for m, more := e.First(); more; m, more = e.Next(m) {
			out = append(out, rules.Call{Name: m.Key(), Args: m})
		}
	}
	return out, true
}

func (a *agreement) row(t testing.TB, file string, r value.Value, id string, calls []rules.Call,
	cases map[string]*rules.Case,
) {
	category := text(r, "category")
	c := cases[id]
	if c == nil {
		t.Errorf("%s %s: no such case", file, id)
		return
	}
	valid, _ := r.Get("valid")
	v := c.Check(calls, nil)
	a.n[category]++
	if v.OK == valid.Bool() {
		a.same[category]++
	} else if a.shown < 60 {
		a.shown++
		d, _ := r.Get("decoded")
		if d.Kind() == value.Invalid {
			d, _ = r.Get("calls")
		}
		e, _ := r.Get("error")
		t.Logf("%s %s: official %v %s, callvet %v %s %s; %.300s; %.300s", filepath.Base(file), id, valid.Bool(),
			text(r, "error_type"), v.OK, v.Error, v.Sub, d.Raw(), e.Raw())
	}
	if d, _ := r.Get("decoded"); sameError(v.Error, text(r, "error_type"), d) {
		a.sameType[category]++
	}
}

// sameError compares error types. The official decoder reports what it could not read before the
// checker is asked; the first edition had another name for a call that should not have been.
func sameError(got rules.ErrorType, official string, decoded value.Value) bool {
	switch {
	case official == string(rules.NotDecoded):
		return decoded.Kind() == value.Null || decoded.Len() == 0
	case official == "ast_decoder:decoder_wrong_output_format":
		_, ok := decodedCalls(decoded)
		return !ok
	case official == "relevance_error:decoder_success":
		return got == rules.CalledAnyway
	}
	return string(got) == official
}

func (a *agreement) report(t testing.TB, set string) {
	var names []string
	for c := range a.n {
		names = append(names, c)
	}
	sort.Strings(names)
	for _, c := range names {
		share := float64(a.same[c]) / float64(a.n[c])
		t.Logf("%-20s %-28s n=%6d agree=%6d %.4f error_type %.4f", set, c, a.n[c], a.same[c], share,
			float64(a.sameType[c])/float64(a.n[c]))
		bar := 0.995
		if strings.Contains(c, "java") {
			bar = 0.98
		}
		if share < bar {
			t.Errorf("%s %s: %.4f is under %.3f", set, c, share, bar)
		}
	}
}

func TestOfficialVerdicts(t *testing.T) {
	t.Parallel()
	for _, set := range []string{"bfcl_v1_2024-08", "bfcl_v4_2025-11"} {
		t.Run(set, func(t *testing.T) {
			t.Parallel()
			dir := testData(t, "sets/"+set)
			s, problems, err := ImportBFCLTree(filepath.Join(dir, "cases"), os.ReadFile)
			if err != nil {
				t.Fatal(err)
			}
			for _, p := range problems {
				t.Log(p)
			}
			cases := compileAll(t, s)
			files, _ := filepath.Glob(filepath.Join(dir, "*", "outputs", "*.jsonl.gz"))
			if len(files) == 0 {
				t.Skip("NOT RUN: no outputs")
			}
			a := newAgreement()
			for _, f := range files {
				data, err := os.ReadFile(f)
				if err != nil {
					t.Fatal(err)
				}
				if _, err := eachRow(data, f, func(r value.Value, _ int) []callvet.Problem {
					d, _ := r.Get("decoded")
					calls, _ := decodedCalls(d)
					a.row(t, f, r, text(r, "id"), calls, cases)
					return nil
				}); err != nil {
					t.Fatal(err)
				}
			}
			a.report(t, fmt.Sprintf("%s x%d", set, len(files)))
		})
	}
}

func TestMutations(t *testing.T) {
	t.Parallel()
	s, _, err := ImportBFCLTree(filepath.Join(testData(t, "sets/bfcl_v4_2025-11"), "cases"), os.ReadFile)
	if err != nil {
		t.Fatal(err)
	}
	cases := compileAll(t, s)
	files, _ := filepath.Glob(filepath.Join(testData(t, "sets/bfcl_mutations"), "*", "mutations.jsonl.gz"))
	a := newAgreement()
	for _, f := range files {
		data, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := eachRow(data, f, func(r value.Value, _ int) []callvet.Problem {
			d, _ := r.Get("calls")
			calls, _ := decodedCalls(d)
			a.row(t, f, r, text(r, "case_id"), calls, cases)
			return nil
		}); err != nil {
			t.Fatal(err)
		}
	}
	a.report(t, "mutations")
}
