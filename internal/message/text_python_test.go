// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package message

import (
	"strings"
	"testing"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/value"
)

func callsText(calls []callvet.Call) string {
	var b strings.Builder
	for _, c := range calls {
		b.WriteString(c.Tool + string(c.Args) + " ")
	}
	return strings.TrimSpace(b.String())
}

func TestPythonCalls(t *testing.T) {
	t.Parallel()
	tools := callvet.NewToolset(
		[]callvet.Tool{{Name: "area", Parameters: []byte(`{"properties":{"base":{},"height":{}}}`)}})
	for src, want := range map[string]string{
		`[f(a=1, b='x'), g.h()]`:                               `f{"a":1,"b":"x"} g.h{}`,
		`f(a=-1.5e3, b=.5, c=2., d=1_000, e=0x1F)`:             `f{"a":-1.5e3,"b":0.5,"c":2.0,"d":1000,"e":31}`,
		`f(a=123456789012345678901234567890)`:                  `f{"a":123456789012345678901234567890}`,
		`[f(a=True, b=None, c=false)]`:                         `f{"a":true,"b":null,"c":false}`,
		`[f(a=[1, (2, 'x'), (3)], b={'k': [1], 2: 3})]`:        `f{"a":[1,[2,"x"],3],"b":{"k":[1],"2":3}}`,
		`f(a={1, 2}, b=(), c={}, d=(1,))`:                      `f{"a":[1,2],"b":[],"c":{},"d":[1]}`,
		`f(a='it\'s', b="q\"\n\x41\u00e9", c=r'\d')`:           `f{"a":"it's","b":"q\"\nAé","c":"\\d"}`,
		"f(a='''two\nlines''', b='a' 'b')":                     `f{"a":"two\nlines","b":"ab"}`,
		`f(a=g(1, h=2), b=x.y, c=2*math.pi, d=lambda x: x**2)`: `f{"a":"g(1, h=2)","b":"x.y","c":"2*math.pi","d":"lambda x: x**2"}`,
		"```python\n[f(a=1)]\n```":                             `f{"a":1}`,
		`[area(10, height=5)]`:                                 `area{"base":10,"height":5}`,
		`[f(a=1), g(b=2),]`:                                    `f{"a":1} g{"b":2}`,
		`[]`:                                                   ``,
		"f(a=1, # one\n b=2)":                                  `f{"a":1,"b":2}`,
		"f(a=1, \\\n b=2)":                                     `f{"a":1,"b":2}`,
		`f(a=1e-5, b=1E+5, c=0xe+1)`:                           `f{"a":1e-5,"b":1e+5,"c":"0xe+1"}`,
		`f(a='\101\60\7', b='\x4', c='\U0001F600', d='\18')`:   `f{"a":"A0\u0007","b":"\\x4","c":"😀","d":"\u00018"}`,
		`[getZone9(z9=9)]`:                                     `getZone9{"z9":9}`,
	} {
		calls, err := PythonCalls(src, tools)
		if got := callsText(calls); err != nil || got != want {
			t.Errorf("PythonCalls(%q) = %s, %v; want %s", src, got, err, want)
		}
	}
	for _, src := range []string{
		`f(1)`, `f(a=1`, `[f(a=1)`, `I would call f(a=1)`, `f(a=)`, `f(a=1, a=2)`, `f(a='x)`, `[f(a=1)] and more`, `f`,
		`[1, 2]`, `area(1, 2, 3)`,
	} {
		if calls, err := PythonCalls(src, tools); err == nil {
			t.Errorf("PythonCalls(%q) = %s, want an error", src, callsText(calls))
		}
	}
	if _, err := PythonCalls("f(a="+strings.Repeat("{", 5000)+")", nil); err == nil {
		t.Error("deep nesting was accepted")
	}
}

func FuzzPythonCalls(f *testing.F) {
	f.Add(`[f(a=1, b='x'), g.h()]`)
	f.Add(`f(a={1:2, 'x':[(),{1}]}, b=-.5e3)`)
	f.Add("f(a={{{{{{{{1}}}}}}}}")
	f.Add(`f(a='\x41\u00e9\U0001F600\777')`)
	f.Fuzz(func(t *testing.T, src string) {
		calls, err := PythonCalls(src, nil)
		if err != nil {
			return
		}
		for _, c := range calls {
			if _, err := value.Parse(c.Args); err != nil {
				t.Fatalf("%q gives arguments that are not JSON: %s: %v", src, c.Args, err)
			}
		}
	})
}
