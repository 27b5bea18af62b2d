// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package sys

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/callvet/callvet"
)

func TestSplit(t *testing.T) {
	t.Parallel()
	for line, want := range map[string][]string{
		`./agent --x 1`:              {"./agent", "--x", "1"},
		` a  'b c' "d \" e" f\ g ''`: {"a", "b c", `d " e`, "f g", ""}, ``: nil,
	} {
		got, err := SplitCommand(line)
		if d := cmp.Diff(want, got); err != nil || d != "" {
			t.Errorf("%q: %v %s", line, err, d)
		}
	}
	if _, err := SplitCommand(`a "b`); !errors.Is(err, callvet.ErrInvalid) {
		t.Error("an open quote was accepted")
	}
}
