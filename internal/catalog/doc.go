// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

// Package catalog answers one question: how well do questions find the tools of a catalogue, and
// which changes would find them better?
//
// Settings are the settings in a target or a request; Search is a catalogue with settings; Env.Open
// returns a retriever. The verbs of `select` and `tools` use them: Query asks one question and
// explains why a tool lost. RunSweep and CurveFor measure the quality of the search as the
// catalogue grows. Tune and Learn find weights and routes. Lint and FindConfusable check the texts.
// WhatIf, Suggest and Propose measure other texts, and ApplyRequest writes them.
//
// A catalogue is also a target: OpenRetriever serves it as a callvet.Model and OpenRemote asks a
// service over HTTP. Both receive the last user message and the number of tools, but nothing
// about the expectations of the case.
//
// A request is a plain struct and a result is data. The package reads and writes through Env
// alone: it has no flag, no terminal, no environment and no path of its own. Runs are made by the
// evaluation loop.
package catalog
