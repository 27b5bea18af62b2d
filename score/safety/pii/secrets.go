// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package pii

import "strings"

func wordByte(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z' || c == '_'
}

func digit(c byte) bool { return c >= '0' && c <= '9' }

func letter(c byte) bool { return c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z' }

// run is the end of the bytes from i on that ok takes.
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
// top-level part of letters. It does not start before least.
func email(s string, at, least int) Finding {
	from := at
	for from > least && (wordByte(s[from-1]) || strings.IndexByte(".+-%'", s[from-1]) >= 0) {
		from--
	}
	for from < at && strings.IndexByte(".'-", s[from]) >= 0 {
		from++
	}
	end := run(s, at+1, func(c byte) bool { return wordByte(c) && c != '_' || c == '.' || c == '-' })
	for end > at && (s[end-1] == '.' || s[end-1] == '-') {
		end--
	}
	domain := s[at+1 : max(end, at+1)]
	dot := strings.LastIndexByte(domain, '.')
	if from == at || dot <= 0 || len(domain)-dot-1 < 2 {
		return Finding{}
	}
	for _, c := range []byte(domain[dot+1:]) {
		if !letter(c) {
			return Finding{}
		}
	}
	return Finding{from, end, KindEmail}
}

// privateKey finds a PEM block that says PRIVATE KEY, to its end line or, when
// that is cut off, to the end of the text.
func privateKey(s string, i int) Finding {
	line := s[i:]
	if j := strings.Index(line[5:], "-----"); j < 0 || !strings.Contains(line[:j+5], "PRIVATE KEY") {
		return Finding{}
	}
	end := strings.Index(line, "-----END")
	if end < 0 {
		return Finding{i, len(s), KindPrivate}
	}
	if j := strings.Index(line[end+8:], "-----"); j >= 0 {
		return Finding{i, i + end + 8 + j + 5, KindPrivate}
	}
	return Finding{i, len(s), KindPrivate}
}

func bearer(s string, i int) Finding {
	const word = "bearer "
	if len(s)-i < len(word)+8 || !strings.EqualFold(s[i:i+len(word)], word) {
		return Finding{}
	}
	from := i + len(word)
	end := run(s, from, tokenByte)
	if end-from < 8 || !random(s[from:end]) {
		return Finding{}
	}
	return Finding{from, end, KindBearer}
}

// jwt finds three base64url parts of which the first starts with {" encoded.
func jwt(s string, i int) Finding {
	if !strings.HasPrefix(s[i:], "eyJ") {
		return Finding{}
	}
	end := run(s, i, func(c byte) bool { return wordByte(c) || c == '-' || c == '.' })
	for end > i && s[end-1] == '.' {
		end--
	}
	if strings.Count(s[i:end], ".") != 2 || end-i < 30 {
		return Finding{}
	}
	return Finding{i, end, KindJWT}
}

// prefix is what keys of a well-known service start with, and the fewest bytes
// that follow.
type prefix struct {
	text  string
	least int
}

func prefixes() [256][]prefix {
	var by [256][]prefix
	for _, p := range []prefix{
		{"sk-", 16},
		{"sk_live_", 12},
		{"sk_test_", 12},
		{"rk_live_", 12},
		{"pk_live_", 12},
		{"whsec_", 16},
		{"ghp_", 20},
		{"gho_", 20},
		{"ghu_", 20},
		{"ghs_", 20},
		{"ghr_", 20},
		{"github_pat_", 20},
		{"glpat-", 16},
		{"AKIA", 16},
		{"ASIA", 16},
		{"AIza", 30},
		{"ya29.", 20},
		{"xoxb-", 16},
		{"xoxp-", 16},
		{"xoxa-", 16},
		{"xapp-", 16},
		{"hf_", 20},
		{"npm_", 20},
		{"pypi-", 20},
		{"SG.", 20},
		{"gsk_", 20},
		{"xai-", 20},
		{"lsv2_", 20},
		{"dop_v1_", 20},
	} {
		by[p.text[0]] = append(by[p.text[0]], p)
	}
	return by
}

func (d *Detector) apiKey(s string, i int) Finding {
	for _, p := range d.prefixes[s[i]] {
		if !strings.HasPrefix(s[i:], p.text) {
			continue
		}
		end := run(s, i, func(c byte) bool { return wordByte(c) || c == '-' || c == '.' })
		for end > i && (s[end-1] == '.' || s[end-1] == '-') {
			end--
		}
		if end-i-len(p.text) >= p.least && random(s[i+len(p.text):end]) {
			return Finding{i, end, KindKey}
		}
	}
	return Finding{}
}

// secretName reports whether a name announces a secret: it ends in one of the
// words, apart from case and separators.
func secretName(name string) bool {
	if len(name) < 3 || len(name) > 64 {
		return false
	}
	flat := make([]byte, 0, 64)
	for _, c := range []byte(name) {
		if letter(c) {
			flat = append(flat, c|0x20)
		}
	}
	folded := string(flat)
	for _, w := range [...]string{
		"password", "passwd", "passphrase", "pwd", "secret", "secretkey", "clientsecret", "apikey", "accesskey", "privatekey",
		"accesstoken", "refreshtoken", "authtoken", "idtoken", "sessiontoken", "bearertoken", "authorization", "credential",
		"credentials", "cvv", "cvc",
	} {
		if strings.HasSuffix(folded, w) {
			return true
		}
	}
	return false
}

// named finds name=value and name: value where the name announces a secret, or
// is plainly "token" or "key" and the value looks random.
func named(s string, i int) Finding {
	at := valueAfter(s, i)
	name := nameBefore(s, comparison(s, i, at))
	secret := secretName(name)
	if at-i > 12 || !secret && !tokenName(name) {
		return Finding{}
	}
	till := len(s)
	if !secret { // the start tells, so that a long text is not looked at again for each colon
		till = min(till, at+maxRandom)
	}
	end := run(s[:till], at, inValue)
	word := s[at:end]
	if len(word) < 6 || Redacted(word) {
		return Finding{}
	}
	if secret && (!plainWord(word) || s[i] == '=') || tokenName(name) && len(word) >= 16 && random(word) {
		return Finding{at, run(s, end, inValue), KindSecret}
	}
	return Finding{}
}

func inValue(c byte) bool { return c > ' ' && strings.IndexByte("\"',;&}", c) < 0 }

// maxRandom is how much of a value is looked at that may be a token, in bytes.
const maxRandom = 256

// comparison is where what is compared with a quoted text ends, in name == "value" and
// name != "value" with the last = at i and the value at at; i where there is none.
func comparison(s string, i, at int) int {
	if i == 0 || s[i-1] != '=' && s[i-1] != '!' || s[at-1] != '"' && s[at-1] != '\'' {
		return i
	}
	return len(strings.TrimRight(s[:i-1], " "))
}

// nameBefore is the word that ends at i, without its quotes.
func nameBefore(s string, i int) string {
	from := i
	for from > 0 && (wordByte(s[from-1]) || strings.IndexByte("-\"'", s[from-1]) >= 0) && i-from < 66 {
		from--
	}
	return strings.Trim(s[from:i], `"'`)
}

// valueAfter is where the value behind the separator at i begins.
func valueAfter(s string, i int) int {
	at := run(s, i+1, func(c byte) bool { return c == ' ' || c == '"' || c == '\'' })
	if strings.HasPrefix(strings.ToLower(s[at:min(at+7, len(s))]), "bearer ") {
		at += 7
	}
	return at
}

// tokenName reports whether a name may stand for a secret: the value decides.
func tokenName(name string) bool {
	lower := strings.ToLower(name)
	return strings.HasSuffix(lower, "token") || strings.HasSuffix(lower, "key")
}

// plainWord reports whether s is letters only: "password: required" tells none.
func plainWord(s string) bool {
	for _, c := range []byte(strings.TrimRight(s, ".!?")) {
		if !letter(c) {
			return false
		}
	}
	return true
}

// random reports whether s looks drawn rather than written: letters and digits,
// and at least 3 bits of entropy a byte.
func random(s string) bool {
	var n [256]int
	digits, letters := 0, 0
	for _, c := range []byte(s) {
		n[c]++
		switch {
		case digit(c):
			digits++
		case letter(c):
			letters++
		}
	}
	if digits == 0 || letters == 0 {
		return len(s) >= 24 && letters > 0 && entropy(n[:], len(s)) > 4
	}
	return entropy(n[:], len(s)) >= 3 || len(s) < 16 && entropy(n[:], len(s)) >= 2.5
}
