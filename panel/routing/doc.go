// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

// Package routing answers one question: what do the decisions of a router or
// retriever say together, and what should its owner look at first? A Collector takes
// attempts with a callvet.Decision, case by case; its Section holds the layers with
// their latency, the classes of matches, tags that fail more than others, the failed
// cases and recommendations.
//
// Rates and their intervals are those of package panel, never computed again here.
// Why a tool lost is asked of whoever has the index.
package routing
