// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

// Package lint looks at a catalogue by itself: Lint says what keeps its tools from being
// found or told apart, FindConfusable which pairs are most alike, or were confused in a run.
package catalog
