// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

// Package judging answers one question: what did judges and people say about attempts?
//
// List and Show give the judgings of a run with their verdicts. Audit asks a judge about changed answers, to measure
// its biases. LabelNext chooses what a person should label next; LabelImport, LabelExport and LabelStamp read, write
// and bind labels.
package judging
