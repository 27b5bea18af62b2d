// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package sys

import (
	"errors"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
)

// CatchPanic calls do and returns its panic, and that of goroutines it waits for, as an
// error: a *Panic.
func CatchPanic(do func() error) (err error) {
	defer func() {
		if p := PanicOf(recover()); p != nil {
			err = p
		}
	}()
	return do()
}

// maxFrames is how many places of a stack are printed.
const maxFrames = 6

// frame is a function of callvet in a stack, with its file and line.
var frame = regexp.MustCompile(
	`(?m)^(main|github\.com/callvet/callvet[^\s]*?)(\.[^\n]*)\([^\n]*\)\n\t([^\n]+\.go):(\d+)`)

// BugReport describes a panic for a user: what happened, what to do, and where it was. With verbose it
// has the whole stack. It is "" for an error that is not a panic.
func BugReport(err error, version string, verbose bool) string {
	var p *Panic
	if !errors.As(err, &p) {
		return ""
	}
	var b strings.Builder
	fmt.Fprintf(&b,
		"callvet has a bug and ended: %s\n  please report this line with the command and the version %s at https://github.com/callvet/callvet/issues\n  at: %s",
		strings.Join(strings.Fields(p.Error()), " "), version, strings.Join(places(p.Stack), " < "))
	if verbose {
		b.WriteString("\n" + string(p.Stack))
	} else {
		b.WriteString("\n  --verbose shows the whole stack")
	}
	return b.String()
}

// places are the innermost functions of callvet from where a stack panicked.
func places(stack []byte) []string {
	text := string(stack)
	if _, after, ok := strings.Cut(text, "\npanic("); ok {
		text = after
	}
	owners := []string{"group.go", "prefetch.go", "sleep.go"} // their frames show nothing
	var out []string
	for _, m := range frame.FindAllStringSubmatch(text, -1) {
		if m[1] == "github.com/callvet/callvet/internal/sys" && slices.Contains(owners, path.Base(m[3])) {
			continue
		}
		out = append(out, fmt.Sprintf("%s%s (%s:%s)", path.Base(m[1]), m[2], path.Base(m[3]), m[4]))
		if len(out) == maxFrames {
			break
		}
	}
	if out == nil {
		out = []string{"a place outside of callvet's code"}
	}
	return out
}
