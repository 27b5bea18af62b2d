// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package dialect

// reader reads a file of any dialect: toolsuite, forge, … are its methods.
type reader struct{ *Reader }

func newReader(src *Source, opt ReaderOptions) *reader { return &reader{NewReader(src, opt)} }
