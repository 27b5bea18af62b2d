// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package pii

import (
	"math"
	"strings"
)

// entropy is Shannon's, in bits a byte, of counts that sum to total.
func entropy(counts []int, total int) float64 {
	h := 0.0
	for _, c := range counts {
		if c > 0 {
			p := float64(c) / float64(total)
			h -= p * math.Log2(p)
		}
	}
	return h
}

// grouped reads digits from i on that may stand in groups with one separator
// each, and gives them with the end of the last one; most bounds them.
func grouped(s string, i, most int, separators string) (digits string, end int) {
	var b [32]byte
	n := 0
	for j := i; j < len(s) && n < len(b); j++ {
		switch {
		case digit(s[j]):
			b[n], end = s[j], j+1
			n++
		case strings.IndexByte(separators, s[j]) >= 0 && j+1 < len(s) && digit(s[j+1]):
		default:
			return string(b[:n]), end
		}
		if n > most {
			return "", 0
		}
	}
	return string(b[:n]), end
}

// card finds 13 to 19 digits that start as the networks' numbers do and pass Luhn.
func card(s string, i int) Finding {
	d, end := grouped(s, i, 19, " -")
	if len(d) < 13 || d[0] < '2' || d[0] > '6' || !luhn(d) || end < len(s) && wordByte(s[end]) {
		return Finding{}
	}
	return Finding{i, end, KindCard}
}

// luhn is the check of ISO/IEC 7812-1, annex B.
func luhn(d string) bool {
	sum := 0
	for i := range len(d) {
		n := int(d[len(d)-1-i] - '0')
		if i%2 == 1 {
			if n *= 2; n > 9 {
				n -= 9
			}
		}
		sum += n
	}
	return sum%10 == 0
}

// iban finds an account number of ISO 13616, in one piece or in groups of four.
func iban(s string, i int) Finding {
	if len(s)-i < 15 || !upper(s[i]) || !upper(s[i+1]) || !digit(s[i+2]) || !digit(s[i+3]) {
		return Finding{}
	}
	var b []byte
	for j := i; j < len(s) && len(b) <= 34; j++ {
		if s[j] == ' ' && len(b)%4 == 0 && j+1 < len(s) && (upper(s[j+1]) || digit(s[j+1])) {
			continue
		}
		if !upper(s[j]) && !digit(s[j]) {
			break
		}
		b = append(b, s[j])
		if len(b) >= 15 && (j+1 == len(s) || !wordByte(s[j+1])) && mod97(b) {
			return Finding{i, j + 1, KindIBAN}
		}
	}
	return Finding{}
}

func upper(c byte) bool { return c >= 'A' && c <= 'Z' }

// mod97 is the check of ISO 7064 over the number with its head moved to the end.
func mod97(b []byte) bool {
	r := 0
	for i := range b {
		c := b[(i+4)%len(b)]
		if digit(c) {
			r = (r*10 + int(c-'0')) % 97
		} else {
			r = (r*100 + int(c-'A') + 10) % 97
		}
	}
	return r == 1
}

// phone finds a number with a country code (+46 70 123 45 67), one with its area
// code in brackets ((555) 123-4567) and one of North America in three groups.
func phone(s string, i int) Finding {
	from := i
	if s[i] == '+' {
		i++
	}
	if i >= len(s) || from > 0 && digit(s[from-1]) {
		return Finding{}
	}
	d, end := groupedPhone(s, i)
	if end < len(s) && (wordByte(s[end]) || s[end] == '-') {
		return Finding{}
	}
	switch {
	case s[from] == '+' && len(d) >= 8 && len(d) <= 15 && d[0] != '0':
	case s[from] == '(' && len(d) >= 9 && len(d) <= 11:
	case digit(s[from]) && len(d) == 10 && d[0] >= '2' && northAmerican(s[from:end]):
	default:
		return Finding{}
	}
	return Finding{from, end, KindPhone}
}

