// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package main

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/callvet/callvet/verify/journeys"
	"github.com/callvet/callvet/verify/proof"
)

// walk checks whole journeys of a user with the binary.
func walk(ctx context.Context, c *proof.Check, binary string) (err error) {
	c.Due("journeys", journeys.Expected(false), "the list of journeys")
	dir, err := os.MkdirTemp("", "journeys")
	if err != nil {
		return fmt.Errorf("walk journeys: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	r, err := journeys.Walk(ctx, journeys.Config{Binary: binary, Dir: dir, Out: c.Out()})
	if err != nil {
		return fmt.Errorf("walk journeys: %w", err)
	}
	c.Printf("%d journeys, %d commands run\n", r.Journeys, r.Steps)
	c.Agree("journeys", r.Journeys)
	c.Due("checks", r.Checks, "the journeys that were walked")
	c.Agree("checks", r.Checks-len(r.Failures))
	for i, f := range r.Failures {
		c.Compare("checks", fmt.Sprint(i+1), false, "%s", f)
	}
	return nil
}
