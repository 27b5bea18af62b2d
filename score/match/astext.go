// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package match

import (
	"strconv"
	"strings"

	"github.com/callvet/callvet/value"
)

// sameText compares values where one may be the text of the other: 1 and "1", true and "True", an
// object and its JSON. Texts are equal byte for byte; structures are compared member by member.
func sameText(a, b value.Value) bool {
	ka, kb := a.Kind(), b.Kind()
	switch {
	case ka == value.String && kb == value.String:
		return a.Str() == b.Str()
	case ka == value.String:
		return writes(a.Str(), b)
	case kb == value.String:
		return writes(b.Str(), a)
	case ka != kb:
		return false
	case ka == value.Object:
		return a.Len() == b.Len() && sameMembers(a, b)
	case ka == value.Array:
		return a.Len() == b.Len() && sameElements(a, b)
	}
	return value.Equal(a, b)
}

// writes reports whether a text is the JSON or Python text of a value other than a text.
func writes(s string, v value.Value) bool {
	if v.Kind() == value.Bool {
		return strings.EqualFold(s, strconv.FormatBool(v.Bool()))
	}
	w, err := value.Parse([]byte(s))
	return err == nil && w.Kind() != value.String && sameText(w, v)
}

func sameMembers(a, b value.Value) bool {
	for e, more := a.First(); more; e, more = a.Next(e) {
		if other, ok := b.Get(e.Key()); !ok || !sameText(e, other) {
			return false
		}
	}
	return true
}

func sameElements(a, b value.Value) bool {
	other, _ := b.First()
	for e, more := a.First(); more; e, more = a.Next(e) {
		if !sameText(e, other) {
			return false
		}
		other, _ = b.Next(other)
	}
	return true
}
