// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

// Package scorer asks programs what attempts are worth: commands of a suite, and its JavaScript
// and Python, which node and python3 run by a text that is a part of callvet.
//
//	attempt ─► a line of JSON ─► a process ─► a line of JSON ─► Opinion, or why there is none
//
// A process answers one attempt after the other; there are as many of a command as attempts are
// judged at once. One that dies, is too slow or answers with what cannot be read is ended, with
// all that it has started, and another one is started for the next attempt.
package judge
