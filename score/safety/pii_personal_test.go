// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package safety_test

import (
	"fmt"
	"maps"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/callvet/callvet/score/safety"
)

// shown is s with the kind of each finding in its place: "card <card> ok".
func shown(d *safety.Detector, s string, r safety.NameRole) string {
	var b strings.Builder
	at := 0
	for f, ok := d.Find(s, 0, r); ok; f, ok = d.Find(s, f.End, r) {
		b.WriteString(s[at:f.Start] + "<" + string(f.Kind) + ">")
		at = f.End
	}
	return b.String() + s[at:]
}

// finds compares what a detector of every kind finds in texts, as shown, with want.
func finds(t *testing.T, r safety.NameRole, want map[string]string) {
	t.Helper()
	d, got := newDetector(t, safety.DetectorConfig{}), map[string]string{}
	for s := range want {
		got[s] = shown(d, s, r)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// ignores expects that a detector of every kind finds nothing in the texts.
func ignores(t *testing.T, r safety.NameRole, texts ...string) {
	t.Helper()
	want := map[string]string{}
	for _, s := range texts {
		want[s] = s
	}
	finds(t, r, want)
}

// checked is a prefix, filled with zeros, with the check digit that makes it a number of n digits:
// the doubles of ISO/IEC 7812-1 are read off a table.
func checked(prefix string, n int) string {
	const doubles = "0246813579"
	d, sum := prefix+strings.Repeat("0", n-1-len(prefix)), 0
	for i := range len(d) {
		c := d[len(d)-1-i]
		if i%2 == 0 {
			c = doubles[c-'0']
		}
		sum += int(c - '0')
	}
	return d + string(rune('0'+(10-sum%10)%10))
}

// TestNetworks: a number by itself is a card when it starts within the first digits of a network
// and has that network's length; a number next to the range is none.
func TestNetworks(t *testing.T) {
	t.Parallel()
	type span struct{ first, last, digits int }
	known := []span{
		{1800, 1800, 15},
		{2131, 2131, 15},
		{2200, 2204, 16},
		{2221, 2720, 16},
		{3000, 3059, 14},
		{3095, 3095, 14},
		{3400, 3499, 15},
		{3528, 3589, 16},
		{3600, 3699, 14},
		{3700, 3799, 15},
		{3800, 3999, 14},
		{4000, 4999, 16},
		{5018, 5018, 16},
		{5020, 5020, 16},
		{5038, 5038, 16},
		{5080, 5089, 16},
		{5100, 5599, 16},
		{5893, 5893, 16},
		{6000, 6099, 16},
		{6200, 6299, 16},
		{6304, 6304, 16},
		{6440, 6599, 16},
		{6759, 6763, 16},
	}
	digits := map[int]int{}
	for _, s := range known {
		for n := s.first; n <= s.last; n++ {
			digits[n] = s.digits
		}
	}
	want := map[string]string{}
	for _, s := range known {
		for _, n := range []int{s.first - 1, s.first, s.last, s.last + 1} {
			for long := 13; long <= 17; long++ {
				number := checked(fmt.Sprint(n), long)
				want[number] = number
				if digits[n] == long {
					want[number] = "<card>"
				}
			}
		}
	}
	finds(t, safety.RoleNone, want)
}

func TestCards(t *testing.T) {
	t.Parallel()
	const visa = "4111111111111111"
	want := map[string]string{
		"a card, " + visa:       "a card, <card>",
		visa + ".":              "<card>.",
		visa + ". 5":            "<card>. 5",
		visa + "-":              "<card>-",
		visa + "- x":            "<card>- x",
		visa + " ":              "<card> ",
		"." + visa:              ".<card>",
		"-" + visa:              "-<card>",
		"a." + visa:             "a.<card>",
		"x -" + visa:            "x -<card>",
		"12 " + visa:            "12 <card>",
		"4111 1111 1111 1111":   "<card>",
		"4111-1111-1111-1111 5": "<card> 5",
		visa + " 12/27 123":     "<card> 12/27 123",
		visa + " 2027":          "<card> 2027",
		"4111 1111 1111 1111 12/27 and 4111 1111 1111 1111 123": "<card> 12/27 and <card> 123",
		visa + " " + visa + " 5500005555555559":                 "<card> <card> <card>",
		"3782 8224 6310 005":                                    "<card>",
		"3782 822463 10005":                                     "<card>",
		"3056 930902 5904":                                      "<card>",
		"n 4111-1111-1111-1111, ":                               "n <card>, ",
	}
	// Everything but digits and letters in ASCII ends a number.
	for _, c := range "/:;@[^`{|" {
		want[visa+string(c)] = "<card>" + string(c)
	}
	finds(t, safety.RoleNone, want)
	ignores(
		t, safety.RoleNone,
		"3."+visa, visa+".5", "inv-"+visa, visa+"-x", visa+"0", visa+"9", visa+"a", visa+"z", visa+"A",
		visa+"Z", visa+"_",
		"4111 1111 1111 1111 2027", "4111-1111 1111-1111", "4111  1111  1111  1111", "41111111 11111111",
		"411 1111 1111 1111 11", "4111 1111 1111 111 1",
	)
}

// TestCardByName: where a name speaks of a card, 12 to 19 digits in the groups of cards are one
// when the check digit is right, whoever issued it.
func TestCardByName(t *testing.T) {
	t.Parallel()
	finds(t, safety.RoleCard, map[string]string{
		checked("9", 12):          "<card>",
		checked("9", 13):          "<card>",
		checked("9", 19):          "<card>",
		"9000 0000 0001":          "<card>",
		"9000 0000 0000 1":        "<card>",
		"9000 0000 0000 00001":    "9000 0000 0000 00001",
		" " + checked("9", 16):    " <card>",
		"-" + checked("9", 16):    "-<card>",
		"x 9000000000000001 y":    "x <card> y",
		"9000 0000 0000 0000 001": "<card>",
	})
	ignores(
		t, safety.RoleCard,
		checked("9", 11), "no "+checked("9", 11), checked("9", 20), "9000000000000002", "0000000000000000",
		"9000 00000 001", "90000 0000 001", "9000 000000 000001", "90000000 0001", "9 000000 00001",
		"900 000000 00001", "9000 000000 01 ", "0000 9000 0000 0000 0001", // 20 digits; the last sixteen pass
		"0000-9000-0000-0000-0001", "1 9000000000000001",
	)
	ignores(t, safety.RoleNone, checked("9", 12), checked("9", 16))
}

func TestIBAN(t *testing.T) {
	t.Parallel()
	const norway, malta, longest = "NO9386011117947", "MT84MALT011000012345MTLCAST001S",
		"XX510123456789ABCDEFGHJKLMNOPQRSTU"
	finds(t, safety.RoleNone, map[string]string{
		norway:                  "<iban>",
		"to " + norway:          "to <iban>",
		norway + ", please":     "<iban>, please",
		strings.ToLower(norway): "<iban>",
		malta:                   "<iban>",
		strings.ToLower(malta):  "<iban>",
		longest:                 "<iban>",
		"NO93 8601 1117 947":    "<iban>",
		"MT84 MALT 0110 0001 2345 MTLCAST001S is in Malta": "<iban> is in Malta",
		"AT61 1904 3002 3457 3201 is one":                  "<iban> is one",
		"CZ65 0800 0000 1920 0014 5399":                    "<iban>",
		"GB82 WEST 1234 5698 7654 32":                      "<iban>",
	})
	ignores(
		t, safety.RoleNone,
		"XX070123456789", // passes modulo 97, but is shorter than any
		"NO9386011117948", "NO9386011117947x", "NO9386011117947_", "no93 8601 1117 947", "No9386011117947",
		"nO9386011117947", "GB82west12345698765432",
		"NO9 38601 1117 947", "NO93  8601 1117 947", "AT61 1904 3002 3457 3202 ", "AT61 1904 3002 3457 3202",
		"NO93-8601-1117-947",
		longest[:4]+strings.Repeat("0", 60), "N19386011117947", "1O9386011117947", "NOA386011117947", "NO9A86011117947",
		"hello you ab", "hello you AB1",
	)
}

// TestPhones: 8 to 15 digits after a plus sign (ITU-T E.164), 9 to 11 behind an area code in
// brackets, and three North American groups.
func TestPhones(t *testing.T) {
	t.Parallel()
	finds(t, safety.RoleNone, map[string]string{
		"+4612345 678":            "<phone>",
		"+46123456":               "<phone>",
		"+461234567890123":        "<phone>",
		"+46 70-123.45 67, now":   "<phone>, now",
		"+46 (0) 70 123 45 67":    "<phone>",
		"+(46) 701234567":         "<phone>",
		"x+46701234567":           "x<phone>",
		"call +46701234567 x":     "<phone>"[:0] + "call <phone> x",
		"+46701234567x1":          "<phone>",
		"+46701234567x123456.":    "<phone>.",
		"(12) 3456789":            "<phone>",
		"(12345) 6789":            "<phone>",
		"(555) 123-45678":         "<phone>",
		"at (555) 123-4567 today": "at <phone> today",
		"555-123-2002":            "<phone>",
		"255.123.2002":            "<phone>",
		"555 123 2002!":           "<phone>!",
		"555-123-2002x77":         "<phone>",
		"985-123-2002":            "<phone>",
	})
	ignores(
		t, safety.RoleNone,
		"+4612345", "+4612345678901234", "+46 7012 3456 7890 1 2", "+0701234567", "+ 46701234567", "5+46701234567",
		"a sum: +", "+x46701234567",
		"+46701234567x", "+46701234567x ", "+46701234567x1234567", "+46701234567-", "+46701234567-a", "+46701234567a",
		"+46 - 701234567",
		"(1) 23456789", "(123456) 7890", "(12) 345678", "(555) 123-456789", "(12345", "a (12345", "(555] 123-4567",
		"(555x) 1234567", "(55 5) 1234567",
		"155-123-2002", "555-123.2002", "555)123)2002", "555-123-20022", "555-123-2002-1", "555-123-2002 55",
		"5551232002", "5551-23-2002", "55-5123-2002", "555-123-200",
	)
	ignores(t, safety.RoleID, "+46701234567", "(555)123-4567")
}

// TestPhoneByName: where a name speaks of a phone, any 7 to 15 digits are one, but a date is not.
func TestPhoneByName(t *testing.T) {
	t.Parallel()
	finds(t, safety.RolePhone, map[string]string{
		"1234567":         "<phone>",
		"123456789012345": "<phone>",
		"(555) 1234":      "<phone>",
		"0701-234567":     "<phone>",
		"28-64-66-98":     "<phone>",
		"0024-05-15":      "<phone>",
		"3024-05-15":      "<phone>",
		"2024-25-15":      "<phone>",
		"2024-05-45":      "<phone>",
		"2024-05-1":       "<phone>",
		"2024.05.15":      "<phone>",
		"41111111-1111-4111-8111-111111111111-5551234": "41111111-1111-4111-8111-111111111111-<phone>",
	})
	ignores(
		t, safety.RolePhone,
		"123456", "1234567890123456", "(555) 123", "123  4567", "123) 4567", "1999-12-31", "2026-01-01", "2024-10-30",
		"2024-05-15 ",
		"41111111-1111-4111-8111-411111111111", "a 41111111-1111-4111-8111-411111111111",
		"see 41111111-1111-4111-8111-411111111111 or aF1111f1-1A11-4a11-8111-411111111111",
	)
	ignores(t, safety.RoleNone, "1234567", "123456789012345", "2024-05-15")
}

// TestNational: numbers that the issuing office publishes as examples, and those at the bounds
// of what it gives out.
func TestNational(t *testing.T) {
	t.Parallel()
	want := map[string]string{}
	for _, s := range []string{
		"219-09-9999", "001-01-0001", "665-01-0001", "667-01-0001", "899-99-9999", // US SSN
		"529.982.247-25", "111.444.777-35", "012.345.678-90", "123.456.789-09", "987.654.321-00", // Brazilian CPF
		// Swedish personal numbers
		"811218-9876", "701063-2391", "800101-0001", "801231-0002", "801261-0005", "801291-0009", "19811218-9876",
		"12345678Z", "00000000T", "X1234567L", "Y1234567X", "Z1234567R", // Spanish DNI and NIE
	} {
		want[s], want["no. "+s+", yes"] = "<national_id>", "no. <national_id>, yes"
		want["no. "+s] = "no. <national_id>"
	}
	finds(t, safety.RoleNone, want)
	ignores(
		t, safety.RoleNone,
		"000-09-9999", "666-09-9999", "900-09-9999", "219-00-9999", "219-09-0000", "219-09-99990", "219-09-9999-1",
		"219-09-9999x", "a-219-09-9999", "1.219-09-9999", "219-09.9999",
		"529.982.247-24", "529.982.247-15", "111.111.111-11", "529.982.247.25", "529.982.24-725",
		"811218-9875", "800001-0002", "801331-0001", "801200-0009", "801232-0001", "801260-0006", "801292-0008",
		"81121-89876",
		"12345678A", "12345678z", "12345678Zx", "1234567L", "123456789Z", "X1234567A", "X1234567Lx", "X12345678",
		"X123456L", "W1234567T", "x1234567L", "a1234567F",
		"id: 12345678", "the id: 1234567", "id is X1234567",
		"219099999", "52998224725", "8112189876", "198112189876",
	)
	finds(t, safety.RoleNational, map[string]string{
		"219099999": "<national_id>", "52998224725": "<national_id>", "8112189876": "<national_id>",
		"198112189876": "<national_id>", "a 219099999": "a <national_id>",
	})
	ignores(t, safety.RoleNational, "000099999", "52998224724", "8112189875", "198112189875", "21909999", "219099999-1",
		"1.219099999", "219099999x")
}

// TestAnnounced: the name or the word just before a number defines its kind.
func TestAnnounced(t *testing.T) {
	t.Parallel()
	const card, visa = "900000000001", "4111111111111111"
	want := map[string]string{}
	for kind, words := range map[safety.DataKind][]string{
		safety.KindCard: {"card", "visa", "mastercard", "amex", "cc"},
		safety.KindPhone: {
			"phone", "telephone", "cellphone", "mobile", "fax", "tel:", "tel.", "whatsapp", "sms",
			"call me", "call us", "dial",
		},
		safety.KindID: {"ssn", "social security", "cpf", "personnummer", "national id"},
	} {
		number := map[safety.DataKind]string{safety.KindCard: card, safety.KindPhone: "4515986", safety.KindID: "219099999"}[kind]
		for _, w := range words {
			for _, w := range []string{w, "(" + w, "the " + strings.ToUpper(w)} {
				want[w+" "+number] = w + " <" + string(kind) + ">"
			}
			want["x"+w+" "+number] = "x" + w + " " + number
		}
	}
	maps.Copy(want, map[string]string{
		"card_number=" + card:     "card_number=<card>",
		"card_number: '" + card:   "card_number: '<card>",
		"phone_number='4515986'":  "phone_number='<phone>'",
		"ssn=219099999":           "ssn=<national_id>",
		`{\"ssn\": \"219099999\"`: `{\"ssn\": \"<national_id>\"`,
		"order_id=" + visa:        "order_id=" + visa,
		"card order_id: " + visa:  "card order_id: " + visa,
		"x=" + visa:               "x=<card>",
		": " + visa:               ": <card>",
		"Visa number: " + card:    "Visa number: <card>",
		"order_id " + visa:        "order_id <card>",
		// The last word counts, when nothing else stands between.
		"card or phone 4515986":                               "card or phone <phone>",
		"phone or card 4515986":                               "phone or card 4515986",
		"phone or card " + card:                               "phone or card <card>",
		"phone 5 or 4515986":                                  "phone 5 or 4515986",
		"phone&4515986":                                       "phone&4515986",
		"phone=x=4515986":                                     "phone=x=4515986",
		"phone/4515986":                                       "phone/4515986",
		"phone]4515986":                                       "phone]4515986",
		"phone" + strings.Repeat(" ", 27) + "4515986":         "phone" + strings.Repeat(" ", 27) + "<phone>",
		"phone" + strings.Repeat(" ", 28) + "4515986":         "phone" + strings.Repeat(" ", 28) + "4515986",
		strings.Repeat("so ", 40) + "my phone is 451-5986 ok": strings.Repeat("so ", 40) + "my phone is <phone> ok",
	})
	finds(t, safety.RoleNone, want)
}
