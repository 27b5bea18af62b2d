// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package steps

import (
	"slices"
	"strings"

	"github.com/callvet/callvet"
)

// SliceLine has the data of a line that determine its slices. Tool is empty for the record of a task;
// Families are the families of the tool.
type SliceLine struct {
	Tool     string
	Families []string
	Tags     []string
	Fields   map[string]string
	Expected []string // tools that the task expects, by base name
}

// SlicesOf lists the slices of a line by the requested keys, sorted as in a SliceSet. It is for few lines,
// where numbers are not needed. CrossedSlices adds crosses.
func SlicesOf(by []string, l SliceLine) [][2]string {
	o := lineSlices{by: by}
	if l.Tool != "" {
		name, version := callvet.SplitTool(l.Tool)
		o.want(callvet.SliceCalledTool, name, false)
		if _, present := l.Fields["api_version"]; !present {
			o.want("api_version", version, false)
		}
		if _, present := l.Fields["tool_family"]; !present {
			for _, f := range l.Families {
				o.want("tool_family", f, false)
			}
		}
	}
	for _, name := range l.Expected {
		o.want(callvet.SliceExpectedTool, name, false)
	}
	for k, v := range l.Fields {
		usual := keyName(k)
		o.want(usual, v, true)
		if usual != k {
			o.want(k, v, false)
		}
	}
	for _, t := range l.Tags {
		if i := strings.IndexAny(t, ":="); i > 0 && i+1 < len(t) && isKey(t[:i]) {
			o.want(keyName(t[:i]), t[i+1:], true)
			continue
		}
		if isLanguage(t) && asked(by, "language", false) {
			o.want("language", t, false)
			continue
		}
		o.want("tag", t, false)
	}
	slices.SortFunc(o.out, func(a, b [2]string) int { return slices.Compare(a[:], b[:]) })
	return slices.Compact(o.out)
}

// SliceRequested reports whether slices by a key were requested, and not only as a side of a cross.
func SliceRequested(by []string, key string) bool {
	if slices.Contains(by, key) {
		return true
	}
	switch key {
	case callvet.SliceExpectedTool, callvet.SliceCalledTool, "api_version", "tool_family", "tag":
		return false
	}
	return slices.Contains(by, "*")
}

// CrossedSlices adds the requested crosses to the slices of a line.
func CrossedSlices(by []string, in [][2]string) [][2]string {
	out := slices.Clip(in)
	for _, key := range by {
		x, y, ok := strings.Cut(key, "*")
		if !ok || x == "" || y == "" {
			continue
		}
		for _, a := range in {
			for _, b := range in {
				if a[0] == x && b[0] == y {
					out = append(out, [2]string{key, a[1] + "*" + b[1]})
				}
			}
		}
	}
	return out
}

type lineSlices struct {
	by  []string
	out [][2]string
}

// want is like builder.want.
func (o *lineSlices) want(key, val string, named bool) {
	if val == "" || !asked(o.by, key, named) {
		return
	}
	o.out = append(o.out, [2]string{key, clip(val)})
}

// asked reports whether a key is requested: itself, as any named key, or as a side of a cross.
func asked(by []string, key string, named bool) bool {
	for _, b := range by {
		if b == key || named && b == "*" {
			return true
		}
		if x, y, ok := strings.Cut(b, "*"); ok && (x == key || y == key) {
			return true
		}
	}
	return false
}

func clip(val string) string {
	if len(val) > clipAt {
		return strings.ToValidUTF8(val[:clipAt], "") + "…"
	}
	return val
}
