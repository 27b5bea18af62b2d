// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package suite

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/world"
	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "rewrite the goldens")

// lint finds the mistakes in a suite that is in memory.
func lint(ctx context.Context, s *callvet.Suite, opt LintOptions) []callvet.Problem {
	l := newLinter(s, opt)
	for i := range s.Cases {
		l.oneCase(ctx, &s.Cases[i])
	}
	return l.finish()
}

// mockWorld answers as a run does.
func mockWorld(s *callvet.Suite, c *callvet.Case) callvet.World {
	return world.Mocks(s, c, world.MockOptions{})
}

// report is what a person would see of a file.
func report(ctx context.Context, path string) string {
	var b strings.Builder
	_, problems, err := Check(ctx, path, Options{}, LintOptions{Source: os.ReadFile, World: mockWorld})
	if err != nil {
		fmt.Fprintf(&b, "error: %v\n", err)
		var h *callvet.Hinted
		if errors.As(err, &h) && h.Hint != "" {
			fmt.Fprintf(&b, "hint: %s\n", h.Hint)
		}
		return b.String()
	}
	for _, p := range problems {
		level := "error"
		if p.Warning {
			level = "warning"
		}
		p.File = filepath.Base(p.File)
		fmt.Fprintf(&b, "%s [%s %s] %v\n", level, p.Code, strings.Trim(p.Case+" "+p.Key, " "), p)
	}
	return b.String()
}

func TestLintGolden(t *testing.T) {
	t.Parallel()
	paths, err := filepath.Glob("testdata/lint/*.*")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range paths {
		if strings.HasSuffix(path, ".golden") {
			continue
		}
		t.Run(filepath.Base(path), func(t *testing.T) {
			t.Parallel()
			got := report(t.Context(), path)
			if *update {
				if err := os.WriteFile(path+".golden", []byte(got), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(path + ".golden")
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), got); diff != "" {
				t.Errorf("-want +got\n%s", diff)
			}
		})
	}
}

