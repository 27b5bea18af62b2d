// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

// Package better writes for a terminal what would make a catalogue better: weights that
// were tuned, routes that were learned, texts that were edited or suggested, and what each
// of them does to questions that it was not made of. Each function takes a result and a
// writer. What files, tools and models say is escaped.
package report
