// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package main

import (
	"context"
	"fmt"
	"os"

	"github.com/callvet/callvet/cmd/callvet-verify/proof"
)

// agents compares what callvet reads from real agents and frameworks with what they did:
// three calls, two of them at once, one that fails, in three requests of the model. The
// agents run where npm can install them; CALLVET_CAPTURES names a folder with further
// captures of the same kinds.
func agents(ctx context.Context, c *proof.Check, p place) error {
	captures := os.Getenv("CALLVET_CAPTURES")
	if captures != "" {
		if _, err := os.Stat(captures); err != nil {
			return fmt.Errorf("read captures: %w", err)
		}
	}
	return overHTTP(ctx, c, p.real, captures)
}
