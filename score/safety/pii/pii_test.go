// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package pii_test

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/score/safety/pii"
	"github.com/callvet/callvet/value"
)

func newDetector(t testing.TB, c pii.Config) *pii.Detector {
	t.Helper()
	d, err := pii.New(c)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func parse(t testing.TB, s string) value.Value {
	t.Helper()
	v, err := value.Parse([]byte(s))
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func TestNext(t *testing.T) {
	t.Parallel()
	d := newDetector(t, pii.Config{})
	s := "write to ana@example.com or 219-09-9999@example.com"
	type hit struct {
		Text string
		Kind pii.Kind
	}
	var got []hit
	for f, ok := d.Next(s, 0); ok; f, ok = d.Next(s, f.End) {
		got = append(got, hit{s[f.Start:f.End], f.Kind})
	}
	if diff := cmp.Diff([]hit{{"ana@example.com", pii.KindEmail}, {"219-09-9999", pii.KindID}}, got); diff != "" {
		t.Error(diff)
	}
}

func TestValue(t *testing.T) {
	t.Parallel()
	in := `{"to":["a@b.com","nobody"],"card":4111111111111111,"auth":{"password":"x","pin":7},"id":"[REDACTED:email]","n":12}`
	want := []pii.Found{{"to[0]", pii.KindEmail}, {"card", pii.KindCard}, {"auth.password", pii.KindSecret}, {"auth.pin", pii.KindSecret}, {"id", pii.KindEmail}}
	if diff := cmp.Diff(want, newDetector(t, pii.Config{Keys: []string{"PIN"}}).Value(parse(t, in))); diff != "" {
		t.Error(diff)
	}
	off := newDetector(t, pii.Config{Off: []pii.Kind{pii.KindEmail, pii.KindSecret, pii.KindCard}})
	if got := off.Value(parse(t, in)); got != nil {
		t.Errorf("kinds that are off were found: %v", got)
	}
	if _, err := pii.New(pii.Config{Off: []pii.Kind{"mail"}}); !errors.Is(err, callvet.ErrInvalid) {
		t.Errorf("an unknown kind was taken: %v", err)
	}
}

// TestNumber: a JSON number is only ever a card number, a national number or, under a name
// that says so, a secret.
func TestNumber(t *testing.T) {
	t.Parallel()
	d := newDetector(t, pii.Config{})
	for in, want := range map[string]pii.Kind{
		`{"n":4111111111111111}`:              pii.KindCard,
		`{"n":378282246310005}`:               pii.KindCard,
		`{"n":30569309025904}`:                pii.KindCard,
		`{"n":4111111111111112}`:              "", // the check digit
		`{"n":9111111111111112}`:              "", // no issuer
		`{"n":41111111111111}`:                "", // not that issuer's length
		`{"lat":59.4111111111111111}`:         "",
		`{"n":0.4000000000000002}`:            "",
		`{"n":4.111111111111111e15}`:          "",
		`{"n":-4111111111111111}`:             "",
		`{"n":1753156414000}`:                 "",
		`{"created_at":4111111111111111}`:     "",
		`{"order_id":4111111111111111}`:       "",
		`{"trackingNumber":4111111111111111}`: "",
		`{"ids":[4111111111111111]}`:          "",
		`{"card":[4111111111111111]}`:         pii.KindCard,
		`{"cpf":52998224725}`:                 pii.KindID,
		`{"n":52998224725}`:                   "", // one number in a hundred passes
		`{"password":481516}`:                 pii.KindSecret,
		`{"password":4.5}`:                    "",
		`{"credentials":{"port":5432}}`:       "",
		`{"max_tokens":100,"token":5}`:        "",
		`{"name":"card_number","value":"n"}`:  "",
		`{"name":"Password","value":4815}`:    pii.KindSecret,
		`{"n":9999999999999999}`:              pii.KindCard, // was one
		`{"expires":9999999999999}`:           "",
		`{"n":999999999}`:                     "",
	} {
		var got pii.Kind
		if f := d.Value(parse(t, in)); f != nil {
			got = f[0].Kind
		}
		if got != want {
			t.Errorf("%s: %q, want %q", in, got, want)
		}
	}
}

// TestNines: the replacements of numbers differ, are as long as the numbers, and are found by
// no check.
func TestNines(t *testing.T) {
	t.Parallel()
	d := newDetector(t, pii.Config{})
	seen := map[string]bool{}
	for n := 1; n <= 999; n++ {
		s := pii.Nines(16, n)
		if _, ok := d.Number([]byte(s), pii.RoleNone); ok || len(s) != 16 || seen[s] || !pii.Unknown(parse(t, s)) {
			t.Fatalf("%d: %s", n, s)
		}
		seen[s] = true
	}
	if got := pii.Nines(4, 12); got != "9988" {
		t.Error(got)
	}
}

func TestRole(t *testing.T) {
	t.Parallel()
	d := newDetector(t, pii.Config{Keys: []string{"PIN"}})
	for name, want := range map[string]pii.Role{
		"password": pii.RoleSecret, "DB_PASSWORD": pii.RoleSecret, "apiKey": pii.RoleSecret, "X-Api-Key": pii.RoleSecret, "pin": pii.RoleSecret, "Set-Cookie": pii.RoleSecret,
		"token": pii.RoleToken, "sort_key": pii.RoleToken, "max_tokens": pii.RoleNone, "card_number": pii.RoleCard, "pan": pii.RoleCard, "japan": pii.RoleNone,
		"card_id": pii.RoleID, "id": pii.RoleID, "orderId": pii.RoleID, "valid": pii.RoleNone, "grid": pii.RoleNone, "created_at": pii.RoleID, "latitude": pii.RoleID,
		"national_id": pii.RoleNational, "SSN": pii.RoleNational, "lesson": pii.RoleNone, "phoneNumber": pii.RolePhone, "order_number": pii.RoleID, "number": pii.RoleNone,
		"sha256": pii.RoleID, "": pii.RoleNone,
	} {
		if got := d.Role(name); got != want {
			t.Errorf("%q: %d, want %d", name, got, want)
		}
	}
}

func FuzzNext(f *testing.F) {
	for _, s := range []string{"219-09-9999@example.com", "+46 70 123 45 67", "a@b.co c@d.org", "Bearer abc123def456ghi7", "X1234567L"} {
		f.Add(s)
	}
	d := newDetector(f, pii.Config{})
	f.Fuzz(func(t *testing.T, s string) {
		at := 0
		for f, ok := d.Next(s, 0); ok; f, ok = d.Next(s, f.End) {
			if f.Start < at || f.End <= f.Start || f.End > len(s) || f.Kind == "" {
				t.Fatalf("%q: %+v after %d", s, f, at)
			}
			at = f.End
		}
	})
}

// TestInUse: what a test made up is not in use; what looks drawn is.
func TestInUse(t *testing.T) {
	t.Parallel()
	for s, want := range map[string]bool{
		"Zx81kQp02LmVt7RbYc45": true, "Zx81kQp02LmVt7RbYc45Wd3nxyz8K": true, "u:Zx81kQp02LmVt7RbYc45": true, "k7#Qz!m2Vx9$Lp4&Rt": true,
		"securePass123": false, "secure_access_token_987654321": false, "abc123xyz456": false, "michael_cant_smith_smith": false, "MysticKnight#123": false,
		"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855": false, "correct horse battery staple": false, "hunter2": false,
	} {
		if got := pii.InUse(pii.KindSecret, s); got != want {
			t.Errorf("%s: %v", s, got)
		}
	}
	for s, want := range map[string]bool{"sk-" + "Zx81kQp02LmVt7RbYc45": true, "AKIA" + "IOSFODNN7EXAMPLE": false} {
		if got := pii.InUse(pii.KindKey, s); got != want {
			t.Errorf("%s: %v", s, got)
		}
	}
}

// TestForms: keys that have a form of their own, beside what has nearly that form.
func TestForms(t *testing.T) {
	t.Parallel()
	d := newDetector(t, pii.Config{})
	const hex32, mixed = "5e68a195668a1ecb4b9f27f79fed97a8", "Zx81kQp02LmVt7RbYc45Wd3n"
	for in, want := range map[string]pii.Kind{
		"SK" + hex32:                                             pii.KindKey,
		"SK" + hex32 + "0":                                       "", // too long
		"TASK" + hex32:                                           "",
		"patAbCdEf12345678." + hex32 + hex32:                     pii.KindKey,
		"patAbCdEf12345678." + hex32:                             "",
		"1//0g" + mixed + mixed:                                  pii.KindKey,
		"http://h.test/1//0g/index":                              "",
		"curl --token " + mixed:                                  pii.KindSecret,
		"curl --token abc":                                       "",
		"cmd --key " + hex32:                                     "", // a hash
		"Subscription-Key: " + hex32:                             pii.KindKey,
		"api_key=" + hex32:                                       pii.KindKey,
		"SECRET_KEY = settings.secret_key":                       "",
		"SECRET_KEY=Settings.secret_1":                           pii.KindSecret,
		"SECRET_KEY = '" + mixed + "'":                           pii.KindSecret,
		"api_key = 'sk-...'":                                     "",
		"password_hash: " + hex32:                                "",
		"https://x.webhook.office.com/webhookb2/" + hex32 + "@y": pii.KindKey,
		"https://webhook.office.com.test/webhookb2/" + hex32:     "",
		"https://hooks.slack.com/services/T00000000/B00000000/x": pii.KindKey,
	} {
		f, _ := d.Next(in, 0)
		if f.Kind != want {
			t.Errorf("%s: %q, want %q", in, f.Kind, want)
		}
	}
}
