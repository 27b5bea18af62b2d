// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package suite

import (
	"strconv"
	"strings"

	"github.com/callvet/callvet"
)

// locate moves problems from their case to the very value, by reading the file
// again. What it cannot find keeps the case's place.
func (l *linter) locate() {
	if l.opt.Source == nil || l.s.Dialect != "callvet" {
		return
	}
	files := map[string]map[int][]*callvet.Problem{} // file, line of the case (0: the suite)
	for i := range l.problems {
		p := &l.problems[i]
		if p.File == "" || p.Key == "" {
			continue
		}
		if files[p.File] == nil {
			files[p.File] = map[int][]*callvet.Problem{}
		}
		files[p.File][caseKey(p.Position)] = append(files[p.File][caseKey(p.Position)], p)
	}
	for file, byCase := range files {
		data, err := l.opt.Source(file)
		if err != nil {
			continue
		}
		if d, bad := readDocument(file, data); bad == nil {
			d.locate(byCase)
		}
	}
}

func caseKey(p callvet.Position) int { return place(p.Line, p.Column) }

func (d *document) locate(byCase map[int][]*callvet.Problem) {
	for _, p := range byCase[caseKey(callvet.Position{})] {
		d.point(p, &d.root, false)
	}
	cases := d.root.get("cases")
	if cases == nil {
		cases = d.root.get("test_cases")
	}
	if cases == nil || cases.kind != kindList {
		return
	}
	d.elements(cases, func(_ int, v *node) {
		for _, p := range byCase[caseKey(d.position(v.at))] {
			d.point(p, v, true)
		}
	})
}

// point finds the value of a problem's key under n, trying the spellings that
// the case may have used.
func (d *document) point(p *callvet.Problem, n *node, inCase bool) {
	keys := []string{p.Key}
	if inCase {
		keys = spellings(p.Key)
	}
	for _, key := range keys {
		if at, full := n.place(key); full {
			p.Position, p.Key = d.position(at), key
			return
		}
	}
	if at, _ := n.place(keys[0]); at != n.at {
		p.Position = d.position(at)
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

// place walks a path such as expect.calls[0].tool; full is false when the walk
// ended early, at the place returned.
func (n *node) place(path string) (at int, full bool) {
	at = n.at
	for path != "" {
		if path[0] == '[' {
			end := strings.IndexByte(path, ']')
			i, err := strconv.Atoi(path[1:max(end, 1)])
			if err != nil {
				return at, false
			}
			if n.kind != kindList && i == 0 { // a single value stands for a list of one
				path = path[end+1:]
				continue
			}
			if i >= len(n.items) || n.lazy {
				return at, false
			}
			n, path = &n.items[i], path[end+1:]
			at = n.at
			continue
		}
		path = strings.TrimPrefix(path, ".")
		i, rest := n.key(path)
		if i < 0 {
			return at, false
		}
		at, n, path = n.names[i].at, &n.items[i], rest
	}
	return at, true
}

// key finds the longest key that path begins with: keys may hold dots.
func (n *node) key(path string) (i int, rest string) {
	i = -1
	for j := range n.names {
		r, ok := strings.CutPrefix(path, n.names[j].name)
		if ok && (r == "" || r[0] == '.' || r[0] == '[') && (i < 0 || len(r) < len(rest)) {
			i, rest = j, r
		}
	}
	return i, rest
}
