// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

// Package retrieval holds package retrieve against other people's catalogs: BM25
// against recorded figures and scores, the presets against recorded BM25 rows.
package retrieval
