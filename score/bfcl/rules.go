// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package bfcl

import "strings"

// Edition is a published state of the rules.
type Edition uint8

// The editions. They differ in dictionaries: in August 2024 a dictionary had to have exactly as
// many keys as the answer, and an answer's dictionary could contain a dictionary.
const (
	V4 Edition = iota // November 2025
	V1                // August 2024
)

// Language selects how argument texts become values.
type Language uint8

// The languages of BFCL's categories.
const (
	Python Language = iota
	Java
	JavaScript
)

// Rules are the settings of a comparison. The zero value is Python under V4.
type Rules struct {
	Edition  Edition
	Language Language
}

// Profiles of callvet.Scoring that select these rules.
const (
	Profile   = "bfcl"
	ProfileV1 = "bfcl-v1"
)

// RulesFor reads Scoring.Profile and Scoring.Language; ok is false for a different profile.
func RulesFor(profile, language string) (r Rules, ok bool) {
	switch profile {
	case Profile:
	case ProfileV1:
		r.Edition = V1
	default:
		return r, false
	}
	switch strings.ToLower(language) {
	case "java":
		r.Language = Java
	case "javascript":
		r.Language = JavaScript
	}
	return r, true
}

// ErrorType is the leaderboard's name for an error; "" means a valid call.
type ErrorType string

// The error types of one call.
const (
	OK              ErrorType = ""
	WrongName       ErrorType = "simple_function_checker:wrong_func_name"
	MissingRequired ErrorType = "simple_function_checker:missing_required"
	MissingOptional ErrorType = "simple_function_checker:missing_optional"
	Unexpected      ErrorType = "simple_function_checker:unexpected_param"
	WrongType       ErrorType = "type_error:simple"
	WrongNested     ErrorType = "type_error:nested"
	WrongJava       ErrorType = "type_error:java"
	WrongJavaScript ErrorType = "type_error:js"
	WrongString     ErrorType = "value_error:string"
	WrongList       ErrorType = "value_error:list/tuple"
	WrongDictItems  ErrorType = "value_error:dict_items"
	WrongDictKey    ErrorType = "value_error:dict_key"
	WrongDictValue  ErrorType = "value_error:dict_value"
	WrongListCount  ErrorType = "value_error:list_dict_count"
	WrongOther      ErrorType = "value_error:others"
	UnclearDict     ErrorType = "dict_checker:unclear"
	UnclearListDict ErrorType = "list_dict_checker:unclear"
	// NotAnObject has no counterpart: the leaderboard's checker stops there.
	NotAnObject ErrorType = "callvet:arguments_not_an_object"
)

// The error types of a whole case.
const (
	CountSimple   ErrorType = "simple_function_checker:wrong_count"
	CountMultiple ErrorType = "multiple_function_checker:wrong_count"
	CountParallel ErrorType = "parallel_function_checker_no_order:wrong_count"
	NoMatch       ErrorType = "parallel_function_checker_no_order:cannot_find_match"
	// CalledAnyway is a call where none was expected; NotCalled is a missing call.
	CalledAnyway ErrorType = "irrelevance_error:decoder_success"
	NotCalled    ErrorType = "relevance_error:decoder_failed"
	// NotDecoded is an output from which no calls could be read.
	NotDecoded ErrorType = "ast_decoder:decoder_failed"
)
