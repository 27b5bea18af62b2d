// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package safety

import (
	"bytes"
	"encoding/base64"
	"strings"
)

func wordByte(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z' || c == '_'
}

func digit(c byte) bool { return c >= '0' && c <= '9' }

func letter(c byte) bool { return c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z' }

// run is the end of the bytes from i on that ok accepts.
func run(s string, i int, ok func(byte) bool) int {
	for i < len(s) && ok(s[i]) {
		i++
	}
	return i
}

func tokenByte(c byte) bool {
	return wordByte(c) || c == '-' || c == '.' || c == '+' || c == '/' || c == '=' || c == '~'
}

// email finds the address around an @: a local part, a domain with a dot and a
// top-level part of letters. It does not start before least. The user of a source
// repository (git@host) and the size in a file's name (logo@2x.png) are no addresses.
func email(s string, at, least int) DataFinding {
	from := at
	for from > least && (wordByte(s[from-1]) || strings.IndexByte(".+-%'", s[from-1]) >= 0) {
		from--
	}
	for strings.IndexByte(".'-", s[from]) >= 0 {
		from++
	}
	end := run(s, at+1, func(c byte) bool { return wordByte(c) && c != '_' || c == '.' || c == '-' })
	domain := strings.TrimRight(s[at+1:end], ".-")
	dot := strings.LastIndexByte(domain, '.')
	if from == at || dot <= 0 || len(domain)-dot-1 < 2 || s[from:at] == "git" || density(domain) {
		return DataFinding{}
	}
	for _, c := range []byte(domain[dot+1:]) {
		if !letter(c) {
			return DataFinding{}
		}
	}
	return DataFinding{from, at + 1 + len(domain), KindEmail}
}

// density reports whether a domain is the size in the name of an image: 2x.png.
func density(s string) bool { return digit(s[0]) && s[1] == 'x' && s[2] == '.' }

// privateKey finds a PEM block of a PRIVATE KEY, to its end line or, when the line is cut off, to
// the end of the text.
func privateKey(s string, i int) DataFinding {
	head, rest, ok := strings.Cut(s[i+len("-----"):], "-----")
	if !ok || !strings.Contains(head, "PRIVATE KEY") {
		return DataFinding{}
	}
	_, rest, _ = strings.Cut(rest, "-----END")
	_, rest, _ = strings.Cut(rest, "-----")
	return DataFinding{i, len(s) - len(rest), KindPrivate}
}

// startsWith reports whether s starts with a word, ignoring letter case.
func startsWith(s, word string) bool {
	return len(s) >= len(word) && strings.EqualFold(s[:len(word)], word)
}

func bearer(s string, i int) DataFinding {
	const word = "bearer "
	if !startsWith(s[i:], word) {
		return DataFinding{}
	}
	from := i + len(word)
	end := run(s, from, tokenByte)
	if end-from < 8 || !random(s[from:end]) {
		return DataFinding{}
	}
	return DataFinding{from, end, KindBearer}
}

// basic finds the base64 of user:password after the word Basic.
func basic(s string, i int) DataFinding {
	const word = "basic "
	if !startsWith(s[i:], word) {
		return DataFinding{}
	}
	from := i + len(word)
	end := run(s, from, func(c byte) bool { return wordByte(c) && c != '_' || c == '+' || c == '/' || c == '=' })
	if end-from > maxRandom || end-from < 8 {
		return DataFinding{}
	}
	if b, err := base64.StdEncoding.DecodeString(s[from:end]); err != nil || !bytes.Contains(b, []byte(":")) {
		return DataFinding{}
	}
	return DataFinding{from, end, KindBearer}
}

// jwt finds three base64url parts; the first starts with an encoded {".
func jwt(s string, i int) DataFinding {
	if !strings.HasPrefix(s[i:], "eyJ") {
		return DataFinding{}
	}
	end := run(s, i, func(c byte) bool { return wordByte(c) || c == '-' || c == '.' })
	token := strings.TrimRight(s[i:end], ".")
	if strings.Count(token, ".") != 2 || len(token) < 30 {
		return DataFinding{}
	}
	return DataFinding{i, i + len(token), KindJWT}
}

// prefix is the beginning of the keys of a well-known service, and the least number of bytes
// after it.
type prefix struct {
	text  string
	least int
}

func prefixes() [256][]prefix {
	var by [256][]prefix
	for least, texts := range map[int]string{
		8:  "EAACEdEose0cBA",
		12: "sk_live_ sk_test_ rk_live_ rk_test_ pk_live_",
		16: "sk- whsec_ glpat- gldt- glrt- AKIA ASIA xoxb- xoxp- xoxa- xoxe- xoxs- xapp- tvly- shpat_ shpss_ sq0atp- sq0csp- pscale_tkn_ ABIA LTAI NRJS- tskey- " +
			"shpca_ shppa_ gloas- glptt- glagent- glcbt-",
		20: "ghp_ gho_ ghu_ ghs_ ghr_ github_pat_ GOCSPX- ya29. hf_ npm_ pypi- rubygems_ dckr_pat_ SG. gsk_ xai- r8_ pplx- nvapi- lsv2_ dop_v1_ doo_v1_ ATATT3 ntn_ " +
			"lin_api_ figd_ phx_ sntrys_ dp.pt. hvs. PMAK- glsa_ AGE-SECRET-KEY-1 fw_ NRAK- sb_secret_ hvb. dp.st. tgp_v1_ shippo_live_ CFPAT-",
		24: "csk- dt0c01. ATBB ATCTT3",
		30: "AIza secret_ 1//0",
		32: "dapi key- sbp_ jina_ pcsk_ fc- e2b_ nfp_ fo1_ HRKU- xkeysib- pul- sgp_ squ_ sqp_ atlasv1. pat-na1- pat-eu1-",
	} {
		for text := range strings.FieldsSeq(texts) {
			by[text[0]] = append(by[text[0]], prefix{text, least})
		}
	}
	return by
}

func (d *Detector) apiKey(s string, i int) DataFinding {
	for _, p := range d.prefixes[s[i]] {
		if !strings.HasPrefix(s[i:], p.text) {
			continue
		}
		from := i + len(p.text)
		end := run(s, from, func(c byte) bool { return wordByte(c) || c == '-' || c == '.' })
		drawn := strings.TrimRight(s[from:end], ".-")
		if len(drawn) >= p.least && random(drawn) {
			return DataFinding{i, from + len(drawn), KindKey}
		}
	}
	return DataFinding{}
}

// hexKey finds keys that have a fixed length: SK and 32 hexadecimal digits (Twilio), pat, 14
// bytes, a dot and 64 hexadecimal digits (Airtable).
func hexKey(s string, i int) DataFinding {
	var head, tail int
	switch {
	case strings.HasPrefix(s[i:], "SK"):
		head, tail = 2, 32
	case strings.HasPrefix(s[i:], "pat") && len(s) > i+17 && s[i+17] == '.' && run(s[:i+17], i, wordByte) == i+17:
		head, tail = 18, 64
	default:
		return DataFinding{}
	}
	end := run(s, i+head, hexByte)
	if end-i-head != tail || end < len(s) && wordByte(s[end]) || !random(s[i+head:end]) {
		return DataFinding{}
	}
	return DataFinding{i, end, KindKey}
}

// telegramToken finds the token of a bot: its number, a colon and 35 bytes.
func telegramToken(s string, i int) DataFinding {
	end := run(s, i, digit)
	if end-i < 8 || end-i > 10 || !strings.HasPrefix(s[end:], ":AA") {
		return DataFinding{}
	}
	if last := run(s, end+1, func(c byte) bool { return wordByte(c) || c == '-' }); last-end == 36 {
		return DataFinding{i, last, KindKey}
	}
	return DataFinding{}
}

// webhook finds the secret path of an address: it is the only credential for posting there.
func webhook(s string, i int) DataFinding {
	const scheme = "https://"
	if !strings.HasPrefix(s[i:], scheme) {
		return DataFinding{}
	}
	at := i + len(scheme)
	host := run(s, at, func(c byte) bool { return wordByte(c) || c == '-' || c == '.' })
	for _, w := range [...]struct{ host, path string }{
		{"hooks.slack.com", "/services/"},
		{"discord.com", "/api/webhooks/"},
		{"discordapp.com", "/api/webhooks/"},
		{".webhook.office.com", "/webhookb2/"},
		{"outlook.office.com", "/webhook/"},
		{"hooks.zapier.com", "/hooks/catch/"},
	} {
		if name := s[at:host]; name != w.host && (w.host[0] != '.' || !strings.HasSuffix(name, w.host)) ||
			!strings.HasPrefix(s[host:], w.path) {
			continue
		}
		from := host + len(w.path)
		if end := run(s, from,
			func(c byte) bool { return wordByte(c) || strings.IndexByte("-/@", c) >= 0 }); end-from >= 10 {
			return DataFinding{from, end, KindKey}
		}
	}
	return DataFinding{}
}

// userinfo finds user and password of a URL; the colon before // is at i. Without a password the
// name must look random: https://TOKEN@host.
func userinfo(s string, i int) DataFinding {
	if i == 0 || !letter(s[i-1]) || !strings.HasPrefix(s[i:], "://") {
		return DataFinding{}
	}
	from := i + 3
	end := run(s, from, func(c byte) bool { return c > ' ' && strings.IndexByte("/?#@\"'<>`\\", c) < 0 })
	if end == from || end >= len(s) || s[end] != '@' || end-from > maxRandom {
		return DataFinding{}
	}
	user, password, ok := strings.Cut(s[from:end], ":")
	switch {
	case IsRedacted(s[from:]), ok && (password == "" || password == "password" || placeholder(password)),
		!ok && (len(user) < 16 || !random(user)):
		return DataFinding{}
	}
	return DataFinding{from, end, KindSecret}
}

// option finds the value of --password VALUE and --token VALUE on a command line.
func option(s string, i int) DataFinding {
	end := run(s, i+2, func(c byte) bool { return wordByte(c) || c == '-' })
	if end >= len(s) || s[end] != ' ' {
		return DataFinding{}
	}
	secret := secretName(s[i+2 : end])
	if !secret && !tokenName(s[i+2:end]) {
		return DataFinding{}
	}
	from := run(s, end, func(c byte) bool { return c == ' ' || c == '"' || c == '\'' })
	to := run(s, from, inValue)
	if to-from < 6 || s[from] == '-' || placeholder(s[from:to]) || IsRedacted(s[from:to]) || plainWord(s[from:to]) {
		return DataFinding{}
	}
	if !secret && !drawn(s[from:to]) {
		return DataFinding{}
	}
	return DataFinding{from, to, KindSecret}
}

// secretName reports whether a name announces a secret: it ends in one of the
// words, apart from case and separators. PWD and OLDPWD are folders.
func secretName(name string) bool {
	if len(name) > maxName {
		return false
	}
	var w wording
	w.read(name)
	return w.secret(name)
}

// secret reports whether the name that was read is that of a secret.
func (w *wording) secret(name string) bool {
	return len(name) >= 3 && name != "PWD" && name != "OLDPWD" && (w.ends(secretNames[:]) || w.last(secretWords[:]))
}

// named finds name=value and name: value. The name must announce a secret, be plain "token" or
// "key" with a random-looking value, or be the signature of a URL.
func named(s string, i int) DataFinding {
	at := valueAfter(s, i)
	name, start := nameBefore(s, comparison(s, i, at))
	secret := secretName(name)
	if at-i > 12 || !secret && !tokenName(name) && !signature(s, start, name) {
		return DataFinding{}
	}
	till := len(s)
	if !secret { // decided by the start, so that a long text is not scanned again for each colon
		till = min(till, at+maxRandom)
	}
	end := valueEnd(s[:till], at)
	word := s[at:end]
	if len(word) < 6 || IsRedacted(word) || placeholder(word) {
		return DataFinding{}
	}
	if k := valueKind(s, name, i, start, at, end); k != "" {
		return DataFinding{at, valueEnd(s, end), k}
	}
	return DataFinding{}
}

// valueKind classifies the value in s[at:end] with the name at start and the separator at i.
func valueKind(s, name string, i, start, at, end int) DataKind {
	word, secret := s[at:end], secretName(name)
	quoted := s[at-1] == '"' || s[at-1] == '\''
	switch {
	case secret && !quoted && (code(s, start, name, at, end) || strings.Contains(word, "://")):
		return ""
	case signature(s, start, name):
		if len(word) < 16 {
			return ""
		}
		return KindKey
	case secret && keyName(name) && len(word) >= 32 && identifier(word) && random(word):
		return KindKey
	case secret && (!plainWord(word) || s[i] == '='), randomValue(word, quoted):
		return KindSecret
	}
	return ""
}

// randomValue reports whether a value looks random, and like neither an identifier nor,
// without quotes, a line of a program.
func randomValue(word string, quoted bool) bool {
	return drawn(word) && (quoted || !strings.ContainsAny(word, "(["))
}

// valueEnd is where a value that i stands in ends; in JSON as text the closing quote has a
// backslash.
func valueEnd(s string, i int) int {
	end := run(s, i, inValue)
	if end < len(s) && (s[end] == '"' || s[end] == '\'') {
		end = len(strings.TrimRight(s[:end], `\`))
	}
	return end
}

// signature reports whether a name is that of the signature in a signed URL.
func signature(s string, start int, name string) bool {
	if start == 0 || s[start-1] != '?' && s[start-1] != '&' {
		return false
	}
	name = strings.ToLower(name)
	return name == "sig" || strings.HasSuffix(name, "-signature")
}

// code reports whether name=value without quotes is a line of a program that passes a variable or
// calls a function: password=password), secret: str(x), key: os.environ[…]. In a URL's query, and
// after a name in capitals without a space, it is a value.
func code(s string, start int, name string, at, end int) bool {
	word := s[at:end]
	if strings.ContainsAny(word, "([") {
		return true
	}
	capital := strings.ToUpper(name) == name
	if capital && !strings.Contains(s[start:at], " =") || start > 0 && (s[start-1] == '?' || s[start-1] == '&') {
		return false
	}
	word = strings.TrimRight(word, ")].")
	for _, c := range []byte(word) {
		if !letter(c) && c != '_' && c != '.' {
			return false
		}
	}
	if capital { // in a program with spaces: SECRET_KEY = settings.key
		return strings.Contains(word, ".")
	}
	return strings.ContainsAny(word, "_.") || at+len(word) < len(s) &&
		(s[at+len(word)] == ')' || s[at+len(word)] == ',') || strings.EqualFold(word, name)
}

func inValue(c byte) bool { return c > ' ' && strings.IndexByte("\"',;&}", c) < 0 }

// maxRandom is how much of a value is looked at that may be a token, in bytes.
const maxRandom = 256

// comparison is where the name before = or : at i ends, without spaces; in name == "value" and
// name != "value", with the value at at, also without the first sign.
func comparison(s string, i, at int) int {
	if i > 0 && (s[i-1] == '=' || s[i-1] == '!') && (s[at-1] == '"' || s[at-1] == '\'') {
		i--
	}
	return len(strings.TrimRight(s[:i], " "))
}

// nameBefore is the word that ends at i, without its quotes, and where it starts.
func nameBefore(s string, i int) (name string, from int) {
	from = i
	for from > 0 && (wordByte(s[from-1]) || strings.IndexByte("-\"'\\", s[from-1]) >= 0) && i-from < 66 {
		from--
	}
	return strings.Trim(s[from:i], `"'\-`), from
}

// valueAfter is where the value behind the separator at i begins. In JSON as text quotes
// have a backslash.
func valueAfter(s string, i int) int {
	at := run(s, i+1, func(c byte) bool { return c == ' ' || c == '"' || c == '\'' || c == '\\' })
	for _, scheme := range [...]string{"bearer ", "basic "} {
		if startsWith(s[at:], scheme) {
			at += len(scheme)
		}
	}
	return at
}

// keyName reports whether a name is that of a key to a service, which is often a hash and never
// the hash of a password.
func keyName(name string) bool {
	var w wording
	w.read(name)
	return w.ends([]string{"apikey", "subscriptionkey"})
}

// tokenName reports whether a name may stand for a secret: the value decides.
func tokenName(name string) bool {
	lower := strings.ToLower(name)
	return strings.HasSuffix(lower, "token") || strings.HasSuffix(lower, "key")
}

// placeholder reports whether a value only stands where a secret would: <password>,
// ${TOKEN}, {api_key}, ****, your_api_key, sk-....
func placeholder(s string) bool {
	rest := s[1:]
	switch s[0] {
	case '{', '[':
		return true
	case '<':
		return strings.Contains(rest, ">")
	case '(':
		return strings.Contains(rest, ")")
	case '%':
		return strings.HasSuffix(rest, "%")
	case '$':
		return strings.HasPrefix(rest, "{") || strings.HasPrefix(rest, "(") || rest != "" &&
			strings.Trim(rest, "ABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789") == ""
	}
	switch strings.ToLower(s) {
	case "none", "null", "true", "false", "string", "required", "undefined", "redacted", "changeme", "unknown", "empty":
		return true
	}
	// YOUR_API_KEY, TOKEN_GOES_HERE
	if strings.Contains(s, "_") && strings.Trim(s, "ABCDEFGHIJKLMNOPQRSTUVWXYZ_") == "" {
		return true
	}
	return strings.HasSuffix(s, "...") || len(s) > 5 && strings.EqualFold(s[:4], "your") &&
		strings.IndexByte("_- ", s[4]) >= 0 ||
		len(s) > 2 && strings.Trim(s, s[:1]) == "" && strings.IndexByte("*xX.-_#", s[0]) >= 0
}

// drawn reports whether the value of something named token or key is a secret.
func drawn(s string) bool {
	return len(s) >= 16 && random(s) && !identifier(s)
}

// identifier reports whether s, of 16 bytes and more, is a UUID or a hash in hexadecimal digits.
func identifier(s string) bool {
	if len(s) == 36 && inUUID(s, 0) {
		return true
	}
	return run(s, 0, hexByte) == len(s)
}

// plainWord reports whether s is letters only: "password: required" contains no password.
func plainWord(s string) bool {
	for _, c := range []byte(strings.TrimRight(s, ".!?")) {
		if !letter(c) {
			return false
		}
	}
	return true
}

// random reports whether s looks random: letters and digits, at least 3 bits of entropy a byte.
// Longer texts need letters of both cases, or more digits than a word with a number ("web3").
func random(s string) bool {
	var n [256]int
	digits, large, small := 0, 0, 0
	for _, c := range []byte(s) {
		n[c]++
		switch {
		case digit(c):
			digits++
		case upper(c):
			large++
		case letter(c):
			small++
		}
	}
	h := entropy(n[:], len(s))
	switch {
	case digits == 0 || large+small == 0:
		return len(s) >= 24 && large+small > 0 && h > 4
	case len(s) < 16:
		return h >= 2.5
	}
	return h >= 3 && (digits > 1 || large > 1 && small > 1)
}
