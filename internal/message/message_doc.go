// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

// Package message reads one message of a conversation in any of the spellings
// that chat formats use, and joins calls with their results.
//
// It answers one question: which turns does this message hold? Turns gives
// them, Call reads a call, Args its arguments, Attach gives calls the results
// that later turns hold. It repairs nothing: arguments that are not JSON stay
// as they were emitted, arguments that are not there stay unknown.
//
// It knows no file format around the messages and no spans.
package message
