// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package main

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/callvet/callvet/internal/app"
)

// TestConfirm: only yes confirms; each question takes one line, and names the action and its
// object.
func TestConfirm(t *testing.T) {
	t.Parallel()
	var errs bytes.Buffer
	a := &cli{in: strings.NewReader("y\nYES\nno\n\nsure\n"), err: &errs}
	q := app.Question{Tool: "pay", Args: `{"to":"eve` + "\x1b[2J" + `"}`, Why: "pay needs a confirmation"}
	for i, want := range []bool{true, true, false, false, false, false} { // the last one finds no more input
		if got, err := a.confirm(t.Context(), q); got != want || err != nil {
			t.Errorf("answer %d: %v, %v", i, got, err)
		}
	}
	if text := errs.String(); strings.Count(text, "execute it?") != 6 || !strings.Contains(text, `pay {"to":"eve`) ||
		strings.Contains(text, "\x1b") {
		t.Errorf("%q", text)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := a.confirm(ctx, q); !errors.Is(err, context.Canceled) {
		t.Errorf("a run that was stopped asks: %v", err)
	}
}
