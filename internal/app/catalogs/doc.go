// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

// Package catalogs answers one question: what can be done with a catalogue of tools?
//
//	SelectRequest ─► Query, StartSelect, RunSweep, DrawCurve, Tune, Learn    search: one question, runs, settings
//	               LintTools, Confusable, Suggest, WhatIf, Apply             edits of names and descriptions
//	               ImportMCP, ServeMCP, ProxyMCP                             tools of MCP servers, real and mocked
//
// A function that sends requests to models makes runs (runs.Asker), which the client shows with
// runs.Conclude.
package catalogs
