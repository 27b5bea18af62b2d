// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

// Package pii answers one question: where does a text contain secrets or personal data of a known
// form?
//
// A Detector returns Findings in a text or in arguments, each with its Kind and its bytes. Findings
// are checked where the kind has a check. These are Luhn for cards, modulo 97 for IBANs, and the
// check digits of the Brazilian CPF, the Spanish DNI and the Swedish personal number.
//
// Names, addresses and other free text are out of its reach. It does not replace
// what it finds (internal/redact does) and does not say whether a value was
// right to be there (score/safety does).
package pii
