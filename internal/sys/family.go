// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package sys

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync/atomic"
)

// familyVariable is the environment variable that marks the processes of a family: a list of words,
// one for each callvet that they run under.
const familyVariable = "CALLVET_ATTEMPT"

// ProcessFamilies distinguishes the processes of different commands. The zero value is ready; it must not
// be copied.
type ProcessFamilies struct{ count atomic.Int64 }

// ProcessFamily is a process and all processes that it starts.
type ProcessFamily struct{ word string }

// New makes a family, and its environment from env (NAME=VALUE).
func (f *ProcessFamilies) New(env []string) (ProcessFamily, []string) {
	word := fmt.Sprintf("%d-%p-%d", os.Getpid(), f, f.count.Add(1))
	out, words := make([]string, 0, len(env)+1), word
	for _, e := range env {
		if outer, ok := strings.CutPrefix(e, familyVariable+"="); ok { // this callvet is a part of an agent
			words = outer + " " + word
			continue
		}
		out = append(out, e)
	}
	return ProcessFamily{word}, append(out, familyVariable+"="+words)
}

// Own puts the process in a group of its own. It is called before the process starts.
func (ProcessFamily) Own(cmd *exec.Cmd) { ownGroup(cmd) }

// End kills the started process and all processes that it started. On Linux a process cannot leave
// its family by leaving its group; on other systems such a process stays.
func (f ProcessFamily) End(cmd *exec.Cmd) error {
	defer endFamily(f.word)
	return killGroup(cmd)
}
