// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

// Package tree is what the dialects of suite files share: a document as JSON
// text with positions (Source, Node), reading it with problems that name line
// and nearest key (Reader, Object), writing and overlaying it (Record,
// Overlay), and the parts that several formats have in common (tools, chat
// messages, frames).
//
// It knows no format and does no I/O.
package dialect
