// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

// Package curve answers one question: what becomes of models as the catalog grows,
// with the tools that were retrieved for them and with all? Of reads it off a run
// whose cases carry an Asked, which says what each was made of.
//
// Who retrieves and which cases there are is package selector's; the run is made and
// kept by the one evaluation loop.
package curve
