// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package results

import (
	"fmt"

	"github.com/callvet/callvet/internal/app"
	"github.com/callvet/callvet/internal/trace"
	"github.com/callvet/callvet/internal/trace/foreign"
)

// WholeAttempts reads the attempts of a trace file of any form, one by one.
func WholeAttempts(a *app.App, name string, do func(*trace.Attempt) error) error {
	f, err := a.Config.Files.Open(name)
	if err != nil {
		return fmt.Errorf("read traces: %w", err)
	}
	defer f.Close()
	imp, own, err := app.Importer(f)
	if err == nil && own {
		imp, err = foreign.Open(f, foreign.Options{Format: foreign.Contract})
	}
	if err != nil {
		return fmt.Errorf("read traces %s: %w", name, err)
	}
	for at, err := range imp.Attempts() {
		if err != nil {
			return fmt.Errorf("read traces %s: %w", name, err)
		}
		if err := do(&at); err != nil {
			return err
		}
	}
	return nil
}
