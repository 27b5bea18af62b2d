// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package safety

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

// sevenDigits reports whether seven digits follow from i on, with at most one byte between two of
// them. No number of a person or card is shorter.
func sevenDigits(s string, i int) bool {
	n, gap := 0, 0
	for ; i < len(s) && gap < 2; i++ {
		if !digit(s[i]) {
			gap++
			continue
		}
		if n, gap = n+1, 0; n == 7 {
			return true
		}
	}
	return false
}

// Lengths of card numbers. ISO/IEC 7812-1 also allows fewer than 12 digits, but no such cards are
// issued.
const (
	minCard = 12
	maxCard = 19
)

// card finds a number that passes Luhn, in one piece or in the groups of cards. It must also start
// like an issuer's numbers and have the issuer's length. Where the text or the member's name
// announces a card, the check digit is enough.
//
// Digits such as an expiry date may follow after a space. A group of four after groups is a part
// of the number, so that four years of a longer list are no card.
func card(s string, i int, r NameRole) (f DataFinding) {
	for end := i; end-i <= 20; end++ { // the fifth group of four starts at 20
		first := end == i
		end = run(s, end, digit)
		follow := 0
		if end < len(s) && (s[end] == ' ' || s[end] == '-') {
			follow = run(s, end+1, digit) - (end + 1)
		}
		if (first || follow != 4) && isCard(s, i, end, r) {
			f = DataFinding{i, end, KindCard}
		}
		if follow == 0 {
			break
		}
	}
	return f
}

// isCard reports whether all digits from i to end, which may be in groups, form a card number.
func isCard(s string, i, end int, r NameRole) bool {
	if end-i < minCard {
		return false
	}
	d := strings.Map(onlyDigits, s[i:end])
	if len(d) > maxCard || !luhn(d) || partOfNumber(s, i, end) || end < len(s) && wordByte(s[end]) {
		return false
	}
	if strings.Count(d, d[:1]) == len(d) || end-i > len(d) && !cardGroups(s[i:end]) {
		return false
	}
	if r == RoleCard {
		return i < 2 || s[i-1] != ' ' || !digit(s[i-2])
	}
	return issued(d)
}

// partOfNumber reports whether the digits from i to end belong to a number with a decimal
// point or an exponent, or to a longer word with dashes.
func partOfNumber(s string, i, end int) bool {
	if i > 1 && s[i-1] == '.' && digit(s[i-2]) || i > 1 && s[i-1] == '-' && wordByte(s[i-2]) {
		return true
	}
	return end+1 < len(s) && (s[end] == '.' && digit(s[end+1]) || s[end] == '-' && wordByte(s[end+1]))
}

// cardGroups reports whether groups are those that cards are printed in, with one kind of
// separator: fours, the last of one to four, or 4-6-4 and 4-6-5.
func cardGroups(s string) bool {
	var sizes []int
	n, sep := 0, byte(0)
	for i := range len(s) {
		if digit(s[i]) {
			n++
			continue
		}
		if sep != 0 && s[i] != sep {
			return false
		}
		sizes, n, sep = append(sizes, n), 0, s[i]
	}
	sizes = append(sizes, n)
	if len(sizes) == 3 {
		return sizes[0] == 4 && (sizes[1] == 6 && (n == 4 || n == 5) || sizes[1] == 4 && n == 4)
	}
	for _, k := range sizes[:len(sizes)-1] {
		if k != 4 {
			return false
		}
	}
	return n <= 4
}

// issued reports whether a number starts like the numbers of a card network and has this
// network's length. Lengths that almost no card has are left out (13 and 19 of Visa, 19 of
// UnionPay), because numbers of other kinds have them too.
func issued(d string) bool {
	switch len(d) {
	case 14, 15, 16:
		return network(d) == len(d)
	}
	return false
}

// network is the usual length of the numbers of the card network with the prefix of d (12 digits
// and more); 0 for none.
func network(d string) int {
	four := 0
	for _, c := range []byte(d[:4]) {
		four = four*10 + int(c-'0')
	}
	in := func(ranges ...[2]int) bool {
		for _, r := range ranges {
			if four >= r[0] && four <= r[1] {
				return true
			}
		}
		return false
	}
	switch {
	case in([2]int{3000, 3059}, [2]int{3095, 3095}, [2]int{3600, 3699}, [2]int{3800, 3999}): // Diners Club
		return 14
	// American Express, older JCB
	case in([2]int{3400, 3499}, [2]int{3700, 3799}, [2]int{1800, 1800}, [2]int{2131, 2131}):
		return 15
	case in(
		[2]int{4000, 4999},                     // Visa
		[2]int{5100, 5599}, [2]int{2221, 2720}, // Mastercard
		[2]int{6011, 6011}, [2]int{6440, 6599}, // Discover
		[2]int{3528, 3589},                     // JCB
		[2]int{6200, 6299},                     // UnionPay
		[2]int{2200, 2204},                     // Mir
		[2]int{5080, 5089}, [2]int{6000, 6099}, // RuPay
		// Maestro
		[2]int{5018, 5018}, [2]int{5020, 5020}, [2]int{5038, 5038}, [2]int{5893, 5893}, [2]int{6304, 6304},
		[2]int{6759, 6763}):
		return 16
	}
	return 0
}

