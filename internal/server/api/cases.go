// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package api

// InSuite is the prefix of places in the suite that a request changes; other places are in the
// body.
const InSuite = "suite:"
