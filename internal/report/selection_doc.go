// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

// Package selection answers one question: how is it told what a router or retriever
// decides? Terminal, Markdown and HTML write a routing.Section as the part of a
// report; all three write the same tables.
//
// It computes nothing. Names of tools and questions are untrusted texts.
package report
