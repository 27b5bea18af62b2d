// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

// Package retrieval measures package retrieve on other people's catalogs: BM25 beside
// recorded figures and scores, the presets beside recorded rankings of BM25.
package retrieval
