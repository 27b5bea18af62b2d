// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package value

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
)

// skimming is a Doc for lines as traces have them.
func skimming() *Doc {
	d := new(Doc)
	d.Expect(Expected{
		Places: []string{"id", "n", "args", "raw", "error", "ms", "ms.exec", "gold", "gold.yes", "gold.args", "gold.check", "tags"},
		Fits: []Fit{
			FitNull | FitPlain, FitNull | FitWhole, FitAny, FitNull | FitText, FitAny, FitNull | FitObject, FitNull | FitWhole,
			FitNull | FitObject, FitNull | FitBool, FitAny, FitNull | FitText, FitNull | FitTexts,
		},
		Echoes: map[string]string{"raw": "args", "gold.args": "args"},
	})
	return d
}

const trace = `{"id":"t_1","n":17,"args":{"q":"é","limit":3,"x":[1,{"y":[]}]},"raw":"{\"q\":\"é\",\"limit\":3,\"x\":[1,{\"y\":[]}]}","error":null,` +
	`"ms":{"exec":250},"gold":{"yes":true,"args":{"q":"é","limit":3,"x":[1,{"y":[]}]},"check":"n \"b\" >= 2"},"tags":["a","es-AR"]}`

// skimmed holds what Skim gives of the line that data starts with to what a Doc makes of it that
// expects nothing, and tells whether it was taken.
func skimmed(t testing.TB, d *Doc, data []byte) (rest []byte, taken bool) {
	t.Helper()
	line, rest, ok := d.Skim(data)
	if !ok {
		_, rest, _ = d.ParseLine(data)
		return rest, false
	}
	var plain Doc
	want, after, err := plain.ParseLine(data)
	if err != nil || !bytes.Equal(line, want) || !bytes.Equal(rest, after) {
		t.Fatalf("%q: the line is %q, then %q; want %q, then %q: %v", data, line, rest, want, after, err)
	}
	if d.Root().Kind() != Invalid {
		t.Fatal("there is a root")
	}
	for i, path := range d.shapes.paths {
		v := plain.Root()
		for _, name := range strings.Split(path, ".") {
			v, _ = v.Get(name)
		}
		if got, want := d.told(i), told(v); got != want && d.skim.slots[i] != slotNone {
			t.Fatalf("%q: %s is %s, want %s", line, path, got, want)
		}
		if got := d.At(i); d.skim.slots[i] == slotAny && (got.Kind() != v.Kind() || !bytes.Equal(got.Raw(), v.Raw())) {
			t.Fatalf("%q: %s is %s, want %s", line, path, got.Raw(), v.Raw())
		}
	}
	if raw, args := d.At(3), d.At(2); raw.Spells(args) && !bytes.Equal(raw.Bytes(), args.Raw()) {
		t.Fatalf("%q: %s does not spell %s", line, raw.Raw(), args.Raw())
	}
	if gold, args := d.At(9), d.At(2); gold.Same(args) && !bytes.Equal(gold.Raw(), args.Raw()) {
		t.Fatalf("%q: %s is not the same as %s", line, gold.Raw(), args.Raw())
	}
	return rest, true
}

// told is a value with all that is in it; null and absent are the same.
func told(v Value) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %d", v.Raw(), v.Len())
	if v.Kind() <= Null {
		return ""
	}
	for e, ok := v.First(); ok; e, ok = v.Next(e) {
		fmt.Fprintf(&b, " (%s %s)", e.Key(), told(e))
	}
	return b.String()
}

func (d *Doc) told(i int) string {
	switch d.skim.slots[i] {
	case slotPlain:
		if s := d.PlainAt(i); s != nil {
			return `"` + string(s) + `" 0`
		}
		return ""
	case slotWhole:
		if n := d.WholeAt(i, -1); n >= 0 {
			return fmt.Sprint(n, " 0")
		}
		return ""
	case slotBool:
		if n := d.BoolAt(i); n >= 0 {
			return fmt.Sprint(n == 1, " 0")
		}
		return ""
	}
	v := d.At(i)
	return told(v)
}

