// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package dialect

import (
	"fmt"
	"strings"

	"github.com/callvet/callvet"
)

// program carries a JavaScript or Python assertion as a scorer of the suite. It becomes an
// expression where one has the same meaning, or a program where programs may be run. It returns
// false for neither.
func (a *assertReader) program(n Node, o Object, name string, negated bool, v Node) bool {
	text, isText := v.Text()
	if e := a.expression(n, v); e != "" {
		a.c.Expect.Scorers = append(a.c.Expect.Scorers,
			callvet.Scorer{Name: a.scorerName(o.Str("metric"), name), Expr: e})
		return true
	}
	switch {
	case !a.Opt.Programs || name != "javascript" && name != "python" || !isText || strings.TrimSpace(text) == "":
		return false
	case strings.HasPrefix(text, "file://"):
		a.drop(n, "it is a program in a file of its own")
		return true
	}
	least := o.Number("threshold")
	if least != nil && (*least < 0 || *least > 1) {
		a.drop(n, fmt.Sprintf("its threshold %g is not in [0, 1]", *least))
		return true
	}
	s := callvet.Scorer{Name: a.scorerName(o.Str("metric"), name), Threshold: least, Negated: negated}
	if name == "javascript" {
		s.JavaScript = strings.TrimRight(text, " \t\r\n")
	} else {
		s.Python = strings.TrimRight(text, " \t\r\n")
	}
	if strings.Contains(text, "vars") {
		var vars Record
		for _, m := range a.vars {
			vars.Raw(m.Name, m.Val.Raw)
		}
		s.Vars = vars.Bytes()
	}
	a.c.Expect.Scorers = append(a.c.Expect.Scorers, s)
	return true
}

// expression is what an assertion of JavaScript is as an expression; "" where it is none. What throws
// an error fails, negated too, and an expression would pass then; a threshold is for numbers.
func (a *assertReader) expression(n, v Node) string {
	typ, _ := n.Get("type").Text()
	text, isText := v.Text()
	if typ != "javascript" || !isText || n.Get("threshold").Given() {
		return ""
	}
	return formula(text, a.vars)
}

// scorerName is the metric of an assertion, or its type, as a name that no other scorer of the
// case has.
func (a *assertReader) scorerName(metric, kind string) string {
	name := strings.Map(func(r rune) rune {
		if callvet.ScorerName(string(r)) {
			return r
		}
		return '_'
	}, metric)
	if name = name[:min(len(name), 60)]; strings.Trim(name, "_") == "" {
		name = kind
	}
	taken := func(name string) bool {
		for i := range a.c.Expect.Scorers {
			if a.c.Expect.Scorers[i].Name == name {
				return true
			}
		}
		return false
	}
	out := name
	for i := 2; taken(out); i++ {
		out = fmt.Sprintf("%s-%d", name, i)
	}
	return out
}
