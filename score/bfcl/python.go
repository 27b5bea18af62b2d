// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package bfcl

import (
	"bytes"
	"math/big"
	"strconv"

	"github.com/callvet/callvet/value"
)

// pyType is the Python type that a JSON value decodes to.
type pyType uint8

const (
	pyUnset pyType = iota
	pyNone
	pyBool
	pyInt
	pyFloat
	pyStr
	pyList
	pyDict
	pySet // declared only; no value has it
)

func typeOf(v value.Value) pyType {
	switch v.Kind() {
	case value.Null:
		return pyNone
	case value.Bool:
		return pyBool
	case value.String:
		return pyStr
	case value.Array:
		return pyList
	case value.Object:
		return pyDict
	case value.Number:
		if v.Decimal() {
			return pyFloat
		}
		return pyInt
	}
	return pyUnset
}

// declared maps a parameter's declared type to the Python type its value must
// have; pyUnset when the language does not know the type.
func declared(l Language, name string) pyType {
	switch l {
	case Java:
		return declaredJava(name)
	case JavaScript:
		return declaredJavaScript(name)
	}
	switch name {
	case "string", "any":
		return pyStr
	case "integer":
		return pyInt
	case "float", "number":
		return pyFloat
	case "boolean":
		return pyBool
	case "array", "tuple":
		return pyList
	case "dict", "object":
		return pyDict
	}
	return pyUnset
}

func declaredJava(name string) pyType {
	switch name {
	case "byte", "short", "integer", "long":
		return pyInt
	case "float", "double":
		return pyFloat
	case "boolean":
		return pyBool
	case "char", "String", "any":
		return pyStr
	case "Array", "ArrayList", "Queue", "Stack":
		return pyList
	case "HashMap", "Hashtable":
		return pyDict
	case "Set":
		return pySet
	}
	return pyUnset
}

func declaredJavaScript(name string) pyType {
	switch name {
	case "String", "any":
		return pyStr
	case "integer", "Bigint":
		return pyInt
	case "float":
		return pyFloat
	case "Boolean":
		return pyBool
	case "dict":
		return pyDict
	case "array":
		return pyList
	}
	return pyUnset
}

// equal is Python's ==: numbers and booleans compare by value across types, strings character by
// character, lists in order, dictionaries by key. asFloat: an integer b is converted to a float
// first.
func equal(a, b value.Value, asFloat bool) bool {
	ta, tb := typeOf(a), typeOf(b)
	if numeric(ta) && numeric(tb) {
		return equalNumbers(a, b, ta, tb, asFloat)
	}
	if ta != tb {
		return false
	}
	switch ta {
	case pyList:
		if a.Len() != b.Len() {
			return false
		}
		y, _ := b.First()
		for x, ok := a.First(); ok; x, ok = a.Next(x) {
			if !equal(x, y, false) {
				return false
			}
			y, _ = b.Next(y)
		}
		return true
	case pyDict:
		if a.Len() != b.Len() {
			return false
		}
		for x, ok := a.First(); ok; x, ok = a.Next(x) {
			y, found := b.Get(x.Key())
			if !found || !equal(x, y, false) {
				return false
			}
		}
		return true
	}
	return value.Equal(a, b)
}

func numeric(t pyType) bool { return t == pyBool || t == pyInt || t == pyFloat }

func equalNumbers(a, b value.Value, ta, tb pyType, asFloat bool) bool {
	if bytes.Equal(a.Raw(), b.Raw()) {
		return true
	}
	if asFloat && tb == pyInt {
		tb = pyFloat
	}
	if ta != pyFloat && tb != pyFloat {
		return value.CompareNumbers(integer(a, ta), integer(b, tb)) == 0
	}
	x, y := float(a, ta), float(b, tb)
	if x != y {
		return false
	}
	if ta == pyFloat && tb == pyFloat {
		return true
	}
	// An integer equals a float only when it is exactly that number.
	f, n := x, integer(b, tb)
	if tb == pyFloat {
		f, n = y, integer(a, ta)
	}
	if len(n) <= 15 {
		return true
	}
	exact, _ := new(big.Float).SetFloat64(f).Int(nil)
	return exact != nil && exact.String() == string(n)
}

func integer(v value.Value, t pyType) []byte {
	if t != pyBool {
		return v.Raw()
	}
	if v.Bool() {
		return []byte("1")
	}
	return []byte("0")
}

func float(v value.Value, t pyType) float64 {
	if t == pyBool {
		if v.Bool() {
			return 1
		}
		return 0
	}
	f, _ := strconv.ParseFloat(string(v.Raw()), 64) // out of range gives ±Inf, as in Python
	return f
}
