// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package condition

import (
	"math"
	"strings"
	"testing"
)

// TestPlainReads: which texts are read without the library, and their meaning. What is left to
// the library has to be left: read in a plain way it would mean something else.
func TestPlainReads(t *testing.T) {
	t.Parallel()
	const result = `{"a":5,"b":"x y","n":-1.5,"t":true,"z":null,"l":[10,11,12,13,14,15,16,17,18,19,20],"o":{"zZ9_":1},"A0":3,"big":123456789012345}`
	for text, want := range map[string]struct{ plain, holds bool }{
		`a == 5`:                  {true, true},
		"\ta==5\t":                {true, true},
		`a == 5&&a != 6`:          {true, true},
		`a == 5 && a != 6`:        {true, true},
		`a == 5 and a != 5`:       {true, false},
		`a == 5 or a == 6`:        {false, true},
		`a == 5 && (a == 5)`:      {false, true},
		`a < 6`:                   {true, true},
		`a < 5`:                   {true, false},
		`a <= 5`:                  {true, true},
		`a <= 4`:                  {true, false},
		`a > 4`:                   {true, true},
		`a > 5`:                   {true, false},
		`a >= 5`:                  {true, true},
		`a >= 6`:                  {true, false},
		`a != 5`:                  {true, false},
		`n == -1.5`:               {true, true},
		`n == 1.5`:                {true, false},
		`n < -1`:                  {true, true},
		`n < -2`:                  {true, false},
		`n == -1.50`:              {true, true},
		`a == 05`:                 {false, true},
		`a > 0`:                   {true, true},
		`a > 0.09`:                {true, true},
		`a > 9.90`:                {true, false},
		`a == 5.`:                 {false, true},
		`big == 123456789012345`:  {true, true},
		`big < 1234567890123456`:  {false, true},
		`b == "x y"`:              {true, true},
		`b == 'x y'`:              {true, true},
		`b == "x y" and a == 5`:   {true, true},
		`b == ""`:                 {true, false},
		`b != "~"`:                {true, true},
		`b == "x\u0020y"`:         {false, true},
		`b > "x"`:                 {true, true},
		`b < "y"`:                 {true, true},
		`b <= "x y"`:              {true, true},
		`b <= "x"`:                {true, false},
		`b >= "y"`:                {true, false},
		`t == true`:               {true, true},
		`t == false`:              {true, false},
		`z == null`:               {true, true},
		`z == nil`:                {true, true},
		`z != null`:               {true, false},
		`l[0] == 10`:              {true, true},
		`l[9] == 19`:              {true, true},
		`l[10] == 20`:             {true, true},
		`l[-1] == 20`:             {false, true},
		`l[-2] == 19`:             {false, true},
		`l[-11] == 10`:            {false, true},
		`l[-12] == 10`:            {false, false},
		`l[11] == 20`:             {true, false},
		`l[00] == 10`:             {false, true},
		`len(l) == 11`:            {true, true},
		`len(l) > 11`:             {true, false},
		`len(b) == 3`:             {true, true},
		`len(l) == 11.0`:          {false, true},
		`o.zZ9_ == 1`:             {true, true},
		`result.o.zZ9_ == 1`:      {true, true},
		`A0 == 3`:                 {true, true},
		`none == 1`:               {true, false},
		`none.x == 1`:             {true, false},
		`a in [5]`:                {false, true},
		`a in [-5]`:               {false, false},
		`a == [5]`:                {false, false},
		`l[+1] == 11`:             {false, true},
		`n in [-1.5, 2]`:          {false, true},
		`n in [1.5, 2]`:           {false, false},
		`b < "x y"`:               {true, false},
		`any(l, l == l)`:          {false, false}, // an element is held against single values only
		`a in l`:                  {false, false},
		`"zZ9_" in o`:             {false, true},
		`"x" in b`:                {false, true},
		`a < "5"`:                 {true, false},
		`b == 5`:                  {true, false},
		`b < 5`:                   {true, false},
		`t < 1`:                   {true, false},
		`l[0] < b`:                {false, false},
		`b <= b`:                  {false, true},
		`l[0] <= l[1]`:            {false, true},
		`l[1] <= l[0]`:            {false, false},
		`a+1 == 6`:                {false, true},
		`all(l, # > 9)`:           {false, true},
		`any(l, {# == 20 and t})`: {false, true},
		`any(l, # > a)`:           {false, true},
		`any([5, 6], # == a)`:     {false, true},
		`a == 5` + strings.Repeat(" and a == 5", maxPlain-1): {true, true},
		`a == 5` + strings.Repeat(" and a == 5", maxPlain):   {false, true},
	} {
		e := plain(text)
		if (e != nil) != want.plain {
			t.Errorf("%s: read without the library: %v", text, e != nil)
		}
		c, err := Compile(text)
		if err != nil {
			if want.holds || want.plain {
				t.Errorf("%s: %v", text, err)
			}
			continue
		}
		if got := c.Holds(parse(t, result)); got != want.holds {
			t.Errorf("%s: %v", text, got)
		}
	}
	// A text with a character that has to be written in another way is no plain one.
	for _, c := range []string{"\x01", "\x1f", "\x7f", `\`, "\xff"} {
		if plain(`b == "a`+c+`b"`) != nil {
			t.Errorf("%q inside quotes is read without the library", c)
		}
	}
	if plain(`b == "unfinished`) != nil || plain(`b == "`) != nil {
		t.Error("quotes without an end are read")
	}
}

// TestNames: letters, digits but for the first, and _.
func TestNames(t *testing.T) {
	t.Parallel()
	for c := range 256 {
		letter := c == '_' || c < 128 &&
			strings.ContainsRune("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ", rune(c))
		digit := c < 128 && strings.ContainsRune("0123456789", rune(c))
		if isNameByte(byte(c), 0) != letter || isNameByte(byte(c), 1) != (letter || digit) {
			t.Errorf("%q: %v first, %v later", rune(c), isNameByte(byte(c), 0), isNameByte(byte(c), 1))
		}
	}
}

// TestOneMember: the commonest form, a member compared with a number, for members of every kind and
// place.
func TestOneMember(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		text, result string
		want         bool
	}{
		{`a > 5`, `{"a":6}`, true},
		{`a > 5`, `{"b":1,"a":6}`, true},
		{`a > 5`, `{"b":9,"c":9,"a":5}`, false},
		{`a > 5`, `{"\u0061":6}`, true},
		{`a > 5`, `{"b":1,"\u0061":6}`, true},
		{`a > 5`, `{"a":5.5}`, true},
		{`a > 5.5`, `{"a":6}`, true},
		{`a > 5.5`, `{"a":5}`, false},
		{`a > 5`, `{"a":"6"}`, false},
		{`a != 5`, `{"a":"5"}`, true},
		{`a != 5`, `{}`, false},
		{`a == 5`, `[5]`, false},
	} {
		c, err := Compile(tc.text)
		if err != nil {
			t.Fatal(err)
		}
		if c.one == nil {
			t.Errorf("%s is not read as one member and a number", tc.text)
		}
		if got := c.Holds(parse(t, tc.result)); got != tc.want {
			t.Errorf("%s of %s: %v", tc.text, tc.result, got)
		}
	}
	for _, text := range []string{`a.b > 5`, `l[0] > 5`, `a == "5"`, `a == b`, `len(a) > 5`, `5 < a`} {
		if c, err := Compile(text); err != nil || c.one != nil {
			t.Errorf("%s is read as one member and a number: %v", text, err)
		}
	}
	for _, tc := range []struct{ a, b, want int64 }{
		{1, 2, 0},
		{2, 2, 1},
		{3, 2, 2},
		{-1, 0, 0},
		{0, -1, 2},
		{0, 0, 1},
		{-5, 5, 0},
		{math.MaxInt64 / 2, -1, 2},
		{math.MinInt64 / 2, 1, 0},
		{7, 3, 2},
	} {
		if got := order(tc.a, tc.b); got != tc.want {
			t.Errorf("order(%d, %d) = %d, want %d", tc.a, tc.b, got, tc.want)
		}
	}
}

// TestLongestText: a text of the largest size is read, one byte more is not.
func TestLongestText(t *testing.T) {
	t.Parallel()
	text := `a == "` + strings.Repeat("x", MaxBytes-7) + `"`
	if _, err := Compile(text); len(text) != MaxBytes || err != nil {
		t.Errorf("%d bytes: %v", len(text), err)
	}
	if _, err := Compile(text + " "); err == nil {
		t.Error("one byte too many is read")
	}
	if _, err := Compile(`a == 1 and )`); err == nil || !strings.Contains(err.Error(), "at character 12: ") {
		t.Errorf("the place of a mistake: %v", err)
	}
}
