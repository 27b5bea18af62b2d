// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package native

import (
	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/doc"
)

const scorerKeys = "name expr exec files javascript python vars timeout threshold negated blind"

// scorers reads rules of the suite's own. What they say is checked when a case is compiled.
func (r *reader) scorers(n *doc.Node) []callvet.Scorer {
	var out []callvet.Scorer
	r.each(n, func(_ int, v *doc.Node) { out = append(out, r.scorer(v)) })
	return out
}

func (r *reader) scorer(n *doc.Node) callvet.Scorer {
	var s callvet.Scorer
	r.fields(n, scorerKeys, func(key string, v *doc.Node) bool {
		switch key {
		case "name":
			s.Name = r.label(v)
		case "expr":
			s.Expr = r.str(v)
		case "exec":
			s.Exec = r.str(v)
		case "files":
			s.Files = r.oneOrMore(v)
		case "javascript":
			s.JavaScript = r.str(v)
		case "python":
			s.Python = r.str(v)
		case "vars":
			s.Vars = r.object(v)
		case "timeout":
			s.Timeout = r.label(v)
		case "threshold":
			s.Threshold = r.number(v, 0)
		case "negated":
			s.Negated = r.boolean(v)
		case "blind":
			s.Blind = r.boolean(v)
		default:
			return false
		}
		return true
	})
	if s.Expr == "" && !s.Runs() && n.Kind == doc.Map {
		r.problem(n.At, "missing-key", `expr: answer contains "Paris", for example`,
			"the scorer does not say how it judges: one of expr, exec, javascript and python")
	}
	return s
}

func exportScorer(b builder, s *callvet.Scorer) {
	b.str("name", s.Name)
	b.str("expr", s.Expr)
	b.str("exec", s.Exec)
	b.list("files", s.Files)
	b.str("javascript", s.JavaScript)
	b.str("python", s.Python)
	b.json("vars", s.Vars)
	b.str("timeout", s.Timeout)
	b.float("threshold", s.Threshold)
	b.yes("negated", s.Negated)
	b.yes("blind", s.Blind)
}
