// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package retrieve

import (
	"strings"

	"github.com/blevesearch/snowballstem"
	"github.com/blevesearch/snowballstem/english"
	"github.com/blevesearch/snowballstem/german"
	"github.com/blevesearch/snowballstem/portuguese"
	"github.com/blevesearch/snowballstem/spanish"
	"github.com/blevesearch/snowballstem/swedish"
)

// Language is a language with a stemmer, by its ISO 639-1 code.
type Language string

// The languages.
const (
	English    Language = "en"
	Spanish    Language = "es"
	Portuguese Language = "pt"
	Swedish    Language = "sv"
	German     Language = "de"
)

const numLanguages = 5

// Languages lists all of them, English first.
func Languages() []Language { return []Language{English, Spanish, Portuguese, Swedish, German} }

// functionWords carry no meaning of their own in a question about tools. Folded.
func functionWords(l Language) string {
	switch l {
	case Spanish:
		return " a al algo algun alguna algunos aqui cada como con cual cuales cuando cuanta cuantas cuanto cuantos de del desde dime donde el ella ellos en entre era es esa ese eso esta este esto estos estoy fue gracias ha hay hola la las le les lo los mas me mi mis muy necesito no nos o para pero por porque podrias puede puedes puedo que quien quiero quisiera se ser si sin sobre son soy su sus tal tambien te tengo tiene todo tu tus un una unas uno unos y ya yo "
	case Portuguese:
		return " a agora algum alguma alguns ao aos as ate cada com como da das de dela dele desde do dos e ela ele eles em entre era essa esse esta estao este estou eu foi gostaria ha isso isto ja lhe mais mas me meu meus minha minhas muito na nas nao no nos o obrigado ola onde os ou para pela pelo poderia pode podes por porque posso preciso qual quais quando quanta quantas quanto quantos que quem quero se sem ser seu seus sim sobre sou sua suas tambem te tem tenho teu toda todo tudo um uma umas uns voce "
	case Swedish:
		return " alla att av bara bli blir da de dem den denna deras dess dessa det detta dig din dina ditt du dar efter eller en er ett finns fran for forst ge gor gora ha hade han har hej hela henne hennes hon honom hos hur har i igen in inga ingen inte ja jag kan kanske kom kunna man med mej men mer mig min mina mitt mot mycket nagon nagot nagra nar nej ni nu nya och ocksa om oss pa samma sa ska sin sina sitt skulle som tack till under upp ur ut vad var vara varfor vart vem vi vid vilja vilka vilken vilket vill visa voro "
	case German:
		return " aber alle als am an auch auf aus bei bin bis bitte brauche da danke dann das dass dein dem den der des dich die dies diese diesem diesen dieser dieses dir doch du durch ein eine einem einen einer eines er es etwas euch fur gibt habe haben hallo hat hatte ich ihm ihn ihnen ihr ihre im in ist ja jede jetzt kann kannst konnen konnte mal man mehr mein meine mich mir mit mochte muss nach nein nicht noch nur ob oder ohne schon sehr sein seine sich sie sind so soll um und uns unser viel vom von vor war warum was wenn wer werden wie wieviel will wir wird wo wurde zu zum zur "
	}
	return " a about after all am an and any anyone are as at be been being both but by can could did do does doing don done each else ever every few for from get give got had has have having he hello help her here hers hey hi him his how i if in into is isn it its just kindly let like ll looking m make many may me might mine more most much must my myself need needs no nor not now of off ok on once one only or other our out over own please provide re s same shall she should so some someone something such sure t tell than thank thanks that the their them then there these they thing things this those through to too trying up us use ve very want wants was wasn we were what when where whether which while who whom whose why will with within without would you your yours yourself "
}

// Stem returns the stem of a folded word in a language: never empty for a non-empty word, and a
// word of digits is its own stem.
func Stem(l Language, w string) string {
	if len(w) < 3 {
		return w
	}
	if l == Swedish {
		w = withVowel(w)
	}
	env := snowballstem.NewEnv(w)
	switch l {
	case Spanish:
		spanish.Stem(env)
	case Portuguese:
		portuguese.Stem(env)
	case Swedish:
		swedish.Stem(env)
	case German:
		german.Stem(env)
	default:
		english.Stem(env)
	}
	if s := env.Current(); s != "" {
		return s
	}
	return w
}

// withVowel restores the vowel that Swedish words lose before an ending; the stemmer does not:
// vädret, vädrets and vädren are väder.
func withVowel(w string) string {
	for _, ending := range []string{"ret", "rets", "ren"} {
		if n := len(w) - len(ending); n >= 3 && w[n:] == ending && isConsonant(w[n-1]) {
			return w[:n] + "er"
		}
	}
	return w
}

// isConsonant leaves out r, so that words in -rren are left alone.
func isConsonant(c byte) bool { return strings.IndexByte("bdfgkmpstv", c) >= 0 }
