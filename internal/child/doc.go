// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

// Package child says how a command of a user is started so that it ends with all that it has
// started: agents that are commands, and scorers. It knows nothing of what they say.
package child
