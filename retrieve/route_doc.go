// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

// Package route answers one question: which route does a question belong to, before
// any tool is looked for?
//
// Rules are ordered regular expressions in RE2's syntax whose \b and \w know all
// letters: Go's regexp takes å for a border of words. Default has rules for Swedish and
// English with the routes of the Tool Selection Evaluation System: knowledge, action,
// statistics, smalltalk, compare. Learned learns routes from examples and can tell that
// a question belongs to none. Both say why, or how sure they are.
//
// It finds no tools and asks no model.
package retrieve
