// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package redact

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/callvet/callvet"
)

func TestFill(t *testing.T) {
	t.Parallel()
	values := map[string]string{"HOST": "h:1", "KEY": "a&b c", "OTHER": "${HOST}"}
	value := func(name string) (string, error) {
		if v := values[name]; v != "" {
			return v, nil
		}
		return "", EmptyVariable(name)
	}
	for _, c := range []struct {
		text, want, address string
		err                 error
	}{
		{"", "", "", nil},
		{"http://h/x?a=1", "http://h/x?a=1", "http://h/x?a=1", nil},
		{"http://${HOST}/${HOST}?k=${KEY}", "http://h:1/h:1?k=a&b c", "http://h:1/h:1?k=a%26b+c", nil},
		{"${OTHER}$HOST}", "${HOST}$HOST}", "${HOST}$HOST}", nil}, // a value is not searched again
		{"http://h/?k=${NONE}", "", "", callvet.ErrDenied},
		{"http://${}/", "", "", callvet.ErrDenied},
		{"http://${HOST", "", "", callvet.ErrInvalid},
	} {
		got, err := FillVariables(c.text, value)
		if got != c.want || !errors.Is(err, c.err) {
			t.Errorf("%s: %q, %v", c.text, got, err)
		}
		if got, err = FillAddress(c.text, value); !errors.Is(err, c.err) || err == nil && got != c.address {
			t.Errorf("the address %s: %q, %v", c.text, got, err)
		}
	}
}

func TestVariables(t *testing.T) {
	t.Parallel()
	const text = "a ${B} ${A_1}${B} $C {D} ${E"
	if d := cmp.Diff([]string{"B", "A_1"}, Variables(text)); d != "" {
		t.Error(d)
	}
	if got := WithoutVariables(text); got != "a   $C {D} ${E" {
		t.Errorf("%q", got)
	}
}
