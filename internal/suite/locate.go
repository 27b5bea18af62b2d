// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package suite

import (
	"strings"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/doc"
)

// locate moves problems from their case to the exact value, by reading the file again. A problem
// with a value that it cannot find keeps the case's place.
func (l *linter) locate() {
	if l.opt.Source == nil {
		return
	}
	files := map[string]map[[2]int][]*callvet.Problem{} // file, line of the case (0: the suite)
	for i := range l.problems {
		p := &l.problems[i]
		if p.File == "" || p.Key == "" {
			continue
		}
		if files[p.File] == nil {
			files[p.File] = map[[2]int][]*callvet.Problem{}
		}
		files[p.File][caseKey(p.Position)] = append(files[p.File][caseKey(p.Position)], p)
	}
	for file, byCase := range files {
		data, err := l.opt.Source(file)
		if err != nil || Form(data, file) != OwnForm {
			continue
		}
		if d, bad := doc.Read(file, data); bad == nil {
			locateIn(d, byCase)
		}
	}
}

func caseKey(p callvet.Position) [2]int { return [2]int{p.Line, p.Column} }

func locateIn(d *doc.File, byCase map[[2]int][]*callvet.Problem) {
	for _, p := range byCase[caseKey(callvet.Position{})] {
		point(d, p, &d.Root, false)
	}
	cases := d.Root.Get("cases")
	if cases == nil {
		cases = d.Root.Get("test_cases")
	}
	if cases == nil || cases.Kind != doc.List {
		return
	}
	d.Elements(cases, func(_ int, v *doc.Node) {
		for _, p := range byCase[caseKey(d.Position(v.At))] {
			point(d, p, v, true)
		}
	})
}

// point finds the value of a problem's key under n, trying the spellings that
// the case may have used.
func point(d *doc.File, p *callvet.Problem, n *doc.Node, inCase bool) {
	keys := []string{p.Key}
	if inCase {
		keys = spellings(p.Key)
	}
	for _, key := range keys {
		if at, full := n.Find(key); full {
			p.Position, p.Key = d.Position(at), key
			return
		}
	}
	if at, _ := n.Find(keys[0]); at != n.At {
		p.Position = d.Position(at)
	}
}

// spellings lists the other ways to write a key of a case.
func spellings(key string) []string {
	out := []string{key}
	for _, s := range [][2]string{
		{"expect.calls[0].tool", "expected_tool"},
		{"expect.calls[0].args", "expected_params"},
		{"multi_turn.", ""},
		{"multi_turn.", "multi_turn_config."},
		{"scoring.mode", "param_scoring"},
		{"scoring.", "scoring_config."},
	} {
		if rest, ok := strings.CutPrefix(key, s[0]); ok {
			out = append(out, s[1]+rest)
		}
	}
	if before, after, ok := strings.Cut(key, ".params."); ok {
		out = append(out, before+".args."+after, "expected_params."+after)
	}
	if rest, ok := strings.CutPrefix(key, "expect."); ok {
		out = append(out, "expect.any_of[0]."+rest)
	}
	return out
}
