// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

// Package retriever answers one question: which route, agents and tools does a
// router or retriever choose for what the user says? Its targets are models whose
// answer is a callvet.Decision: Open serves package retrieve over a catalog, as a
// service would that links it; OpenRemote asks a service over HTTP.
//
// A target is given the last user message and how many tools to give, and nothing of
// what the case expects. The package scores nothing.
package catalog
