// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

// Package toolfile reads the contracts of tools. It answers: which tools, in
// which versions, does this folder or file declare?
//
// Load takes a folder of files such as get_refund_policy.v3.json, as Evaluating
// Tool Calling, "Tool schema (contract)", keeps them, or one file in any form
// that tools are written in: a tool, a list, a suite, a request to a model, an
// answer of an MCP server; JSON, with comments, or YAML. What a file cannot mean
// is a problem with its line. Schema is the published JSON Schema of a tool file.
//
// It does not validate arguments, and it fetches nothing.
package suite
