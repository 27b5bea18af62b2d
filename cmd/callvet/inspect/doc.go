// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

// Package inspect looks at a catalogue of tools by itself. It answers: what keeps its
// tools from being found, and which are easily taken for one another? Findings are the
// problems of one, Confusable the pairs. Expected says what cases expect of it and of its
// routes that nothing can give.
//
// It searches nothing and reads no file.
package inspect
