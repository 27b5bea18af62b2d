// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package slicing

import (
	"slices"
	"strings"

	"github.com/callvet/callvet"
)

// Line is what a line tells of the slices it belongs to. Tool is empty for the
// record of a task; Families are those of its tool.
type Line struct {
	Tool     string
	Families []string
	Tags     []string
	Fields   map[string]string
	Expected []string // tools that the task expects, by base name
}

// Of lists the slices of a line by the keys asked for, sorted, as a Set has them:
// for those who look at few lines and need no numbers. Crosses are left to Crossed.
func Of(by []string, l Line) [][2]string {
	o := told{by: by}
	if l.Tool != "" {
		name, version := callvet.SplitTool(l.Tool)
		o.want(callvet.SliceCalledTool, name, false)
		if _, told := l.Fields["api_version"]; !told {
			o.want("api_version", version, false)
		}
		if _, told := l.Fields["tool_family"]; !told {
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

// Told tells the key of slices that were asked for from one that only serves a cross.
func Told(by []string, key string) bool {
	if slices.Contains(by, key) {
		return true
	}
	switch key {
	case callvet.SliceExpectedTool, callvet.SliceCalledTool, "api_version", "tool_family", "tag":
		return false
	}
	return slices.Contains(by, "*")
}

// Crossed adds to the slices of a line those of the crosses that were asked for.
func Crossed(by []string, in [][2]string) [][2]string {
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

type told struct {
	by  []string
	out [][2]string
}

// want is that of a builder.
func (o *told) want(key, val string, named bool) {
	if val == "" || !asked(o.by, key, named) {
		return
	}
	o.out = append(o.out, [2]string{key, clip(val)})
}

// asked reports whether a key is sliced by: as it stands, as any named key, or as
// a side of a cross.
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
