// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package dialect

import "github.com/callvet/callvet/internal/suite/dialect/tree"

// reader reads a file of any dialect: toolsuite, forge, … are its methods.
type reader struct{ *tree.Reader }

func newReader(src *tree.Source, opt tree.Options) *reader { return &reader{tree.NewReader(src, opt)} }
