// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

// Package child answers one question: how does a user's command (an agent or a scorer) end with all
// processes that it has started? It does not read their output.
package child
