// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

// Package sweep measures how tools are found as a catalogue grows: Run by the retriever
// alone, for several settings and numbers of other tools, CurveFor by models that choose
// among the tools retrieved, and among all. Points are compared case by case.
package catalog
