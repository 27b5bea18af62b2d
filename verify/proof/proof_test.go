// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package proof

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestClose(t *testing.T) {
	t.Parallel()
	known := []Explanation{
		{Check: "c", Part: "spring", Name: "rows: 2", Reason: "a rule of theirs"},
		{Check: "c", Part: "open", Name: "rows: 9", Reason: "another part"},
		{Check: "d", Part: "spring", Name: "rows: 9", Reason: "another check"},
	}
	for name, x := range map[string]struct {
		run  func(c *Check)
		ok   bool
		last string
		want string
	}{
		"all agree": {func(c *Check) {
			c.Due("rows", 2, "README")
			c.Compare("rows", "1", true, "")
			c.Compare("rows", "2", false, "theirs")
		}, true, "c: 1 of 2 compared agree, 1 explained", "explained rows: 2: theirs (a rule of theirs)"},
		"a stale explanation": {func(c *Check) {
			c.Due("rows", 2, "README")
			c.Compare("rows", "1", true, "")
			c.Compare("rows", "2", true, "")
		}, false, "c: 2 of 2 compared agree, 1 explained in vain", "STALE rows: 2"},
		"a row is missing": {func(c *Check) {
			c.Due("rows", 3, "README")
			c.Compare("rows", "1", true, "")
			c.Compare("rows", "2", false, "theirs")
		}, false, "c: 1 of 3 compared agree, 1 explained, 1 not compared", "SHORT rows: 2 compared, 3 due by README"},
		"a row too many": {func(c *Check) {
			c.Due("rows", 1, "README")
			c.Compare("rows", "1", true, "")
			c.Compare("rows", "2", false, "theirs")
		}, false, "c: 1 of 2 compared agree, 1 explained", "MORE rows: 2 compared, 1 due by README"},
		"a row twice in place of another": {
			func(c *Check) {
				c.Due("rows", 2, "README")
				c.Compare("rows", "2", false, "theirs")
				c.Compare("rows", "2", false, "theirs")
			}, false, "c: 0 of 2 compared agree, 1 explained, 1 not compared, 1 failed otherwise",
			"rows: 2 was compared twice",
		},
		"one is not explained": {func(c *Check) {
			c.Due("rows", 2, "README")
			c.Compare("rows", "2", false, "theirs")
			c.Compare("rows", "3", false, "%d, want %d", 4, 5)
		}, false, "c: 0 of 2 compared agree, 1 explained, 1 not explained", "DIFFERS rows: 3: 4, want 5"},
		"nothing": {
			func(*Check) {}, false, "c: 0 of 0 compared agree, 1 explained in vain, 1 failed otherwise",
			"there is nothing to compare",
		},
		"a file that cannot be read": {func(c *Check) {
			c.Due("rows", 1, "README")
			c.Compare("rows", "2", false, "theirs")
			c.Problem(errors.New("read x: broken"))
			c.Problem(nil)
		}, false, "c: 0 of 1 compared agree, 1 explained, 1 failed otherwise", "FAILED read x: broken"},
		"many that differ": {func(c *Check) {
			c.Due("rows", 100, "README")
			for i := range 100 {
				c.Compare("rows", fmt.Sprint(i), false, "")
			}
		}, false, "c: 0 of 100 compared agree, 1 explained, 99 not explained", "… and 59 more"},
	} {
		var out bytes.Buffer
		c := New(&out, "c", "spring", known)
		x.run(c)
		ok := c.Close()
		lines := strings.Split(strings.TrimSpace(out.String()), "\n")
		if last := lines[len(lines)-1]; ok != x.ok || last != x.last || !strings.Contains(out.String(), x.want) {
			t.Errorf("%s: %v, last line %q, want %v %q and %q in\n%s", name, ok, last, x.ok, x.last, x.want,
				out.String())
		}
	}
}

const published = `{"m|a":{"n":4,"rate":0.5,"pct":33.33,"none":null,"who":"x"},"m|b":{"n":3,"rate":0.666667,"pct":40}}`