// luhn is the check of ISO/IEC 7812-1, annex B.
func luhn(d string) bool {
	sum := 0
	for i := range len(d) {
		n := int(d[len(d)-1-i] - '0')
		if i%2 == 1 {
			n = 2*n/10 + 2*n%10
		}
		sum += n
	}
	return sum%10 == 0
}

// iban finds an account number of ISO 13616, in one piece or in groups of four. Small letters are
// accepted in one piece only.
func iban(s string, i int) DataFinding {
	if len(s)-i < 15 || !ibanHead(s[i:]) {
		return DataFinding{}
	}
	capital := upper(s[i])
	var b [34]byte
	n := 0
	for j := i; j < len(s) && n < len(b); j++ {
		c := s[j]
		if c == ' ' && capital && n%4 == 0 && s[j-1] != ' ' {
			continue
		}
		if letter(c) && upper(c) == capital {
			c &^= 0x20
		} else if !digit(c) {
			break
		}
		b[n] = c
		n++
		if n >= 15 && (j+1 == len(s) || !wordByte(s[j+1])) && mod97(b[:n]) {
			return DataFinding{i, j + 1, KindIBAN}
		}
	}
	return DataFinding{}
}

// ibanHead reports whether s begins with a country and two check digits.
func ibanHead(s string) bool { return letter(s[0]) && letter(s[1]) && digit(s[2]) && digit(s[3]) }

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

// maxPhone is the most digits of a number, with the country code, in ITU-T E.164.
const maxPhone = 15

// phone finds a number with a country code (+46 70 123 45 67), one with its area code in brackets
// ((555) 123-4567), and one of North America in three groups. Where the text or the member's name
// announces a phone, it finds any of 7 to 15 digits. An extension (x123) belongs to it.
func phone(s string, i int, r NameRole) DataFinding {
	from := i
	if s[i] == '+' {
		i++
	}
	if !dialled(s, from, i) {
		return DataFinding{}
	}
	d, end := groupedPhone(s, i)
	end = extension(s, end)
	if end < len(s) && (wordByte(s[end]) || s[end] == '-') || isoDate(s[i:]) {
		return DataFinding{}
	}
	n := len(d)
	switch {
	case s[from] == '+' && n >= 8 && n <= maxPhone && d[0] != '0', s[from] == '(' && n >= 9 && n <= 11,
		digit(s[from]) && n == 10 && d[0] >= '2' && northAmerican(s[from:]), r == RolePhone && n >= 7 && n <= maxPhone:
		return DataFinding{from, end, KindPhone}
	}
	return DataFinding{}
}

// dialled reports whether a phone number may start at from, with its first digit or bracket
// at i.
func dialled(s string, from, i int) bool {
	switch {
	case i >= len(s) || from > 0 && digit(s[from-1]):
		return false
	case s[from] == '(':
		return areaCode(s[from:])
	}
	return digit(s[i]) || s[i] == '('
}

// areaCode reports whether s starts with two to five digits in brackets.
func areaCode(s string) bool {
	end := run(s, 1, digit)
	return end >= 3 && end <= 6 && end < len(s) && s[end] == ')'
}

func northAmerican(s string) bool {
	return len(s) >= 12 && shaped(s[:12], "ddd"+s[3:4]+"ddd"+s[3:4]+"dddd") && strings.IndexByte("-. ", s[3]) >= 0
}

// isoDate reports whether s starts with a date such as 2026-01-31.
func isoDate(s string) bool {
	return len(s) >= 10 && shaped(s[:10], "dddd-dd-dd") && (s[0] == '1' || s[0] == '2') && s[5] <= '1' && s[8] <= '3'
}

// extension is the end of an extension that starts at i, or i.
func extension(s string, i int) int {
	if i == len(s) || s[i] != 'x' {
		return i
	}
	if end := run(s, i+1, digit); end > i+1 && end-i <= 7 {
		return end
	}
	return i
}

