// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

// Package routing answers one question: how good are the decisions of a router or retriever, and
// what should its owner fix first?
//
// A Collector takes attempts with a callvet.Decision, case by case. Its Section has the layers with
// their latency, the classes of matches, tags that fail more than others, the failed cases and
// recommendations.
//
// Rates and their intervals come from package panel. Why a tool ranked low is explained by the
// owner of the index.
package routing
