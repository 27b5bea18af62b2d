// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package world

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/callvet/callvet/value"
)

// Limits of the comparison and the message for a call without a recording.
const (
	maxCompared  = 2000
	maxDiffers   = 6
	maxShownText = 80
)

// nearest names the nearest recording of a call, and the differences.
func (r *Recordings) nearest(k key) string {
	all := r.byTool[k.tool]
	if len(all) == 0 {
		return "no call of this tool is recorded"
	}
	same := slices.Clone(all[:min(len(all), maxCompared)])
	same = slices.DeleteFunc(same, func(rec *Recording) bool { return rec.ToolVersion != k.version })
	if len(same) == 0 {
		versions := map[string]bool{}
		for _, rec := range all {
			versions[rec.ToolVersion] = true
		}
		return fmt.Sprintf("it is recorded as %s, and called as %s", spokenVersions(versions), spokenVersion(k.version))
	}
	var best *Recording
	var differs []string
	for _, rec := range same { // in their order, so that the result is deterministic
		d := argumentsDiffer(rec.Args, json.RawMessage(k.args))
		if best == nil || len(d) < len(differs) || len(d) == len(differs) && best.Case != k.scope &&
			rec.Case == k.scope {
			best, differs = rec, d
		}
	}
	where := ""
	if best.file != "" {
		where = " (" + filepath.Base(best.file) + ")"
	}
	if len(differs) > 0 {
		if n := len(differs) - maxDiffers; n > 0 {
			differs = append(differs[:maxDiffers], fmt.Sprintf("and %d more", n))
		}
		return "the nearest one" + where + " differs in " + strings.Join(differs, "; ")
	}
	if most := mostCalls(same, k); most > 0 {
		return fmt.Sprintf("it is recorded %d times with these arguments%s, and called once more", most, where)
	}
	if best.Case != k.scope {
		return fmt.Sprintf(
			"it is recorded in case %s%s, and only tools that are read_only are answered by recordings of another case",
			best.Case, where)
	}
	return "the nearest one" + where + " has the same arguments"
}

// mostCalls is how often a call is recorded with these arguments in its case.
func mostCalls(same []*Recording, k key) int {
	most := 0
	for _, rec := range same {
		if o := rec.key(); o.args == k.args && (o.scope == k.scope || o.scope == "") && o.call < k.call {
			most = max(most, o.call)
		}
	}
	return most
}

// argumentsDiffer lists the differences between the arguments of a recording and a call, by path.
func argumentsDiffer(recorded, call json.RawMessage) []string {
	was, is := leaves(recorded), leaves(call)
	var out []string
	for _, l := range was {
		switch v, has := is.get(l.path); {
		case !has:
			out = append(out, fmt.Sprintf("%s: recorded %s, called without", l.path, shortValue(l.text)))
		case v != l.text:
			out = append(out, fmt.Sprintf("%s: recorded %s, called %s", l.path, shortValue(l.text), shortValue(v)))
		}
	}
	for _, l := range is {
		if _, has := was.get(l.path); !has {
			out = append(out, fmt.Sprintf("%s: not recorded, called %s", l.path, shortValue(l.text)))
		}
	}
	return out
}

type leaf struct{ path, text string }

type leafList []leaf

func (l leafList) get(path string) (string, bool) {
	for i := range l {
		if l[i].path == path {
			return l[i].text, true
		}
	}
	return "", false
}

// maxLeaves bounds how much of arguments is compared.
const maxLeaves = 200

// leaves are the scalars of a value with their paths. An empty object at the top has none.
func leaves(raw json.RawMessage) leafList {
	v, err := value.Parse(raw)
	if err != nil {
		return leafList{{"arguments", string(raw)}}
	}
	var out leafList
	var walk func(path string, v value.Value)
	walk = func(path string, v value.Value) {
		if len(out) == maxLeaves {
			return
		}
		switch {
		case v.Kind() == value.Object && v.Len() > 0:
			for _, e := range value.Members(v) {
				walk(strings.TrimPrefix(path+"."+e.Key(), "."), e)
			}
		case v.Kind() == value.Array && v.Len() > 0:
			i := 0
			for e, ok := v.First(); ok; e, ok = v.Next(e) {
				walk(fmt.Sprintf("%s[%d]", path, i), e)
				i++
			}
		case path != "" || v.Kind() != value.Object:
			out = append(out, leaf{path, string(value.AppendCanonical(nil, v))})
		}
	}
	walk("", v)
	return out
}

// shortValue is a text that fits a message.
func shortValue(s string) string {
	if len(s) <= maxShownText {
		return s
	}
	return strings.ToValidUTF8(s[:maxShownText], "") + "…"
}
