// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

// Package effect compares a catalogue with edited texts with the one that is, question by
// question: which are newly right or wrong, which tool took them from which, and whether
// that is more than chance. It is given what both sides answered, by a retriever or by
// models, and asks nobody.
package catalog