func northAmerican(s string) bool {
	return len(s) == 12 && strings.IndexByte("-. ", s[3]) >= 0 && s[3] == s[7]
}

func groupedPhone(s string, i int) (digits string, end int) {
	var b []byte
	for j := i; j < len(s) && len(b) <= 16; j++ {
		switch {
		case digit(s[j]):
			b, end = append(b, s[j]), j+1
		case strings.IndexByte(" -.()", s[j]) >= 0 && j-end < 2:
		default:
			return string(b), end
		}
	}
	return string(b), end
}

// nationalID finds numbers that are told by their separators or check digits.
func nationalID(s string, i int) Finding {
	for _, f := range []struct {
		shape string
		ok    func(digits string) bool
	}{
		{"ddd-dd-dddd", ssn}, {"ddd.ddd.ddd-dd", cpf}, {"dddddd-dddd", personnummer}, {"dddddddd-dddd", personnummer},
	} {
		n := len(f.shape)
		if len(s)-i < n || len(s)-i > n && (wordByte(s[i+n]) || s[i+n] == '-') || !shaped(s[i:i+n], f.shape) {
			continue
		}
		if f.ok(strings.Map(onlyDigits, s[i:i+n])) {
			return Finding{i, i + n, KindID}
		}
	}
	if f := dni(s, i); f.End > 0 {
		return f
	}
	return Finding{}
}

func onlyDigits(r rune) rune {
	if r < '0' || r > '9' {
		return -1
	}
	return r
}

func shaped(s, shape string) bool {
	for i := range len(shape) {
		if shape[i] == 'd' && !digit(s[i]) || shape[i] != 'd' && s[i] != shape[i] {
			return false
		}
	}
	return true
}

// ssn refuses what the Social Security Administration never gives out.
func ssn(d string) bool {
	return d[:3] != "000" && d[:3] != "666" && d[0] != '9' && d[3:5] != "00" && d[5:] != "0000"
}

func cpf(d string) bool {
	if strings.Count(d, d[:1]) == len(d) {
		return false
	}
	for n := 9; n <= 10; n++ {
		sum := 0
		for i := range n {
			sum += int(d[i]-'0') * (n + 1 - i)
		}
		if sum*10%11%10 != int(d[n]-'0') {
			return false
		}
	}
	return true
}

// personnummer checks month, day (with 60 added in coordination numbers) and Luhn.
func personnummer(d string) bool {
	d = d[len(d)-10:]
	month, day := int(d[2]-'0')*10+int(d[3]-'0'), int(d[4]-'0')*10+int(d[5]-'0')
	return month >= 1 && month <= 12 && (day >= 1 && day <= 31 || day >= 61 && day <= 91) && luhn(d)
}

// dni finds eight digits with the letter that 23 leaves of them.
func dni(s string, i int) Finding {
	const letters = "TRWAGMYFPDXBNJZSQVHLCKE"
	if len(s)-i < 9 || run(s, i, digit) != i+8 || len(s)-i > 9 && wordByte(s[i+9]) {
		return Finding{}
	}
	n := 0
	for _, c := range []byte(s[i : i+8]) {
		n = n*10 + int(c-'0')
	}
	if s[i+8] != letters[n%23] {
		return Finding{}
	}
	return Finding{i, i + 9, KindID}
}

// dniWithLetter finds the number of a foreigner in Spain: X, Y or Z stands for
// 0, 1 or 2 as the first digit.
func dniWithLetter(s string, i int) Finding {
	if s[i] < 'X' || s[i] > 'Z' || len(s)-i < 9 || run(s, i+1, digit) != i+8 {
		return Finding{}
	}
	f := dni(string(s[i]-'X'+'0')+s[i+1:min(i+11, len(s))], 0)
	if f.End == 0 {
		return Finding{}
	}
	return Finding{i, i + 9, KindID}
}
