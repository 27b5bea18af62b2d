// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package redact

import (
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/callvet/callvet"
)

// IsWebAddress reports whether a text is meant as an http or https address.
func IsWebAddress(address string) bool {
	return strings.HasPrefix(address, "http://") || strings.HasPrefix(address, "https://")
}

var variable = regexp.MustCompile(`\$\{[^}]*\}`)

// Variables are the names in ${NAME} of a text, each once, in their order.
func Variables(text string) []string {
	var out []string
	for _, m := range variable.FindAllString(text, -1) {
		if name := m[2 : len(m)-1]; !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	return out
}

// WithoutVariables is a text without its ${NAME}.
func WithoutVariables(text string) string { return variable.ReplaceAllString(text, "") }

// FillVariables replaces each ${NAME} by the result of value. The values are not searched for
// names. An error of value is returned unchanged; a ${ without its } wraps callvet.ErrInvalid.
func FillVariables(text string, value func(name string) (string, error)) (string, error) {
	var b strings.Builder
	for {
		before, rest, found := strings.Cut(text, "${")
		b.WriteString(before)
		if !found {
			return b.String(), nil
		}
		name, after, closed := strings.Cut(rest, "}")
		if !closed {
			return "", fmt.Errorf("%q is not closed: %w", "${"+rest, callvet.ErrInvalid)
		}
		v, err := value(name)
		if err != nil {
			return "", err
		}
		b.WriteString(v)
		text = after
	}
}

// FillAddress is FillVariables for an address: in its query the values are escaped.
func FillAddress(address string, value func(name string) (string, error)) (string, error) {
	path, query, asks := strings.Cut(address, "?")
	path, err := FillVariables(path, value)
	if err != nil || !asks {
		return path, err
	}
	query, err = FillVariables(query, func(name string) (string, error) {
		v, err := value(name)
		return url.QueryEscape(v), err
	})
	return path + "?" + query, err
}

// EmptyVariable is the error of a variable of the environment that has no value. It wraps
// callvet.ErrDenied.
func EmptyVariable(name string) error {
	return callvet.Unset(fmt.Errorf("%w: $%s is empty", callvet.ErrDenied, name), name)
}
