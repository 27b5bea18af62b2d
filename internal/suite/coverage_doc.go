// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

// Package coverage tells what the cases of suites do not test: tools without a golden case,
// tools that overlap without an ambiguous case, too few cases that need no tool. It also tells
// of cases that give their answer away, and of labels that are old.
//
// It does not read files, and does not tell how alike tools are: whoever calls it does.
package suite
