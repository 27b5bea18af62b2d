// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

// Package report answers one question: how is a run told to a person, a build
// and a program? It turns a View (what a run was, its panels, its attempts) into
// faces: terminal, HTML, Markdown, JUnit, JSON, JSON lines and CSV.
//
// Its types are View and Row, the input of every face; Face, a writer chosen by
// ByPath; and Progress, the live line on standard error.
//
// Every text that came from a model, a tool or a suite is untrusted: each face
// makes control characters and direction overrides visible and escapes for its
// own format. Nothing is told by color alone and no rate is shown without its
// interval. The package computes no number, opens no file and reads no
// environment. Attempts are streamed: what a face holds is bounded.
package report
