// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package trace

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/value"
)

// maxUnknown bounds the unknown names that a Log counts separately.
const maxUnknown = 64

// Log counts the problems of the lines of a file and lists the first ones. Merged Logs of parts
// of a file equal one Log of the whole file.
type Log struct {
	// Lines is how many lines were read, Steps and Tasks are the numbers of records; Bad is how
	// many lines were no record.
	Lines, Steps, Tasks, Bad int64
	// Repaired is how many lines were read with repairs, RepairedFirst the first of them, and Made
	// which repairs.
	Repaired, RepairedFirst int64
	Made                    value.Repairs
	// List has the bad lines with the lowest numbers, at most Max of them.
	List []BadLine
	// Unknown has names that the contract does not know, by name.
	Unknown []UnknownKey
	// Max bounds List.
	Max int
}

// BadLine is a line that is no record, and why.
type BadLine struct {
	Line   int64
	Reason string
}

// UnknownKey is a member that is not in the contract: the line was used without it.
type UnknownKey struct {
	Key string
	// Nearest is the known name that may have been meant; "" when none is near.
	Nearest string
	Count   int64
	First   int64 // line
}

// Reject counts and lists a line that is no record.
func (l *Log) Reject(line int64, reason string) {
	l.Bad++
	l.list(BadLine{line, reason})
}

// Repair counts a line that was read with repairs.
func (l *Log) Repair(line int64, made value.Repairs) {
	l.Repairs(&Log{Repaired: 1, RepairedFirst: line, Made: made})
}

// Repairs adds the lines of another log that were read with repairs.
func (l *Log) Repairs(o *Log) {
	if o.Repaired == 0 {
		return
	}
	if l.Repaired == 0 || o.RepairedFirst < l.RepairedFirst {
		l.RepairedFirst = o.RepairedFirst
	}
	l.Repaired, l.Made = l.Repaired+o.Repaired, l.Made|o.Made
}

func (l *Log) list(b BadLine) {
	i, _ := slices.BinarySearchFunc(l.List, b, func(a, b BadLine) int { return cmp.Compare(a.Line, b.Line) })
	if i >= l.Max {
		return
	}
	l.List = slices.Insert(l.List, i, b)
	l.List = l.List[:min(len(l.List), l.Max)]
}

func (l *Log) unknown(u UnknownKey) {
	i, found := slices.BinarySearchFunc(l.Unknown, u.Key,
		func(a UnknownKey, k string) int { return cmp.Compare(a.Key, k) })
	switch {
	case found:
		l.Unknown[i].Count += u.Count
		l.Unknown[i].First = min(l.Unknown[i].First, u.First)
	case len(l.Unknown) < maxUnknown:
		l.Unknown = slices.Insert(l.Unknown, i, u)
	}
}

// again counts a name that is already in Unknown.
func (l *Log) again(u UnknownKey) bool {
	i, found := slices.BinarySearchFunc(l.Unknown, u.Key,
		func(a UnknownKey, k string) int { return cmp.Compare(a.Key, k) })
	if found {
		l.Unknown[i].Count++
	}
	return found
}

// Merge adds the Log of another part of the same file.
func (l *Log) Merge(o *Log) {
	l.Lines, l.Steps, l.Tasks, l.Bad = l.Lines+o.Lines, l.Steps+o.Steps, l.Tasks+o.Tasks, l.Bad+o.Bad
	l.Repairs(o)
	for _, b := range o.List {
		l.list(b)
	}
	for _, u := range o.Unknown {
		l.unknown(u)
	}
}

// Shift adds to the numbers of all lines, for a part of a file with lines before it.
func (l *Log) Shift(by int64) {
	for i := range l.List {
		l.List[i].Line += by
	}
	for i := range l.Unknown {
		l.Unknown[i].First += by
	}
	l.RepairedFirst += by
}

func repairedWords(lines int64, made value.Repairs) string {
	if lines == 1 {
		return fmt.Sprintf("this line has %s and was read with repairs", made)
	}
	return fmt.Sprintf("%d lines have %s and were read with repairs, the first here", lines, made)
}

// Problems are the bad lines as errors and the unknown names as warnings, and one about the number
// of lines that are not listed.
func (l *Log) Problems(file string) []callvet.Problem {
	var out []callvet.Problem
	for _, b := range l.List {
		out = append(out, callvet.Problem{
			Position: callvet.Position{File: file, Line: int(b.Line)}, Code: "malformed-line", Message: b.Reason,
		})
	}
	if more := l.Bad - int64(len(l.List)); more > 0 {
		out = append(out, callvet.Problem{
			Position: callvet.Position{File: file}, Code: "malformed-line",
			Message: fmt.Sprintf("%d more lines are no records", more),
		})
	}
	if l.Repaired > 0 {
		out = append(out, callvet.Problem{
			Position: callvet.Position{File: file, Line: int(l.RepairedFirst)}, Code: "repaired-line", Warning: true,
			Message: repairedWords(l.Repaired, l.Made),
		})
	}
	for _, u := range l.Unknown {
		p := callvet.Problem{
			Position: callvet.Position{File: file, Line: int(u.First)}, Code: "unknown-key", Key: u.Key, Warning: true,
			Message: fmt.Sprintf("unknown key %q, first here, on %d lines", u.Key, u.Count),
		}
		if u.Nearest != "" {
			p.Fix = fmt.Sprintf("did you mean %q?", u.Nearest)
		}
		out = append(out, p)
	}
	return out
}