// TestSkim tells which lines are taken once some of their kind were parsed.
func TestSkim(t *testing.T) {
	t.Parallel()
	d := skimming()
	var lines []string
	for _, change := range []string{
		"", "17|0", "17|123456789", `"t_1"|"a longer name of a task"`, `"t_1"|null`, `true|false`, `true|null`, `"tags":["a","es-AR"]|"tags":["one that is longer than it was","é",""]`,
		`,"n":17|`, `null,"ms"|{"code":5},"ms"`, `{"q":"é","limit":3,"x":[1,{"y":[]}]}|7`, `"n \"b\" >= 2"|"n"`, `["a","es-AR"]|null`, `:|: `, `250|null`, `{"exec":250}|null`, `{"exec":250}|{}`,
	} {
		from, to, _ := strings.Cut(change, "|")
		line := strings.ReplaceAll(trace, from, to)
		lines = append(lines, line, line, line) // the usual step is another one than the first
	}
	text := []byte(strings.Join(lines, "\n") + "\n")
	for round := range 3 {
		for data, k := text, 0; len(data) > 0; k++ {
			var taken bool
			if data, taken = skimmed(t, d, data); !taken && round == 2 {
				t.Errorf("not taken: %s", lines[k])
			}
		}
	}
	for _, change := range []string{
		"17|01", "17|1.5", "17|-1", "17|1e2", "17|1234567890", `"t_1"|"t\n"`, `"t_1"|7`, `true|1`, `["a","es-AR"]|["a",1]`, `["a","es-AR"]|["a",]`, `["a","es-AR"]|{}`,
		`"n":17|"n":17,"n":17`, `"ms":{"exec":250}|"ms":{"exec":250},"ms":{"exec":250}`, `"exec":250|"exec":250,"exec":250`, `17|17,"other":1`, `17|17 `, `"tags"|"t\u0061gs"`, `]}]},"raw"|]},"raw"`,
		`"t_1"|"t_` + "\xff" + `"`, `250}|250`, `"é","limit":3|"é","limit":3,"limit":3`, `"es-AR"]}|"es-AR"]},`, `"es-AR"]}|"es-AR"]`, `"es-AR"]}|"es-AR"`, `"es-AR"]}|"es`,
	} {
		from, to, _ := strings.Cut(change, "|")
		if _, taken := skimmed(t, d, []byte(strings.ReplaceAll(trace, from, to)+"\n"+trace)); taken {
			t.Errorf("taken: %s", change)
		}
	}
}

// TestSkimIsBounded: lines that are always new use up what may be remembered, and no more.
func TestSkimIsBounded(t *testing.T) {
	t.Parallel()
	d, room := skimming(), make([]byte, 0, 1000)
	look := func(format string, args ...any) { skimmed(t, d, fmt.Appendf(room, format+"\n", args...)) }
	for i := range maxWays {
		look(`{%*s"id":"x",%*s"n":1}`, i%40, "", i/40, "")
	}
	for range 30 * maxVain {
		look(`{%*s"id":"x"}`, 2*maxWay, "")
	}
	if d.skim.pause != maxPause || d.skim.ways <= 0 || d.skim.ways > maxWays-maxWaysFrom || d.skim.vain != 0 || len(d.skim.start.way.stop.ways) != maxWaysFrom {
		t.Errorf("%d ways, %d vain texts left, %d ways from the start", d.skim.ways, d.skim.vain, len(d.skim.start.way.stop.ways))
	}
}

// TestSkimSubsets: members come and go in all combinations, more of them than steps are
// remembered for: most lines are taken all the same.
func TestSkimSubsets(t *testing.T) {
	t.Parallel()
	d, room, taken := skimming(), make([]byte, 0, 1000), 0
	members := []string{`"id":"x"`, `"n":2`, `"args":{"q":1}`, `"raw":"{\"q\":1}"`, `"error":null`, `"ms":{"exec":25}`, `"gold":{"yes":true,"args":{"q":1}}`, `"tags":["a"]`}
	for which := range 3 << len(members) {
		var line []string
		for i, m := range members {
			if which>>i&1 != 0 {
				line = append(line, m)
			}
		}
		text := fmt.Appendf(room, "{%s}\n", strings.Join(line, ","))
		for range 2 {
			if _, ok := skimmed(t, d, text); ok {
				taken++
			}
		}
	}
	for _, from := range d.skim.from {
		for _, w := range from.ways {
			if len(w.steps) > maxStepsOf {
				t.Errorf("%d steps of %s", len(w.steps), w.branch.label)
			}
		}
	}
	if d.skim.steps < 0 || taken < 1400 {
		t.Errorf("%d steps left, %d lines taken", d.skim.steps, taken)
	}
}

