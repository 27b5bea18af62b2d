// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package offline

import (
	"cmp"
	"math"
	"slices"

	"github.com/callvet/callvet"
)

// The weights of a tool's fields in its term frequencies, and BM25's constants
// (Robertson and Zaragoza, "The Probabilistic Relevance Framework", 2009).
const (
	weightName  = 3
	weightDesc  = 1.5
	weightParam = 1.0
	k1          = 1.2
	lengthNorm  = 0.4
)

// index is a toolset prepared for one language of questions.
type index struct {
	tools []indexed
	df    map[string]int
	mean  float64
}

type indexed struct {
	tool   *callvet.Tool
	params *param
	tf     map[string]float64
	length float64
	name   map[string]bool // stems of the name
	desc   map[string]bool
	inner  map[string]bool // stems of parameters and enums
}

func newIndex(ts *callvet.Toolset, l lang) *index {
	x := &index{df: map[string]int{}}
	for i := range ts.Tools {
		t := indexTool(&ts.Tools[i], l)
		for s := range t.tf {
			x.df[s]++
		}
		x.mean += t.length
		x.tools = append(x.tools, t)
	}
	x.mean = max(1, x.mean/float64(max(1, len(x.tools))))
	return x
}

func indexTool(t *callvet.Tool, l lang) indexed {
	d := indexed{
		tool: t, params: readSchema(t.Parameters), tf: map[string]float64{}, name: map[string]bool{},
		desc: map[string]bool{}, inner: map[string]bool{},
	}
	add := func(text string, weight float64, set map[string]bool) {
		for _, w := range words(text) {
			if isFunction(en, w) || isFunction(l, w) {
				continue
			}
			d.length += weight
			for _, s := range stems(l, w) {
				d.tf[s] += weight
				set[s] = true
			}
		}
	}
	add(t.Name, weightName, d.name)
	add(t.Description, weightDesc, d.desc)
	d.params.visit(func(p *param) {
		add(p.name, weightParam, d.inner)
		add(p.desc, weightParam/2, d.inner)
		for _, e := range p.enum {
			add(e.text, weightParam/2, d.inner)
		}
	})
	return d
}

// ranked is a tool with the support of a text for it.
type ranked struct {
	*indexed
	bm25 float64
	// support counts distinct words of the text by their place in the tool; it does not depend on
	// the other tools, so that a threshold makes sense.
	support float64
}

// rank orders the tools for the stems of a text, best first; ties keep the
// suite's order.
func (x *index) rank(query [][]string) []ranked {
	out := make([]ranked, 0, len(x.tools))
	for i := range x.tools {
		r := ranked{indexed: &x.tools[i]}
		seen := map[string]bool{}
		for _, word := range query {
			r.word(x, word, seen)
		}
		out = append(out, r)
	}
	slices.SortStableFunc(out, func(a, b ranked) int { return cmp.Compare(b.bm25, a.bm25) })
	return out
}

// word adds one word of the question, by the best of its stems.
func (r *ranked) word(x *index, word []string, seen map[string]bool) {
	for _, s := range word {
		tf := r.tf[s]
		if tf == 0 || seen[s] {
			continue
		}
		seen[s] = true
		n, df := float64(len(x.tools)), float64(x.df[s])
		idf := math.Log(1 + (n-df+0.5)/(df+0.5))
		r.bm25 += idf * tf * (k1 + 1) / (tf + k1*(1-lengthNorm+lengthNorm*r.length/x.mean))
		switch {
		case r.name[s] && !isGeneric(s):
			r.support++
		case r.name[s], isGeneric(s):
			r.support += 0.2
		case r.desc[s]:
			r.support += 0.5
		default:
			r.support += 0.35
		}
		return
	}
}
