// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

// Package live calls real tools: over HTTP, and commands that take one JSON line for each call.
//
// A File says which tools are called, and how. It is written by whoever runs a suite and named on
// the command line; a suite cannot say it, because somebody else may have written it. What a File
// does not list is not called.
//
// New checks a File and fills in what it reads from the environment. Tools.World makes the world of
// one attempt: its commands are its own, so that what one attempt leaves in their memory is not
// there for the next. Close it.
//
// What a tool says is untrusted. Every call has a time, every answer a size, a request is not led
// to another host, and no value that came from the environment is in what World gives. Which
// addresses may be reached is the guard's to say, by the client that it makes; which calls may be
// executed, too.
package world
