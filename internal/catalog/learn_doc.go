// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

// Package learn takes from questions with known answers what makes a catalogue be searched
// better: Tune looks for weights on one part of a suite and compares them on the other,
// Learn makes routes of examples. Caution tells what such questions flatter, and what of
// a suite can never be right.
package catalog