// TestLintBounds: what bounds say of calls is a finding where nothing, or everything, meets
// it, and is none elsewhere.
func TestLintBounds(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ expect, scoring, want string }{
		{`{"plans":[{"calls":[{"tools":["a"]}],"order":"superset"}],"min_tool_calls":3}`, `{}`, ""},
		{`{"plans":[{"calls":[{"tools":["a"]}],"order":"superset"}],"tools_called":["a","b"]}`, `{}`, ""},
		{`{"plans":[{"calls":[{"tools":["a"]}],"order":"superset"}],"tools_acceptable":[["b"],["a","b"]]}`, `{}`, ""},
		{`{"max_tool_calls":3}`, `{}`, ""},
		{`{"tools_not_called":["a"]}`, `{}`, ""},
		{`{"max_requests":2}`, `{}`, ""},
		{`{"not":[{"calls":[{"tools":["a"]}]}]}`, `{}`, ""},
		{`{"not":[{"counts":[{"call":{"tools":["a"]},"min":1,"max":2}]}]}`, `{}`, ""},
		{`{"counts":[{"call":{"tools":["*"]},"max":0}]}`, `{}`, ""},
		{`{"counts":[{"call":{"tools":["a"]},"min":3},{"call":{"tools":["b*"]},"max":2}]}`, `{}`, ""},
		{`{"counts":[{"call":{"tools":["a"]},"min":3},{"call":{"tools":["*"],"args":{"q":"x"}},"max":2}]}`, `{}`, ""},
		{`{"plans":[{"calls":[{"tools":["a"],"matchers":{"q":{"mode":"any_of","value":["x","y"]}}}]}],"counts":[{"call":{"tools":["a"],"args":{"q":"y"}}}]}`, `{}`, ""},
		{`{"plans":[{"calls":[{"tools":["a"],"args":{"n":"1"}}]}]}`, `{"mode":"text"}`, ""},
		{`{"plans":[{"calls":[{"tools":["b"],"matchers":{"o":{"mode":"partial","value":{"x":1}}}}]}]}`, `{}`, ""},
		{`{"all_of":[{"calls":[{"tools":["a"]},{"tools":["b"]}],"order":"in_order"}]}`, `{}`, ""},
		{`{"plans":[{"calls":[{"tools":["a"],"nth":2}],"order":"superset"}]}`, `{}`, ""},

		{`{"plans":[{"calls":[{"tools":["a"],"nth":2}]}]}`, `{}`, "contradiction"},
		{`{"plans":[{"calls":[{"tools":["a"],"message":-2}]}]}`, `{}`, "contradiction"},
		{`{"counts":[{"call":{"tools":["a"]}}],"tools_not_called":["A"]}`, `{}`, "contradiction"},
		{`{"counts":[{"call":{"tools":["a"]},"min":3}],"max_tool_calls":2}`, `{}`, "contradiction"},
		{`{"counts":[{"call":{"tools":["a"]},"min":3},{"call":{"tools":["*"]},"max":2}]}`, `{}`, "contradiction"},
		{`{"plans":[{"calls":[]}],"counts":[{"call":{"tools":["a"]}}]}`, `{}`, "gold-fails"},
		{`{"plans":[{"calls":[{"tools":["a"]}]}],"counts":[{"call":{"tools":["a*"]},"max":0}]}`, `{}`, "gold-fails"},
		{`{"plans":[{"calls":[{"tools":["a"]}]}],"not":[{"calls":[{"tools":["a"]}]}]}`, `{}`, "gold-fails"},
		{
			`{"plans":[{"calls":[{"tools":["a"],"args":{"q":"x"}},{"tools":["a"],"args":{"q":"x"}}]}],"max_same_calls":1}`,
			`{}`, "gold-fails",
		},
		{`{"all_of":[{"calls":[{"tools":["a"]}]}],"not":[{"calls":[{"tools":["a"]}]}]}`, `{}`, "contradiction"},
		{`{"not":[{"counts":[{"call":{"tools":["a"]},"min":0}]}]}`, `{}`, "contradiction"},
		{`{"not":[{"calls":[{"tools":["a"]}],"order":"subset"}]}`, `{}`, "contradiction"},
		{`{"not":[{"calls":[{"tools":["a"]}],"min_scores":{"call_f1":0}}]}`, `{}`, "contradiction"},
		{`{"all_of":[{"calls":[{"tools":["a"],"optional":true}]}]}`, `{}`, "asserts-nothing"},
		{`{"counts":[{"call":{"tools":["a"]},"min":0}]}`, `{}`, "asserts-nothing"},
		{`{"plans":[{"calls":[{"tools":["a"]}]}],"not":[{"counts":[{"call":{"tools":["c"]}}]}]}`, `{}`, "unknown-tool"},
		{`{"min_scores":{"call_f1":0.5}}`, `{}`, "no-plan"},
		{`{"min_scores":{"format":0}}`, `{}`, "passes-by-nothing"},
	} {
		c := callvet.Case{
			ID: "1", Input: []callvet.Turn{{Role: callvet.RoleUser, Content: "q"}},
			Scoring: &callvet.Scoring{},
		}
		if err := errors.Join(json.Unmarshal([]byte(tt.expect), &c.Expect),
			json.Unmarshal([]byte(tt.scoring), c.Scoring)); err != nil {
			t.Fatal(err)
		}
		s := callvet.Suite{Name: "s", Cases: []callvet.Case{c}, Tools: []callvet.Tool{
			{
				Name: "a", Description: "Says what it is asked for.",
				Parameters: []byte(`{"type":"object","properties":{"q":{"type":"string"},"n":{"type":"integer"}}}`),
			},
			{
				Name: "b", Description: "Does what it is asked for.",
				Parameters: []byte(`{"type":"object","properties":{"o":{"type":"object","required":["y"]}}}`),
			},
		}}
		var got []string
		for _, p := range lint(t.Context(), &s, LintOptions{}) {
			if !p.Warning {
				got = append(got, p.Code)
			}
		}
		if strings.Join(got, " ") != tt.want {
			t.Errorf("%s: %v, want %q", tt.expect, got, tt.want)
		}
	}
}

// A retriever reads what tools say of themselves: a schema that does not compile is no
// reason not to evaluate it, and the catalogue's mistake.
func TestLintCatalogue(t *testing.T) {
	t.Parallel()
	s := callvet.Suite{
		Tools: []callvet.Tool{{
			Name: "a", Description: "says",
			Parameters: []byte(`{"properties":{"n":{"type":"number","exclusiveMinimum":true}}}`),
		}},
		Cases: []callvet.Case{{
			ID: "1", Input: []callvet.Turn{{Role: callvet.RoleUser, Content: "q"}},
			Expect:   callvet.Expect{Selection: &callvet.Selection{Tools: []string{"a"}}},
			Position: callvet.Position{File: "suite.json", Line: 3},
		}},
	}
	for _, c := range []struct {
		catalogue, file string
		warning         bool
	}{{"catalogue.json", "catalogue.json", true}, {"", "suite.json", false}} {
		found := lint(t.Context(), &s, LintOptions{Catalogue: c.catalogue})
		if len(found) != 1 || found[0].Code != "bad-schema" || found[0].Warning != c.warning ||
			found[0].File != c.file {
			t.Errorf("%q: %+v", c.catalogue, found)
		}
	}
}
