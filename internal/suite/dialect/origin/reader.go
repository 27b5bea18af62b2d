// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package origin

import "github.com/callvet/callvet/internal/suite/dialect/tree"

// reader reads this package's dialects.
type reader struct{ *tree.Reader }

func newReader(src *tree.Source, opt tree.Options) *reader { return &reader{tree.NewReader(src, opt)} }
