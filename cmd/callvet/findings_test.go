// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package main

import (
	"regexp"
	"testing"

	"github.com/callvet/callvet/panel"
)

// TestFixesHaveCommands: each entry of the playbook names a command of callvet that does its fix, and
// every command that it names parses.
func TestFixesHaveCommands(t *testing.T) {
	t.Parallel()
	command := regexp.MustCompile("`callvet ([^`]*)`")
	for _, p := range panel.Plays() {
		if p.Code == "" || p.Title == "" || p.Unit == "" || p.Test == "" || panel.Playbook(p.Code) != p {
			t.Errorf("%+v", p)
		}
		if !command.MatchString(p.Fix) {
			t.Errorf("%s: the fix names no command: %s", p.Code, p.Fix)
		}
		for _, m := range command.FindAllStringSubmatch(p.Test+" "+p.Fix, -1) {
			if err := parses(m[1]); err != nil {
				t.Errorf("%s: callvet %s: %v", p.Code, m[1], err)
			}
		}
	}
}
