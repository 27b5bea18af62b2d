// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

// Package typed answers one question: does this JSON value have the form of a Go
// type, and if not, what is wrong, in words of the file?
//
// Of compiles the form of a type from its json tags. Check compares a value with
// it, Read also fills a Go value, Decode does both with a whole text. What is
// wrong is a Wrong: the key with its path ("judged[0].judge"), what is there,
// what must be there, and the known key that may have been meant. No name of a
// Go type is in it.
//
// A field is described by two tags. json gives its name, as in encoding/json;
// names are compared exactly. form, where there is one, lists more, separated by
// spaces: "required"; "whole", which is implied by integer types; "min=N" and
// "max=N" for numbers; "words=a|b|c" for a string with few values; "full" for a
// string that must not be empty; "scalar" for one that may also be written as a
// number or a boolean. Of lists, maps and pointers they are about what these hold.
//
// Null stands for "absent" where a Go value can be nil; for other types it is an
// error, unless the Type says otherwise (WithNulls). An element of a list is never absent.
//
// It opens no files. Rules between several fields are the caller's.
package doc
