// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

// Package rows answers one question: what do the server's tables hold?
//
// All but this file is made by sqlc from the SQL in internal/store/schema and
// internal/store/query (make generate), where the comments are. Each statement is a method, each
// table a struct.
package rows
