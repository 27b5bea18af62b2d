// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package sys

import (
	"bytes"
	"os"
	"strconv"
	"strings"
)

// maxRounds is how often processes are looked for: they may start others meanwhile,
// and one that was killed takes a moment to end.
const maxRounds = 100

// endFamily kills every process that has the word in its environment. A process that starts a
// session of its own or loses its parent stays in its family; only one that clears its environment
// leaves it.
func endFamily(word string) {
	for range maxRounds {
		found := false
		for _, pid := range processes() {
			if !ofFamily(pid, word) {
				continue
			}
			p, err := os.FindProcess(pid) // a handle of the process, which stays valid when the number is reused
			if err != nil {
				continue
			}
			if ofFamily(pid, word) {
				found = true
				_ = p.Kill()
			}
			_ = p.Release()
		}
		if !found {
			return
		}
	}
}

// processes are the numbers of all processes.
func processes() []int {
	d, err := os.Open("/proc")
	if err != nil {
		return nil
	}
	defer d.Close()
	names, _ := d.Readdirnames(-1)
	var out []int
	for _, name := range names {
		if n, err := strconv.Atoi(name); err == nil {
			out = append(out, n)
		}
	}
	return out
}

// ofFamily reports whether a process was started with the word.
func ofFamily(pid int, word string) bool {
	b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/environ")
	if err != nil {
		return false // it has ended, or belongs to another user
	}
	for entry := range bytes.SplitSeq(b, []byte{0}) {
		if words, ok := strings.CutPrefix(string(entry), familyVariable+"="); ok {
			for w := range strings.FieldsSeq(words) {
				if w == word {
					return true
				}
			}
		}
	}
	return false
}
