// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package offline

import (
	"strings"
	"unicode"

	"github.com/callvet/callvet/retrieve"
)

// lang is a language with a stemmer; detection is by function words.
type lang string

const (
	en lang = "en"
	es lang = "es"
	pt lang = "pt"
	sv lang = "sv"
	de lang = "de"
)

func languages() []lang { return []lang{en, es, pt, sv, de} }

// functionWords carry no meaning of their own. They are folded.
func functionWords(l lang) string {
	switch l {
	case es:
		return " el la los las un una de del en y o que para por con mi tu su al es son cual cuantos cuanto como lo se me tengo quiero por favor hay muy "
	case pt:
		return " o a os as um uma de do da dos das em no na e ou que para por com meu minha seu sua ao qual quais quantos como se me quero tenho eu por favor ha muito "
	case sv:
		return " en ett den det de i pa och eller som for till med av min mitt din ar var vad hur jag du vill kan har att fran om tack mycket "
	case de:
		return " der die das ein eine einen in im am und oder fur zu mit von mein meine ist sind wie was welche ich du will kann bitte den dem des auf gibt es sehr "
	}
	return " a an the of in on at to for from by with and or is are was be do does did can could will would should i me my you your we our it its this that these those what which who how when where please " +
		"there if as so any some about into s t m re ll ve d have has had need want like would let us give tell show "
}

func isFunction(l lang, w string) bool { return strings.Contains(functionWords(l), " "+w+" ") }

// detect names the language of a text by its function words; English when in doubt.
func detect(folded []string) lang {
	best, most := en, 0
	for _, l := range languages() {
		n := 0
		for _, w := range folded {
			if isFunction(l, w) {
				n++
			}
		}
		if n > most {
			best, most = l, n
		}
	}
	return best
}

// fold lowers a text and removes its accents.
func fold(s string) string { return retrieve.Fold(s) }

// words splits an identifier or a text: at everything but letters and digits,
// between a lower-case and an upper-case letter, and between letters and digits.
func words(s string) []string {
	var out []string
	rs := []rune(s)
	from := 0
	cut := func(to int) {
		if to > from {
			out = append(out, fold(string(rs[from:to])))
		}
		from = to
	}
	for i, r := range rs {
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.Is(unicode.Mn, r) {
			cut(i)
			from = i + 1
			continue
		}
		if i == from {
			continue
		}
		p := rs[i-1]
		next := i+1 < len(rs) && unicode.IsLower(rs[i+1])
		switch {
		case unicode.IsUpper(r) && (unicode.IsLower(p) || unicode.IsUpper(p) && next),
			unicode.IsDigit(r) != unicode.IsDigit(p):
			cut(i)
		}
	}
	cut(len(rs))
	return out
}

// stem returns the stem of a folded word; words of digits are their own stem.
func stem(l lang, w string) string { return retrieve.Stem(retrieve.Language(l), w) }

// stems returns the stems of a word in English (the language of most tools) and in the text's
// language.
func stems(l lang, w string) []string {
	e := stem(en, w)
	if l == en {
		return []string{e}
	}
	if o := stem(l, w); o != e {
		return []string{e, o}
	}
	return []string{e}
}

// isGeneric reports whether a word of a tool's name shows little of its purpose.
func isGeneric(stemmed string) bool {
	return strings.Contains(
		" get set list find fetch make do run call api tool function data info inform calcul comput check creat updat add search queri lookup retriev execut perform valu result number name id type ", " "+stemmed+" ")
}
