// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package suite

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/replay"
	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "rewrite the goldens")

// lint finds what is wrong in a suite that is in memory.
func lint(ctx context.Context, s *callvet.Suite, opt LintOptions) []callvet.Problem {
	l := newLinter(s, opt)
	for i := range s.Cases {
		l.oneCase(ctx, &s.Cases[i])
	}
	return l.finish()
}

// mockWorld answers as a run does.
func mockWorld(s *callvet.Suite, c *callvet.Case) callvet.World {
	return replay.Mocks(s, c, replay.Options{})
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

// A retriever reads what tools say of themselves: a schema that does not compile is no
// reason not to evaluate it, and the catalogue's mistake.
func TestLintCatalogue(t *testing.T) {
	t.Parallel()
	s := callvet.Suite{
		Tools: []callvet.Tool{{Name: "a", Description: "says", Parameters: []byte(`{"properties":{"n":{"type":"number","exclusiveMinimum":true}}}`)}},
		Cases: []callvet.Case{{ID: "1", Input: []callvet.Turn{{Role: callvet.RoleUser, Content: "q"}}, Expect: callvet.Expect{Selection: &callvet.Selection{Tools: []string{"a"}}}, Position: callvet.Position{File: "suite.json", Line: 3}}},
	}
	for _, c := range []struct {
		catalogue, file string
		warning         bool
	}{{"catalogue.json", "catalogue.json", true}, {"", "suite.json", false}} {
		found := lint(t.Context(), &s, LintOptions{Catalogue: c.catalogue})
		if len(found) != 1 || found[0].Code != "bad-schema" || found[0].Warning != c.warning || found[0].File != c.file {
			t.Errorf("%q: %+v", c.catalogue, found)
		}
	}
}
