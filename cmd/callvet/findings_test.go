// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package main

import (
	"regexp"
	"testing"

	"github.com/callvet/callvet/panel"
)

// command is one of callvet in a text.
var command = regexp.MustCompile("`callvet ([^`]*)`")

// TestFixesHaveCommands: each entry of the playbook, and each recommendation of a selection report,
// names a command of callvet that does its fix, and every command that it names parses.
func TestFixesHaveCommands(t *testing.T) {
	t.Parallel()
	mends := func(code, fix, all string) {
		if !command.MatchString(fix) {
			t.Errorf("%s: the fix names no command: %s", code, fix)
		}
		for _, m := range command.FindAllStringSubmatch(all, -1) {
			if err := parses(m[1]); err != nil {
				t.Errorf("%s: callvet %s: %v", code, m[1], err)
			}
		}
	}
	for _, p := range panel.Plays() {
		if p.Code == "" || p.Title == "" || p.Unit == "" || p.Test == "" || panel.Playbook(p.Code) != p {
			t.Errorf("%+v", p)
		}
		mends(p.Code, p.Fix, p.Test+" "+p.Fix)
	}
	for code, text := range panel.RoutingAdvice() {
		mends(code, text, text)
	}
}
