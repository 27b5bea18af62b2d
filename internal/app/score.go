// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package app

import (
	"context"
	"errors"
	"io"

	"github.com/callvet/callvet/internal/report/plain"
)

// WriteText gives a name text, whole or not at all.
func (a *App) WriteText(ctx context.Context, name string, write func(io.Writer) error) error {
	return a.Config.Files.Write(ctx, name, func(w io.Writer) error {
		text := &plain.Writer{W: w}
		return errors.Join(write(text), text.Flush())
	})
}