// A figure is compared at the precision of its kind: 0.5 among figures of six digits is
// 0.500000, and 40 percent among figures of two digits is 40.00.
func TestFigures(t *testing.T) {
	t.Parallel()
	f, err := ParseFigures("scores.json", []byte(published))
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range []struct {
		own           float64
		path          string
		agrees, known bool
	}{
		{0.5, "m|a rate", true, true},
		{0.5000004, "m|a rate", true, true},
		{0.500001, "m|a rate", false, true},
		{2. / 3, "m|b rate", true, true},
		{100. / 3, "m|a pct", true, true},
		{33.336, "m|a pct", false, true},
		{40.004, "m|b pct", true, true},
		{40.3, "m|b pct", false, true},
		{33.335, "m|a pct", true, true}, // halfway is rounded either way
		{4, "m|a n", true, true},
		{5, "m|a n", false, true},
		{4, "m|a none", false, false},
		{4, "m|a who", false, false},
		{4, "m|c n", false, false},
	} {
		if _, agrees, known := f.Agrees(x.own, strings.Fields(x.path)...); agrees != x.agrees || known != x.known {
			t.Errorf("%v for %s: agrees %v, known %v", x.own, x.path, agrees, known)
		}
	}
	if d := cmp.Diff([]string{"m|a", "m|b"}, f.Keys()); d != "" {
		t.Error(d)
	}
	if n, err := f.Count("m|b", "n"); n != 3 || err != nil {
		t.Error(n, err)
	}
	for _, path := range [][]string{{"m|b", "rate"}, {"m|b", "no"}} {
		if n, err := f.Count(path...); err == nil {
			t.Errorf("%v has the count %d", path, n)
		}
	}
	for _, doc := range []string{``, `{}`, `{"a":`, `{"a":"b"}`, `{"a":1`} {
		if _, err := ParseFigures("x", []byte(doc)); err == nil {
			t.Errorf("%q has figures", doc)
		}
	}
}

// Every figure of an index is due; a figure without a comparison is reported as missing.
func TestDueFigures(t *testing.T) {
	t.Parallel()
	f, err := ParseFigures("scores.json", []byte(published))
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	c := New(&out, "c", "spring", nil)
	c.DueFigures("set", f, func(path []string) string {
		if path[1] == "pct" {
			return "shares are made of counts"
		}
		return ""
	})
	c.Figure("set", f, 4, "m|a", "n")
	c.Figure("set", f, 0.5, "m|a", "rate")
	c.Figure("set", f, 3, "m|b", "n")
	c.Figure("set", f, 1, "m|x", "n")
	if c.Close() {
		t.Error("three of four figures are enough")
	}
	for _, want := range []string{
		"set: 2 figures are not compared: shares are made of counts",
		"SHORT set figures: 3 compared, 4 due by scores.json", "publishes no figure m|x n",
		"c: 3 of 4 compared agree, 1 not compared, 1 failed otherwise",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in\n%s", want, out.String())
		}
	}
}

