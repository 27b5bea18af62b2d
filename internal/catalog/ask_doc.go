// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

// Package ask puts one question to a catalogue or to a service, and says what decided: the
// route and why, the tools with the words that they share with the question, and why an
// expected tool lost. Explain says the same of the failed cases of a run.
package catalog
