// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/verify/proof"
)

// agents compares callvet's reading of real agents and frameworks with their real work: three
// calls, two of them at once, one that fails, in three requests to the model. The agents run if
// npm can install them; CALLVET_CAPTURES names a folder with further captures of the same kinds.
func agents(ctx context.Context, c *proof.Check, p place) error {
	captures := os.Getenv("CALLVET_CAPTURES")
	if captures != "" {
		if _, err := os.Stat(captures); err != nil {
			return fmt.Errorf("read captures: %w", err)
		}
	}
	if captures != "" {
		if err := readCaptures(c, captures); err != nil {
			return err
		}
	}
	dir, err := installAgents(ctx, p.real, filepath.Join(".cache", "real"))
	if err != nil {
		return err
	}
	shapes, err := overHTTP(ctx, c, dir)
	if err != nil {
		return err
	}
	sdks, err := telemetry(ctx, c, dir)
	if err != nil {
		return err
	}
	return errors.Join(httpTable(shapes).write(strings.Join(p.args, "")),
		telemetryTable(sdks).write(strings.Join(p.args, "")))
}

// readCaptures compares the captures of both kinds in a folder.
func readCaptures(c *proof.Check, dir string) error {
	files, err := capturesOverHTTP(dir)
	if err != nil {
		return err
	}
	c.Due(theCaptures, len(files), dir)
	if len(files) > 0 {
		c.Printf("%-46s %-7s %-9s %-7s %-7s %s\n", "answers of agents", "calls", "results", "error", "rounds", "tokens")
	}
	for _, f := range files {
		readCapture(c, f)
	}
	list, err := capturesOfSpans(dir)
	if err != nil {
		return err
	}
	if len(list) > 0 {
		telemetryHead(c)
	}
	for _, cp := range list {
		cp.compare(c)
	}
	if len(files)+len(list) == 0 {
		return fmt.Errorf("read captures: %s holds none that is known: %w", dir, callvet.ErrNotFound)
	}
	return nil
}
