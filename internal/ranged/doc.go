// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

// Package ranged answers one question: which values may a flag have?
//
// Its values refuse what is out of range, with an error that names a valid form.
package ranged
