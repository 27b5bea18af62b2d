// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package child

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync/atomic"
)

// familyVariable is the variable that marks the processes of a family: words, one for each callvet
// that they run under.
const familyVariable = "CALLVET_ATTEMPT"

// Families distinguishes the processes of different commands. The zero value is ready; it must not
// be copied.
type Families struct{ count atomic.Int64 }

// Family are a process and all that it starts.
type Family struct{ word string }

// New makes a family, and its environment out of env (NAME=VALUE).
func (f *Families) New(env []string) (Family, []string) {
	word := fmt.Sprintf("%d-%p-%d", os.Getpid(), f, f.count.Add(1))
	out, words := make([]string, 0, len(env)+1), word
	for _, e := range env {
		if outer, ok := strings.CutPrefix(e, familyVariable+"="); ok { // this callvet is a part of an agent
			words = outer + " " + word
			continue
		}
		out = append(out, e)
	}
	return Family{word}, append(out, familyVariable+"="+words)
}

// Own is called before the process starts: it gets a group of its own.
func (Family) Own(cmd *exec.Cmd) { ownGroup(cmd) }

// End kills the process, which was started, and whatever it has started. On Linux none
// leaves its family by leaving its group; elsewhere such a one stays.
func (f Family) End(cmd *exec.Cmd) error {
	defer endFamily(f.word)
	return killGroup(cmd)
}
