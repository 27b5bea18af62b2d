// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/callvet/callvet/cmd/callvet-verify/journeys"
)

// walk goes through whole journeys of a user with the binary.
func walk(ctx context.Context, out io.Writer, binary string) (ok bool, err error) {
	dir, err := os.MkdirTemp("", "journeys")
	if err != nil {
		return false, fmt.Errorf("walk journeys: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	r, err := journeys.Walk(ctx, journeys.Config{Binary: binary, Dir: dir, Out: out})
	if err != nil {
		return false, fmt.Errorf("walk journeys: %w", err)
	}
	fmt.Fprintf(out, "journeys: %d of %d journeys, %d commands run\n%d of %d checks hold\n", r.Journeys, journeys.Expected(), r.Steps, r.Checks-len(r.Failures), r.Checks)
	return len(r.Failures) == 0 && r.Journeys == journeys.Expected(), nil
}