func groupedPhone(s string, i int) (digits string, end int) {
	var b []byte
	end = i
	for j := i; j < len(s) && len(b) <= maxPhone; j++ {
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

// nationalID finds numbers by their separators and check digits; also without separators where the
// member's name announces them.
func nationalID(s string, i int, r NameRole) DataFinding {
	for _, f := range []struct {
		shape string
		bare  bool
		ok    func(digits string) bool
	}{
		{"ddd-dd-dddd", false, ssn},
		{"ddd.ddd.ddd-dd", false, cpf},
		{"dddddd-dddd", false, personnummer},
		{"dddddddd-dddd", false, personnummer},
		{"ddddddddd", true, ssn},
		{"ddddddddddd", true, cpf},
		{"dddddddddd", true, personnummer},
		{"dddddddddddd", true, personnummer},
	} {
		n := len(f.shape)
		if f.bare && r != RoleNational || len(s)-i < n || len(s)-i > n && (wordByte(s[i+n]) || s[i+n] == '-') ||
			!shaped(s[i:i+n], f.shape) {
			continue
		}
		if !partOfNumber(s, i, i+n) && f.ok(strings.Map(onlyDigits, s[i:i+n])) {
			return DataFinding{i, i + n, KindID}
		}
	}
	return dni(s, i)
}

func onlyDigits(r rune) rune {
	if r < '0' || r > '9' {
		return -1
	}
	return r
}

// shaped reports whether s has the shape: d means a digit, every other byte itself.
func shaped(s, shape string) bool {
	for i := range len(shape) {
		if shape[i] == 'd' && !digit(s[i]) || shape[i] != 'd' && s[i] != shape[i] {
			return false
		}
	}
	return true
}

// ssn refuses numbers that the Social Security Administration never issues.
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

// dni finds eight digits with the letter of their remainder modulo 23.
func dni(s string, i int) DataFinding {
	const letters = "TRWAGMYFPDXBNJZSQVHLCKE"
	if len(s)-i < 9 || run(s, i, digit) != i+8 || len(s)-i > 9 && wordByte(s[i+9]) {
		return DataFinding{}
	}
	n := 0
	for _, c := range []byte(s[i : i+8]) {
		n = n*10 + int(c-'0')
	}
	if s[i+8] != letters[n%23] {
		return DataFinding{}
	}
	return DataFinding{i, i + 9, KindID}
}

// dniWithLetter finds the number of a foreigner in Spain: X, Y or Z means 0, 1 or 2 as the first
// digit.
func dniWithLetter(s string, i int) DataFinding {
	if s[i] < 'X' || s[i] > 'Z' {
		return DataFinding{}
	}
	if f := dni(string(s[i]-'X'+'0')+s[i+1:min(i+10, len(s))], 0); f.End == 0 {
		return DataFinding{}
	}
	return DataFinding{i, i + 9, KindID}
}

// announced is the role of a number by the text before it: a name with = or a colon
// (card_id='…'), else a word without another value in between.
func (d *Detector) announced(s string, i int) NameRole {
	if sep := len(strings.TrimRight(s[:i], " \"'\\")); sep > 0 && (s[sep-1] == '=' || s[sep-1] == ':') {
		name, _ := nameBefore(s, sep-1)
		if r := d.Role(name); r == RoleID || r == RoleCard || r == RoleNational || r == RolePhone {
			return r
		}
	}
	text := before(s, i)
	best, at := RoleNone, -1
	for _, w := range [...]struct {
		word string
		role NameRole
	}{
		{"card", RoleCard},
		{"visa", RoleCard},
		{"mastercard", RoleCard},
		{"amex", RoleCard},
		{"cc", RoleCard},
		{"phone", RolePhone},
		{"telephone", RolePhone},
		{"cellphone", RolePhone},
		{"mobile", RolePhone},
		{"fax", RolePhone},
		{"tel:", RolePhone},
		{"tel.", RolePhone},
		{"whatsapp", RolePhone},
		{"sms", RolePhone},
		{"call me", RolePhone},
		{"call us", RolePhone},
		{"dial", RolePhone},
		{"ssn", RoleNational},
		{"social security", RoleNational},
		{"cpf", RoleNational},
		{"personnummer", RoleNational},
		{"national id", RoleNational},
	} {
		if j := strings.LastIndex(text, w.word); j > at && (j == 0 || !letter(text[j-1])) {
			best, at = w.role, j
		}
	}
	return best
}

// before is the text before i that belongs to the value at i, in small letters: the last 32
// bytes, without a digit or a sign that ends another value.
func before(s string, i int) string {
	s = s[max(0, i-32):i]
	return strings.ToLower(s[strings.LastIndexAny(s, "0123456789&=/]")+1:])
}

// inUUID reports whether i is inside a UUID.
func inUUID(s string, i int) bool {
	const shape = "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx"
	from := i
	for from > 0 && i-from < len(shape) && (hexByte(s[from-1]) || s[from-1] == '-') {
		from--
	}
	if len(s)-from < len(shape) {
		return false
	}
	for j := range len(shape) {
		if shape[j] == '-' && s[from+j] != '-' || shape[j] == 'x' && !hexByte(s[from+j]) {
			return false
		}
	}
	return true
}

func hexByte(c byte) bool {
	return digit(c) || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F'
}
