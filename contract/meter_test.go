// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package contract_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/contract"
	"github.com/callvet/callvet/value"
)

// soon fails a test that works longer than a request may take.
func soon(t *testing.T, since time.Time) {
	t.Helper()
	if took := time.Since(since); took > 20*time.Second { // a second where the machine is idle
		t.Errorf("took %v", took)
	}
}

// chain are definitions d0 to dN, of which each is made of the next one twice.
func chain(combine string, n int, last string) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `"d%d":{%q:[{"$ref":"#/$defs/d%d"},{"$ref":"#/$defs/d%d"}]},`, i, combine, i+1, i+1)
	}
	fmt.Fprintf(&b, `"d%d":%s`, n, last)
	return b.String()
}

// nested is a value that is n levels deep.
func nested(key string, n int) string {
	return strings.Repeat(`{"`+key+`":`, n) + "1" + strings.Repeat("}", n)
}

// TestSchemaWithoutEndDoesNotCompile: the parts of one value are counted before any value is there.
func TestSchemaWithoutEndDoesNotCompile(t *testing.T) {
	t.Parallel()
	for _, combine := range []string{"allOf", "anyOf", "oneOf"} {
		for _, at := range []string{
			`{"properties":{"x":{"$ref":"#/$defs/d0"}},"$defs":{%s}}`,
			`{"$ref":"#/$defs/d0","$defs":{%s}}`, `{"unevaluatedProperties":false,"$ref":"#/$defs/d0","$defs":{%s}}`,
		} {
			start := time.Now()
			s, err := contract.Compile([]byte(fmt.Sprintf(at, chain(combine, 40, `{"type":"string"}`))))
			if s != nil || err == nil || !strings.Contains(err.Error(), callvet.SchemaWithoutEnd) {
				t.Errorf("%s: %v", combine, err)
			}
			soon(t, start)
		}
	}
	if s, err := contract.Compile(
		[]byte(`{"properties":{"x":{"$ref":"#/$defs/d0"}},"$defs":{` + chain("allOf", 8, `{"type":"string"}`) +
			`}}`)); err != nil || !s.Valid(parsed(t, `{"x":"a"}`)) || s.Valid(parsed(t, `{"x":1}`)) {
		t.Errorf("a schema with an end: %v", err)
	}
}

func parsed(t *testing.T, text string) value.Value {
	t.Helper()
	v, err := value.Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// TestUnracedVerdictIsBounded: schemas that compile, and values of which a verdict takes too long.
func TestUnracedVerdictIsBounded(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string][2]string{
		"recursion":          {`{"properties":{"a":{"allOf":[{"$ref":"#"},{"$ref":"#"}]}}}`, nested("a", 60)},
		"recursion, choices": {`{"properties":{"a":{"anyOf":[{"$ref":"#/$defs/n"},{"$ref":"#/$defs/n"}]}},"$defs":{"n":{"required":["z"],"properties":{"a":{"anyOf":[{"$ref":"#/$defs/n"},{"$ref":"#/$defs/n"}]}}}}}`, nested("a", 60)},
		"by the library":     {`{"unevaluatedProperties":false,"properties":{"a":{"allOf":[{"$ref":"#"},{"$ref":"#"}]}}}`, nested("a", 60)},
		"dynamic references": {`{"$dynamicAnchor":"n","properties":{"a":{"allOf":[{"$dynamicRef":"#n"},{"$dynamicRef":"#n"}]}}}`, nested("a", 60)},
		"a long expression": {
			`{"properties":{"a":{"pattern":"(` + strings.Repeat("(a|b|ab)*", 400) + `)c$"}}}`,
			`{"a":"` + strings.Repeat("ab", 200000) + `"}`,
		},
		"a long number": {
			`{"properties":{"a":{"multipleOf":0.7}}}`,
			`{"a":1.` + strings.Repeat("123456789", 40000) + `}`,
		},
		"names of properties": {
			`{"propertyNames":{"pattern":"^(` + strings.Repeat("(a|b|ab)*", 400) + `)c$"}}`,
			`{"` + strings.Repeat("ab", 200000) + `":1}`,
		},
	} {
		s, err := contract.Compile([]byte(tt[0]))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		v := parsed(t, tt[1])
		start := time.Now()
		if valid, known := s.DecideObject(v); valid || known {
			t.Errorf("%s: valid %v, known %v", name, valid, known)
		}
		if bad := s.Check(v); len(bad) != 1 || !bad[0].Unknown() ||
			!strings.Contains(bad[0].Message, callvet.SchemaWithoutEnd) {
			t.Errorf("%s: %+v", name, bad)
		}
		t.Logf("%s: %v", name, time.Since(start))
		soon(t, start)
	}
}

// TestUnracedReasonIsBounded: a value that is known to be invalid, although it takes too long to say why.
func TestUnracedReasonIsBounded(t *testing.T) {
	t.Parallel()
	many := make([]string, 4000)
	for i := range many {
		many[i] = fmt.Sprintf(`{"type":"object","properties":{"k%d":{"const":%d}},"required":["k%d"]}`, i, i, i)
	}
	words := make([]string, 20000)
	for i := range words {
		words[i] = fmt.Sprintf("[%d]", i)
	}
	for name, tt := range map[string][2]string{
		"recursion": {`{"$defs":{"n":{"type":"object","required":["z"],"properties":{"a":{"anyOf":[{"$ref":"#/$defs/n"},{"$ref":"#/$defs/n"}]}}}},"required":["q"],"properties":{"a":{"anyOf":[{"type":"null"},{"type":"object"},{"$ref":"#/$defs/n"},{"$ref":"#/$defs/n"}]}}}`, nested("a", 60)},
		"choices and rows": {
			`{"properties":{"a":{"items":{"anyOf":[` + strings.Join(many, ",") + `]}}}}`,
			`{"a":[` + strings.Repeat(`{"x":1},`, 20000) + `{}]}`,
		},
		"values and rows": {
			`{"properties":{"a":{"items":{"enum":[` + strings.Join(words, ",") + `]}}}}`,
			`{"a":[` + strings.Repeat(`[-1],`, 20000) + `[-1]]}`,
		},
	} {
		s, err := contract.Compile([]byte(tt[0]))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		v := parsed(t, tt[1])
		start := time.Now()
		if valid, known := s.Decide(v); valid || !known {
			t.Errorf("%s: valid %v, known %v", name, valid, known)
		}
		if bad := s.Check(v); len(bad) != 1 || bad[0].Unknown() || bad[0].Message == "" {
			t.Errorf("%s: %+v", name, bad)
		}
		soon(t, start)
	}
}

// TestLargeSchemaCompiles: what a server offers at most is read in a moment.
func TestLargeSchemaCompiles(t *testing.T) {
	t.Parallel()
	var props, names []string
	for i := range 16000 {
		props = append(props, fmt.Sprintf(`"p%d":{"type":"string","format":"date"}`, i))
		names = append(names, fmt.Sprintf(`"p%d"`, i))
	}
	start := time.Now()
	s, err := contract.Compile([]byte(`{"type":"object","properties":{` + strings.Join(props, ",") + `},"required":[` +
		strings.Join(names, ",") + `]}`))
	if err != nil || len(s.Properties()) != 16000 || !s.IsConstrained("p1") {
		t.Fatal(err)
	}
	soon(t, start)
	if !s.Property("p7").Required || s.Valid(parsed(t, `{"p1":"no date"}`)) {
		t.Error("the schema says something else")
	}
}