func TestReadme(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	page := "20 small cases of which 3 want more. open = even index, spring = odd. 9,120 / 9,108 rows, 5 / 6 valid.\n" +
		"Other: (CC BY). summer = train 15,000, val 3,000, oos_train/val 100+90; winter = test 4,500, oos_test 1,000.\n\n" +
		"| file | cases | open | spring |\n|---|---|---|---|\n| a.json | 5 | 3 | 2 |\n| b.json | 1,001 | 1 | 1,000 |\n\n| file | spring |\n|---|---|\n| c.json | 7 |\n"
	if err := os.WriteFile(filepath.Join(dir, "README.md"), []byte(page), 0o600); err != nil {
		t.Fatal(err)
	}
	r, err := ReadReadme(dir)
	if err != nil {
		t.Fatal(err)
	}
	count := func(n int, err error) string { return fmt.Sprint(n, err == nil) }
	files := func(m map[string]int, err error) string { return fmt.Sprint(m, err == nil) }
	for got, want := range map[string]string{
		count(r.Count("cases")):            "20 true",
		count(r.Count("tools")):            "0 false",
		count(r.CountOf("open", "rows")):   "9120 true",
		count(r.CountOf("spring", "rows")): "9108 true",
		count(r.CountOf("autumn", "rows")): "0 false",
		files(r.Files("summer")):           "map[oos_train:100 oos_val:90 train:15000 val:3000] true",
		files(r.Files("winter")):           "map[oos_test:1000 test:4500] true",
		files(r.Files("spring")):           "map[] false",
		files(r.Table("spring")):           "map[a.json:2 b.json:1000] true",
		files(r.Table("winter")):           "map[] false",
	} {
		if got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
	if _, err := ReadReadme(t.TempDir()); err == nil {
		t.Error("a page that is not there")
	}
}

func TestData(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	for name, content := range map[string]string{
		"sets/s/spring/b.jsonl": "1", "sets/s/spring/a.jsonl": "1", "sets/s/autumn/train.jsonl": "1",
		"sets/s/spring/scores.json": `{"m":{"b":2,"a":1}}`, "sets/s/autumn/scores.json": `{"m":{"a":1}}`,
		"sets/EXPECTED_spring.json": `{"s/spring/scores.json": {"m": {"a": 1, "b": 2}}}`,
		"sets/EXPECTED_autumn.json": `{"s/autumn/scores.json": {"m": {"a": 2}}}`,
	} {
		path := filepath.Join(root, filepath.FromSlash(name))
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700),
			os.WriteFile(path, []byte(content), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	d, err := Open(root, "spring")
	if err != nil {
		t.Fatal(err)
	}
	files, err := d.Files("s", "*.jsonl")
	if d := cmp.Diff([]string{"a.jsonl", "b.jsonl"},
		[]string{filepath.Base(files[0]), filepath.Base(files[1])}); d != "" || err != nil {
		t.Error(d, err)
	}
	if _, err := d.Files("s", "train*"); err == nil {
		t.Error("the part has no such file")
	}
	if files, err := d.Anywhere("s", "train*"); err != nil || len(files) != 1 {
		t.Error(files, err)
	}
	if f, err := d.Published("s"); err != nil || len(f.Keys("m")) != 2 {
		t.Error(err)
	}
	if _, err := d.Published("t"); err == nil || !strings.Contains(err.Error(), "names no file of t") {
		t.Error(err)
	}
	d.Part = "autumn"
	if _, err := d.Published("s"); err == nil ||
		!strings.Contains(err.Error(), "has other figures than EXPECTED_autumn.json") {
		t.Error(err)
	}
	if d, err := Open(root, ""); err != nil || d.Part != DefaultPart {
		t.Error(d, err)
	}
	for _, bad := range []string{"a/b", "..", "."} {
		if _, err := Open(root, bad); err == nil {
			t.Errorf("%q is a part", bad)
		}
	}
	if _, err := Open(t.TempDir(), ""); err == nil || !strings.Contains(err.Error(), "CALLVET_TESTDATA") {
		t.Error(err)
	}
}

func TestExplained(t *testing.T) {
	t.Parallel()
	list, err := Explained()
	if err != nil {
		t.Fatal(err)
	}
	seen := map[Explanation]bool{}
	for _, e := range list {
		key := Explanation{Check: e.Check, Part: e.Part, Name: e.Name}
		if e.Check == "" || e.Part == "" || e.Name == "" || seen[key] {
			t.Errorf("%+v is empty or stands there twice", e)
		}
		seen[key] = true
	}
	for _, bad := range []string{"a\tb\tc", "a\tb\tc\t", "a\tb\tc\td\te"} {
		if _, err := parseExplained("# comment\n" + bad + "\n"); err == nil ||
			!strings.Contains(err.Error(), "explained.tsv:2") {
			t.Errorf("%q: %v", bad, err)
		}
	}
}
