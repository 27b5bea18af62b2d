// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

// Package walk counts how often the arguments of a call are parsed on their way from the wire to a report. Its test
// builds the command with parsers that log their input, and connects it to a model server over a real connection.
package walk
