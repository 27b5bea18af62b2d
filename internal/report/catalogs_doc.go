// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

// Package catalogs writes for a terminal what catalogues of tools answer and what is in them: answers,
// curves, findings and kept vectors, each by one function from the result to a writer. What
// files, tools and models say is escaped. It computes nothing but what a table needs.
package report
