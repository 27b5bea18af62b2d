// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

// Package catalog says how a catalogue of tools is searched. Settings are the spelling of a
// target and of a request, with the weights of a file and the confidence under which
// nothing is given; Search names what is searched; Env.Open gives a retriever that
// does so, and Changed tells whether a stored run read the files that are there now.
//
// What `select` and `tools` are asked for stands on it: packages ask, sweep, learn, lint
// and edit. A request is a plain struct, and what comes out is data: a command line, a
// server and a worker call the same functions. They read and write by way of Env alone, and
// know no flag, no terminal, no environment and no path of the machine that they run on.
// Runs are made by the one evaluation loop.
package catalog
