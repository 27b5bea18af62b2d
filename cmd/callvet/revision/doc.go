// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

// Package revision answers one question: what do the commands do that change the
// texts of a catalog? WhatIf holds edits against the catalog as it is, case by case;
// Suggest asks a model for descriptions and measures them on questions that it has not
// seen; apply writes a catalog with the edits that a person accepted.
//
// Edits and their checks are package retrieve/revise's, the paired tests those of
// package panel; models are asked by the one evaluation loop.
package revision