// FuzzSkim: what is taken after other lines says the same as when it is parsed.
func FuzzSkim(f *testing.F) {
	f.Add([]byte(trace+"\n"+trace), []byte("\n\n{}\n"))
	f.Add([]byte(strings.ReplaceAll(trace, "17", "null")), []byte(strings.ReplaceAll(trace, `,"ms"`, ` , "ms"`)))
	f.Add([]byte(`{"args":{"a":"b"},"raw":"{\"a\":\"b\"}"}`), []byte(`{"gold":{"yes":false},"tags":["x"]}`+"\r\n"))
	f.Add([]byte(`{"gold":{},"ms":null,"id":"never closed`+"\n"+`"}`), []byte(`{"tags":[],"id":null}`))
	f.Fuzz(func(t *testing.T, a, b []byte) {
		d := skimming()
		text := make([]byte, 0, 5*(len(a)+len(b)+len(trace)+4)+300)
		for _, part := range [][]byte{a, b, []byte(trace), a, b, b, b, a, a} {
			text = append(append(text, part...), '\n')
		}
		for data := text; len(data) > 0; {
			data, _ = skimmed(t, d, data)
		}
	})
}

func BenchmarkSkim(b *testing.B) {
	text, d := append(make([]byte, 0, len(trace)+300), trace+"\n"...), skimming()
	skimmed(b, d, text)
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		if _, _, ok := d.Skim(text); !ok {
			b.Fatal("not taken")
		}
	}
}

// TestSkimOtherPlaces: what repeats a place that has no node, and nulls that do not fit.
func TestSkimOtherPlaces(t *testing.T) {
	t.Parallel()
	e := Expected{
		Places: []string{"id", "text", "n", "any"}, Fits: []Fit{FitNull | FitPlain, FitNull | FitText, FitNull | FitWhole, FitAny},
		Echoes: map[string]string{"text": "id", "any": "n"},
	}
	for _, fit := range []Fit{FitAny, FitAny &^ FitNull} {
		d := new(Doc)
		e.Fits[3] = fit
		d.Expect(e)
		for range 2 {
			for _, line := range []string{`{"id":"a","n":7,"text":"\"a\"","any":7}`, `{"n":7,"any":[1,{"x":7}],"id":"b","text":"b"}`, `{"id":"a","any":null}`} {
				text := append(make([]byte, 0, 1000), line+"\n"...)
				skimmed(t, d, text)
				if _, taken := skimmed(t, d, text); taken != (fit == FitAny) {
					t.Errorf("%s: taken is %v", line, taken)
				}
			}
		}
	}
}

// TestSkimEchoes: members that are no more than text are read as that, also where they echo what
// may be anything; and of a boolean there is nothing that could be repeated.
func TestSkimEchoes(t *testing.T) {
	t.Parallel()
	d := new(Doc)
	d.Expect(Expected{
		Places: []string{"any", "id", "n", "yes", "more"}, Fits: []Fit{FitAny, FitNull | FitPlain, FitNull | FitWhole, FitNull | FitBool, FitAny},
		Echoes: map[string]string{"id": "any", "n": "any", "yes": "any", "more": "yes"},
	})
	for range 2 {
		for _, line := range []string{
			`{"any":[],"id":"x","n":7,"yes":true}`, `{"any":[],"n":12345678,"id":"[]","yes":null}`, `{"any":[[7],{"a":[8]}],"yes":true,"more":[[7],{"a":[8]}]}`, `{"yes":false,"more":[9]}`,
		} {
			text := append(make([]byte, 0, 1000), line+"\n"...)
			skimmed(t, d, text)
			if _, taken := skimmed(t, d, text); !taken {
				t.Errorf("%s is not taken", line)
			}
		}
	}
}
