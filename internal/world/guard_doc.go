// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

// Package guard answers one question: may this call be executed, and may the target
// be shown what came of it?
//
//	call ─► Guard.Before ─► world ─► Guard.After ─► target
//	           │ safety.Checker.Pending    │ safety.Checker.Result
//	           │ breaker, backoff, rate    │ breaker, time limit
//	           └── every decision is a callvet.Ruling in the trace ──┘
//
// A Policy is one file with the rules of score/safety and what to do about each. Guards
// makes a Guard for each attempt; tools that are really called share what is known of their
// failures and rates, mocks and recordings do not, and their time is what they say it is.
// A Guard also checks the addresses that live tools connect to, after their names were resolved.
//
// The guard has no rules of its own: what it denies is what score/safety would call an
// incident. It executes nothing and knows no protocol.
package world
