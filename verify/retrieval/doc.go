// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

// Package retrieval answers one question: how good is package retrieve on published catalogs?
// It compares BM25 with recorded figures and scores, and the presets with recorded rankings of
// BM25.
package retrieval
