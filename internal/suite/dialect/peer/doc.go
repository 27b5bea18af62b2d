// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

// Package peer reads and writes suite files of other tools: records of messages
// and tools, and promptfoo configurations. What they say and callvet cannot is
// listed, never dropped in silence.
//
// Import and Export are its whole surface. It is the only dialect package that
// reads files: those a promptfoo configuration names, in its own directory.
package peer
