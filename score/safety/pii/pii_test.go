// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package pii_test

import (
	"errors"
	"strings"
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
	want := []pii.Found{
		{"to[0]", pii.KindEmail},
		{"card", pii.KindCard},
		{"auth.password", pii.KindSecret},
		{"auth.pin", pii.KindSecret},
		{"id", pii.KindEmail},
	}
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
		`{"ssn":219099999}`:                   pii.KindID,
		`{"ssn":21909999}`:                    "",
		`{"cpf":12345678909}`:                 pii.KindID,
		`{"cpf":12345678908}`:                 "",
		`{"phone":4515986123}`:                "", // a number of digits alone
		`{"card":9000000000000001}`:           "", // no issuer
		`{"card":4000000000000000006}`:        pii.KindCard,
		`{"card":40000000000000000002}`:       "",
		`{"n":999999999999}`:                  pii.KindCard, // was one
		`{"n":999999999998}`:                  pii.KindCard,
		`{"n":99999999999}`:                   "",
		`{"n":999999999000}`:                  pii.KindCard,
		`{"n":999999998999}`:                  "",
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
	// the first digit stays
	got, want := map[int]string{},
		map[int]string{1: "9999", 2: "9998", 10: "9990", 11: "9989", 12: "9988", 101: "9899", 1001: "9999"}
	for n := range want {
		got[n] = pii.Nines(4, n)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if got := pii.Nines(1, 2); got != "9" {
		t.Error(got)
	}
}

func TestRole(t *testing.T) {
	t.Parallel()
	d := newDetector(t, pii.Config{Keys: []string{"PIN"}})
	for name, want := range map[string]pii.Role{
		"password": pii.RoleSecret, "DB_PASSWORD": pii.RoleSecret, "apiKey": pii.RoleSecret,
		"X-Api-Key": pii.RoleSecret, "pin": pii.RoleSecret, "Set-Cookie": pii.RoleSecret,
		"token": pii.RoleToken, "sort_key": pii.RoleToken, "max_tokens": pii.RoleNone, "card_number": pii.RoleCard,
		"pan": pii.RoleCard, "japan": pii.RoleNone,
		"card_id": pii.RoleID, "id": pii.RoleID, "orderId": pii.RoleID, "valid": pii.RoleNone, "grid": pii.RoleNone,
		"created_at": pii.RoleID, "latitude": pii.RoleID,
		"national_id": pii.RoleNational, "SSN": pii.RoleNational, "lesson": pii.RoleNone, "phoneNumber": pii.RolePhone,
		"order_number": pii.RoleID, "number": pii.RoleNone,
		"sha256": pii.RoleID, "": pii.RoleNone, "x": pii.RoleNone, "planB": pii.RoleNone, "mediaPan": pii.RoleCard,
		"quizPan": pii.RoleCard, "PAN": pii.RoleCard, "JaPAN": pii.RoleCard,
		"order_item_number": pii.RoleNone, "itemOrderNumber": pii.RoleID, "ordernumber": pii.RoleNone,
		"fixOrderNumber": pii.RoleID, "reorder_number": pii.RoleNone, "pwd": pii.RoleSecret,
		strings.Repeat("x", 56) + "password": pii.RoleSecret, strings.Repeat("x", 57) + "password": pii.RoleNone,
		strings.Repeat("x", 59) + "token": pii.RoleToken,
		strings.Repeat("x", 60) + "token": pii.RoleNone, "faxNumber": pii.RolePhone, "tel": pii.RolePhone,
		"hotel": pii.RoleNone, "dni2": pii.RoleNational,
	} {
		if got := d.Role(name); got != want {
			t.Errorf("%q: %d, want %d", name, got, want)
		}
	}
}

// TestMarks: a mark is found as the kind that it names, unless that is off, and makes a value
// unknown.
func TestMarks(t *testing.T) {
	t.Parallel()
	if diff := cmp.Diff([]string{"[REDACTED:email]", "[REDACTED:email#2]"},
		[]string{pii.MarkOf(pii.KindEmail, 1), pii.MarkOf(pii.KindEmail, 2)}); diff != "" {
		t.Error(diff)
	}
	d := newDetector(t, pii.Config{Off: []pii.Kind{pii.KindPhone, pii.KindCard}})
	for in, want := range map[string]struct {
		found   []pii.Found
		unknown bool
	}{
		`"a [REDACTED:email#12] b"`: {[]pii.Found{{Kind: pii.KindEmail}}, true},
		`"a [REDACTED:phone] b"`:    {nil, true},
		`"a [REDACTED:email"`:       {nil, true},
		`"REDACTED:email]"`:         {nil, false},
		`["x",{"a":9999999999999}]`: {nil, true},
		`["x",{"a":99999999999}]`:   {nil, false},
		`[]`:                        {nil, false},
	} {
		v := parse(t, in)
		if diff := cmp.Diff(want.found, d.Value(v)); diff != "" || pii.Unknown(v) != want.unknown {
			t.Error(in, diff)
		}
	}
}

// TestWhere: names of members decide for what is below them, and the path leads to the value.
func TestWhere(t *testing.T) {
	t.Parallel()
	d := newDetector(t, pii.Config{Keys: []string{"PIN", strings.Repeat("k", 70)}})
	deep, long := "get_"+strings.Repeat("a", 60), strings.Repeat("a", 64)
	for in, want := range map[string][]pii.Found{
		`["x",["y","a@b.com"],{"to":{"a":["z","a@b.com"]}}]`: {
			{"[1][1]", pii.KindEmail},
			{"[2].to.a[1]", pii.KindEmail},
		},
		`{"credentials":{"password":4815,"port":5432,"user":"bob"}}`: {{
			"credentials.password",
			pii.KindSecret,
		}, {"credentials.user", pii.KindSecret}},
		`{"credentials":[{"user":"bob"},"x"]}`: {
			{"credentials[0].user", pii.KindSecret},
			{"credentials[1]", pii.KindSecret},
		},
		`{"resetPassword":{"user":"bob"},"reset_password":{"user":"bob"}}`: nil,
		`{"resetPassword":"hunter2"}`:                                      {{"resetPassword", pii.KindSecret}},
		`{"credentials":{"reset":{"user":"bob"}}}`: {{
			"credentials.reset.user",
			pii.KindSecret,
		}},
		`{"credentials":{"resets_a":{"user":"bob"}}}`: {{
			"credentials.resets_a.user",
			pii.KindSecret,
		}},
		`{"credentials":{"` + deep + `":{"user":"bob"}}}`: nil,
		`{"credentials":{"` + deep +
			`a":{"user":"bob"}}}`: {{"credentials." + deep + "a.user", pii.KindSecret}},
		`{"credentials":{"` + long +
			`":{"user":"bob"}}}`: {{"credentials." + long + ".user", pii.KindSecret}},
		`{"` + strings.Repeat("k", 70) +
			`":{"user":"bob"}}`: {{strings.Repeat("k", 70) + ".user", pii.KindSecret}},
		`{"password":{"type":"string","default":"hunter2"}}`:                  nil,
		`{"password":{"type":["String","null"],"default":"hunter2"}}`:         nil,
		`{"password":{"type":[],"default":"hunter2"}}`:                        {{"password.default", pii.KindSecret}},
		`{"password":{"type":"admin","$ref":"#/a"}}`:                          nil,
		`{"password":{"anyOf":[],"a":"b"},"secret":{"oneOf":[],"a":"b"}}`:     nil,
		`{"card":{"n":"9000 0000 0001"}}`:                                     nil,
		`{"card":["9000 0000 0001"]}`:                                         {{"card[0]", pii.KindCard}},
		`{"name":"password","value":"x"}`:                                     {{"value", pii.KindSecret}},
		`{"key":"pin","value":"x","other":"y"}`:                               {{"value", pii.KindSecret}},
		`{"header":"api-key","value":"x","b":1,"c":1,"d":1,"e":"x"}`:          {{"value", pii.KindSecret}},
		`{"header":"api-key","value":"x","b":1,"c":1,"d":1,"e":"x","f":"x"}`:  nil,
		`{"name":"nothing","key":"password","value":["x"]}`:                   {{"value[0]", pii.KindSecret}},
		`{"name":7,"value":"x"}`:                                              nil,
		`{"name":"password","content":"x"}`:                                   nil,
		`{"name":"` + strings.Repeat("n", 56) + `password","value":"hunter"}`: {{"value", pii.KindSecret}},
		`{"value":"hunter"}`:                                                  nil,
	} {
		if diff := cmp.Diff(want, d.Value(parse(t, in))); diff != "" {
			t.Errorf("%s: %s", in, diff)
		}
	}
}

// TestFind: the role of a value decides what is looked for; texts of fewer than six bytes hold nothing.
func TestFind(t *testing.T) {
	t.Parallel()
	finds(t, pii.RoleNone, map[string]string{
		"a@b.co":                         "<email>",
		"Zx@b.cz":                        "<email>",
		"987.654.321-00, 012.345.678-90": "<national_id>, <national_id>",
	})
	finds(t, pii.RoleID, map[string]string{
		"to 4111111111111111": "to <card>", // prose, whatever its name is
		"a\t4111111111111111": "a\t<card>",
		"a\n4111111111111111": "a\n<card>",
		"4111111111111111":    "4111111111111111",
		"a@b.com":             "<email>",
	})
	d := newDetector(t, pii.Config{})
	if k, ok := d.Whole(drawn(20), pii.RoleNone); ok {
		t.Errorf("a text without a role is %s", k)
	}
	off := newDetector(t, pii.Config{Off: []pii.Kind{pii.KindSecret, pii.KindKey, pii.KindIBAN}, Keys: []string{"pin"}})
	if got := []any{
		off.Role("password"), off.Role("pin"), off.SecretKey("pin"), d.SecretKey("password"),
		d.SecretKey("token"),
	}; cmp.Diff([]any{pii.RoleNone, pii.RoleNone, false, true, false}, got) != "" {
		t.Error(got)
	}
	if _, ok := off.Number([]byte("4815"), pii.RoleSecret); ok {
		t.Error("a secret number was found with secrets off")
	}
	for _, s := range []string{
		"token=" + drawn(20), "--password hunter2", "x://b:hunter2@h", "NO9386011117947",
		"sk-" + drawn(20),
	} {
		if got := shown(off, s, pii.RoleNone); got != s {
			t.Error(got)
		}
	}
}

func TestKinds(t *testing.T) {
	t.Parallel()
	got, want := map[pii.Kind]bool{}, map[pii.Kind]bool{
		pii.KindKey: true, pii.KindBearer: true, pii.KindJWT: true, pii.KindPrivate: true, pii.KindSecret: true,
		pii.KindEmail: false, pii.KindPhone: false, pii.KindCard: false, pii.KindIBAN: false, pii.KindID: false,
	}
	for _, k := range pii.Kinds() {
		got[k] = k.Secret()
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func FuzzNext(f *testing.F) {
	for _, s := range []string{
		"219-09-9999@example.com", "+46 70 123 45 67", "a@b.co c@d.org",
		"Bearer abc123def456ghi7", "X1234567L",
	} {
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
	const sixteen = "k7qz2m8vx9lp4rtw"
	secrets := map[string]bool{
		"Zx81kQp02LmVt7RbYc45": true, "Zx81kQp02LmVt7RbYc45Wd3nxyz8K": true, "u:Zx81kQp02LmVt7RbYc45": true,
		"k7#Qz!m2Vx9$Lp4&Rt": true,
		"securePass123":      false, "secure_access_token_987654321": false, "abc123xyz456": false,
		"michael_cant_smith_smith": false, "MysticKnight#123": false,
		"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855": false,
		"correct horse battery staple":                                     false, "hunter2": false,
		sixteen: true, sixteen[1:]: false, ":" + sixteen[1:]: false, ":" + sixteen: true, "test:user:" + sixteen: true,
		sixteen + ":" + "test": false,
		"k7qz2m8v x9lp4rtw":    false, "k7qz2m8v\tx9lp4rtw": false, "kwqzbmhvxjlpgrtwo": false,
		"k7k7k7k7k7k7k7k7q2q2": false, "9182736450918273": false,
		"XyzK7qz2m8vx9lp4rtw": false, sixteen + "_dummy": false, sixteen + "Example": false, sixteen + "XXXX": false,
		// 24 bytes with a row of three, up and down, and 25.
		"xyzk7qz2m8vx9lp4rtwo6hn5": false, "zyxk7qz2m8vx9lp4rtwo6hn5": false, "xyzk7qz2m8vx9lp4rtwo6hn5s": true,
		"k7qz2m8vx9lp4rtwo6hn5xyz": false, "k7qz2m8vx9lp4rtwo6hn5zyx": false,
		"xyk7qz2m8vx9lp4rtwo6hn5q": true, "987k7qz2m8vx1lp4rtwoxyzhn5sgjcbykdfvna4q": false, // two rows in 40
	}
	for k, want := range map[pii.Kind]map[string]bool{
		pii.KindSecret: secrets,
		pii.KindBearer: {sixteen: true, sixteen[1:]: false},
		pii.KindKey: {
			"sk-" + "Zx81kQp02LmVt7RbYc45": true, "AKIA" + "IOSFODNN7EXAMPLE": false, "sk-" + "test": true,
			"sk-" + "xxxx": false,
		},
	} {
		got := map[string]bool{}
		for s := range want {
			got[s] = pii.InUse(k, s)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(k, diff)
		}
	}
}

// TestForms: keys with a form of their own, and texts that nearly have that form.
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
