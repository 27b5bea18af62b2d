// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package measure_test

import (
	"io"
	"strings"
	"testing"

	"github.com/callvet/callvet/internal/measure"
	"github.com/callvet/callvet/internal/sys"
	"github.com/callvet/callvet/internal/trace"
	"github.com/callvet/callvet/score"
)

type badReader struct{ text io.Reader }

func (r badReader) Read(b []byte) (int, error) {
	n, err := r.text.Read(b[:min(len(b), 4096)])
	if err != nil {
		panic("bug")
	}
	return n, nil
}

// TestPanicComesOut: when a worker, the reader or the judge panics, Run panics with the same value
// and does not hang.
func TestPanicComesOut(t *testing.T) {
	t.Parallel()
	text := file(7, 300, 10)
	scorer, _ := score.NewStepScorer(score.StepConfig{Tools: catalog})
	n := 0
	for name, change := range map[string]func(*measure.Config) measure.Source{
		"rows": func(c *measure.Config) measure.Source {
			c.Each = func([]measure.Scored) error {
				if n++; n > 5 {
					panic("bug")
				}
				return nil
			}
			return source("f", text)
		},
		"judge": func(c *measure.Config) measure.Source {
			c.Attempts = func(a *trace.Attempt) bool {
				if a.Trace.CaseID == "t100" {
					panic("bug")
				}
				return false
			}
			return source("f", text)
		},
		"reader": func(*measure.Config) measure.Source {
			return measure.Source{
				Name: "f",
				Open: func() (io.ReadCloser, error) { return io.NopCloser(badReader{strings.NewReader(text)}), nil },
			}
		},
		"importer": func(*measure.Config) measure.Source {
			const chat = `{"messages":[{"role":"user","content":"hi"},{"role":"assistant","content":"hello"}]}` + "\n"
			return measure.Source{Name: "f", Open: func() (io.ReadCloser, error) {
				return io.NopCloser(badReader{strings.NewReader(strings.Repeat(chat, 5000))}), nil
			}}
		},
	} {
		for _, jobs := range []int{1, 4} {
			n = 0
			cfg := measure.Config{Scorer: scorer, Jobs: jobs, Lines: trace.Options{Block: 600}}
			src := change(&cfg)
			func() {
				defer func() {
					if p, ok := recover().(*sys.Panic); !ok || p.Error() != "bug" {
						t.Errorf("%s with %d jobs: %v came out", name, jobs, p)
					}
				}()
				_, err := measure.Run(t.Context(), []measure.Source{src}, cfg)
				t.Errorf("%s with %d jobs: ended with %v", name, jobs, err)
			}()
		}
	}
}
