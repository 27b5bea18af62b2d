// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

// Package selection answers one question: what is a router's or retriever's
// decision worth, and at which layer did it go wrong? Judge holds a
// callvet.Decision against a callvet.Selection; Of derives a Selection from what a
// case expects of calls. Settings are the weights of the layers and the depths of
// ranks.
//
// Layers that the case does not ask about, or that the target does not decide, are
// not judged and have no weight, so that no score is capped by them.
//
// The package does not retrieve and knows no catalog: a tool that does not exist is
// a wrong tool. Source: Tool Selection Evaluation System.
package score
