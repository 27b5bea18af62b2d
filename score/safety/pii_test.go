// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package safety_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/score/safety"
	"github.com/callvet/callvet/value"
)

func newDetector(t testing.TB, c safety.DetectorConfig) *safety.Detector {
	t.Helper()
	d, err := safety.NewDetector(c)
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
	d := newDetector(t, safety.DetectorConfig{})
	s := "write to ana@example.com or 219-09-9999@example.com"
	type hit struct {
		Text string
		Kind safety.DataKind
	}
	var got []hit
	for f, ok := d.Next(s, 0); ok; f, ok = d.Next(s, f.End) {
		got = append(got, hit{s[f.Start:f.End], f.Kind})
	}
	if diff := cmp.Diff([]hit{{"ana@example.com", safety.KindEmail}, {"219-09-9999", safety.KindID}}, got); diff != "" {
		t.Error(diff)
	}
}

func TestValue(t *testing.T) {
	t.Parallel()
	in := `{"to":["a@b.com","nobody"],"card":4111111111111111,"auth":{"password":"x","pin":7},"id":"[REDACTED:email]","n":12}`
	want := []safety.DataFound{
		{"to[0]", safety.KindEmail},
		{"card", safety.KindCard},
		{"auth.password", safety.KindSecret},
		{"auth.pin", safety.KindSecret},
		{"id", safety.KindEmail},
	}
	if diff := cmp.Diff(want, newDetector(t, safety.DetectorConfig{Keys: []string{"PIN"}}).Value(parse(t, in))); diff != "" {
		t.Error(diff)
	}
	off := newDetector(t, safety.DetectorConfig{Off: []safety.DataKind{safety.KindEmail, safety.KindSecret, safety.KindCard}})
	if got := off.Value(parse(t, in)); got != nil {
		t.Errorf("kinds that are off were found: %v", got)
	}
	if _, err := safety.NewDetector(safety.DetectorConfig{Off: []safety.DataKind{"mail"}}); !errors.Is(err, callvet.ErrInvalid) {
		t.Errorf("an unknown kind was taken: %v", err)
	}
}

// TestNumber: a JSON number is only ever a card number, a national number or, under a name
// that says so, a secret.
func TestNumber(t *testing.T) {
	t.Parallel()
	d := newDetector(t, safety.DetectorConfig{})
	for in, want := range map[string]safety.DataKind{
		`{"n":4111111111111111}`:              safety.KindCard,
		`{"n":378282246310005}`:               safety.KindCard,
		`{"n":30569309025904}`:                safety.KindCard,
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
		`{"card":[4111111111111111]}`:         safety.KindCard,
		`{"cpf":52998224725}`:                 safety.KindID,
		`{"n":52998224725}`:                   "", // one number in a hundred passes
		`{"password":481516}`:                 safety.KindSecret,
		`{"password":4.5}`:                    "",
		`{"credentials":{"port":5432}}`:       "",
		`{"max_tokens":100,"token":5}`:        "",
		`{"name":"card_number","value":"n"}`:  "",
		`{"name":"Password","value":4815}`:    safety.KindSecret,
		`{"n":9999999999999999}`:              safety.KindCard, // was one
		`{"expires":9999999999999}`:           "",
		`{"n":999999999}`:                     "",
		`{"ssn":219099999}`:                   safety.KindID,
		`{"ssn":21909999}`:                    "",
		`{"cpf":12345678909}`:                 safety.KindID,
		`{"cpf":12345678908}`:                 "",
		`{"phone":4515986123}`:                "", // a number of digits alone
		`{"card":9000000000000001}`:           "", // no issuer
		`{"card":4000000000000000006}`:        safety.KindCard,
		`{"card":40000000000000000002}`:       "",
		`{"n":999999999999}`:                  safety.KindCard, // was one
		`{"n":999999999998}`:                  safety.KindCard,
		`{"n":99999999999}`:                   "",
		`{"n":999999999000}`:                  safety.KindCard,
		`{"n":999999998999}`:                  "",
	} {
		var got safety.DataKind
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
	d := newDetector(t, safety.DetectorConfig{})
	seen := map[string]bool{}
	for n := 1; n <= 999; n++ {
		s := safety.Nines(16, n)
		if _, ok := d.Number([]byte(s), safety.RoleNone); ok || len(s) != 16 || seen[s] || !safety.UnknownValue(parse(t, s)) {
			t.Fatalf("%d: %s", n, s)
		}
		seen[s] = true
	}
	// the first digit stays
	got, want := map[int]string{},
		map[int]string{1: "9999", 2: "9998", 10: "9990", 11: "9989", 12: "9988", 101: "9899", 1001: "9999"}
	for n := range want {
		got[n] = safety.Nines(4, n)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if got := safety.Nines(1, 2); got != "9" {
		t.Error(got)
	}
}

func TestRole(t *testing.T) {
	t.Parallel()
	d := newDetector(t, safety.DetectorConfig{Keys: []string{"PIN"}})
	for name, want := range map[string]safety.NameRole{
		"password": safety.RoleSecret, "DB_PASSWORD": safety.RoleSecret, "apiKey": safety.RoleSecret,
		"X-Api-Key": safety.RoleSecret, "pin": safety.RoleSecret, "Set-Cookie": safety.RoleSecret,
		"token": safety.RoleToken, "sort_key": safety.RoleToken, "max_tokens": safety.RoleNone, "card_number": safety.RoleCard,
		"pan": safety.RoleCard, "japan": safety.RoleNone,
		"card_id": safety.RoleID, "id": safety.RoleID, "orderId": safety.RoleID, "valid": safety.RoleNone, "grid": safety.RoleNone,
		"created_at": safety.RoleID, "latitude": safety.RoleID,
		"national_id": safety.RoleNational, "SSN": safety.RoleNational, "lesson": safety.RoleNone, "phoneNumber": safety.RolePhone,
		"order_number": safety.RoleID, "number": safety.RoleNone,
		"sha256": safety.RoleID, "": safety.RoleNone, "x": safety.RoleNone, "planB": safety.RoleNone, "mediaPan": safety.RoleCard,
		"quizPan": safety.RoleCard, "PAN": safety.RoleCard, "JaPAN": safety.RoleCard,
		"order_item_number": safety.RoleNone, "itemOrderNumber": safety.RoleID, "ordernumber": safety.RoleNone,
		"fixOrderNumber": safety.RoleID, "reorder_number": safety.RoleNone, "pwd": safety.RoleSecret,
		strings.Repeat("x", 56) + "password": safety.RoleSecret, strings.Repeat("x", 57) + "password": safety.RoleNone,
		strings.Repeat("x", 59) + "token": safety.RoleToken,
		strings.Repeat("x", 60) + "token": safety.RoleNone, "faxNumber": safety.RolePhone, "tel": safety.RolePhone,
		"hotel": safety.RoleNone, "dni2": safety.RoleNational,
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
		[]string{safety.MarkOf(safety.KindEmail, 1), safety.MarkOf(safety.KindEmail, 2)}); diff != "" {
		t.Error(diff)
	}
	d := newDetector(t, safety.DetectorConfig{Off: []safety.DataKind{safety.KindPhone, safety.KindCard}})
	for in, want := range map[string]struct {
		found   []safety.DataFound
		unknown bool
	}{
		`"a [REDACTED:email#12] b"`: {[]safety.DataFound{{Kind: safety.KindEmail}}, true},
		`"a [REDACTED:phone] b"`:    {nil, true},
		`"a [REDACTED:email"`:       {nil, true},
		`"REDACTED:email]"`:         {nil, false},
		`["x",{"a":9999999999999}]`: {nil, true},
		`["x",{"a":99999999999}]`:   {nil, false},
		`[]`:                        {nil, false},
	} {
		v := parse(t, in)
		if diff := cmp.Diff(want.found, d.Value(v)); diff != "" || safety.UnknownValue(v) != want.unknown {
			t.Error(in, diff)
		}
	}
}

// TestWhere: names of members decide for what is below them, and the path leads to the value.
func TestWhere(t *testing.T) {
	t.Parallel()
	d := newDetector(t, safety.DetectorConfig{Keys: []string{"PIN", strings.Repeat("k", 70)}})
	deep, long := "get_"+strings.Repeat("a", 60), strings.Repeat("a", 64)
	for in, want := range map[string][]safety.DataFound{
		`["x",["y","a@b.com"],{"to":{"a":["z","a@b.com"]}}]`: {
			{"[1][1]", safety.KindEmail},
			{"[2].to.a[1]", safety.KindEmail},
		},
		`{"credentials":{"password":4815,"port":5432,"user":"bob"}}`: {{
			"credentials.password",
			safety.KindSecret,
		}, {"credentials.user", safety.KindSecret}},
		`{"credentials":[{"user":"bob"},"x"]}`: {
			{"credentials[0].user", safety.KindSecret},
			{"credentials[1]", safety.KindSecret},
		},
		`{"resetPassword":{"user":"bob"},"reset_password":{"user":"bob"}}`: nil,
		`{"resetPassword":"hunter2"}`:                                      {{"resetPassword", safety.KindSecret}},
		`{"credentials":{"reset":{"user":"bob"}}}`: {{
			"credentials.reset.user",
			safety.KindSecret,
		}},
		`{"credentials":{"resets_a":{"user":"bob"}}}`: {{
			"credentials.resets_a.user",
			safety.KindSecret,
		}},
		`{"credentials":{"` + deep + `":{"user":"bob"}}}`: nil,
		`{"credentials":{"` + deep +
			`a":{"user":"bob"}}}`: {{"credentials." + deep + "a.user", safety.KindSecret}},
		`{"credentials":{"` + long +
			`":{"user":"bob"}}}`: {{"credentials." + long + ".user", safety.KindSecret}},
		`{"` + strings.Repeat("k", 70) +
			`":{"user":"bob"}}`: {{strings.Repeat("k", 70) + ".user", safety.KindSecret}},
		`{"password":{"type":"string","default":"hunter2"}}`:                  nil,
		`{"password":{"type":["String","null"],"default":"hunter2"}}`:         nil,
		`{"password":{"type":[],"default":"hunter2"}}`:                        {{"password.default", safety.KindSecret}},
		`{"password":{"type":"admin","$ref":"#/a"}}`:                          nil,
		`{"password":{"anyOf":[],"a":"b"},"secret":{"oneOf":[],"a":"b"}}`:     nil,
		`{"card":{"n":"9000 0000 0001"}}`:                                     nil,
		`{"card":["9000 0000 0001"]}`:                                         {{"card[0]", safety.KindCard}},
		`{"name":"password","value":"x"}`:                                     {{"value", safety.KindSecret}},
		`{"key":"pin","value":"x","other":"y"}`:                               {{"value", safety.KindSecret}},
		`{"header":"api-key","value":"x","b":1,"c":1,"d":1,"e":"x"}`:          {{"value", safety.KindSecret}},
		`{"header":"api-key","value":"x","b":1,"c":1,"d":1,"e":"x","f":"x"}`:  nil,
		`{"name":"nothing","key":"password","value":["x"]}`:                   {{"value[0]", safety.KindSecret}},
		`{"name":7,"value":"x"}`:                                              nil,
		`{"name":"password","content":"x"}`:                                   nil,
		`{"name":"` + strings.Repeat("n", 56) + `password","value":"hunter"}`: {{"value", safety.KindSecret}},
		`{"value":"hunter"}`:                                                  nil,
	} {
		if diff := cmp.Diff(want, d.Value(parse(t, in))); diff != "" {
			t.Errorf("%s: %s", in, diff)
		}
	}
}

// TestFind: the role of a value decides which forms are searched; texts of fewer than six bytes
// hold nothing.
func TestFind(t *testing.T) {
	t.Parallel()
	finds(t, safety.RoleNone, map[string]string{
		"a@b.co":                         "<email>",
		"Zx@b.cz":                        "<email>",
		"987.654.321-00, 012.345.678-90": "<national_id>, <national_id>",
	})
	finds(t, safety.RoleID, map[string]string{
		"to 4111111111111111": "to <card>", // prose, whatever its name is
		"a\t4111111111111111": "a\t<card>",
		"a\n4111111111111111": "a\n<card>",
		"4111111111111111":    "4111111111111111",
		"a@b.com":             "<email>",
	})
	d := newDetector(t, safety.DetectorConfig{})
	if k, ok := d.Whole(drawn(20), safety.RoleNone); ok {
		t.Errorf("a text without a role is %s", k)
	}
	off := newDetector(t, safety.DetectorConfig{Off: []safety.DataKind{safety.KindSecret, safety.KindKey, safety.KindIBAN}, Keys: []string{"pin"}})
	if got := []any{
		off.Role("password"), off.Role("pin"), off.SecretKey("pin"), d.SecretKey("password"),
		d.SecretKey("token"),
	}; cmp.Diff([]any{safety.RoleNone, safety.RoleNone, false, true, false}, got) != "" {
		t.Error(got)
	}
	if _, ok := off.Number([]byte("4815"), safety.RoleSecret); ok {
		t.Error("a secret number was found with secrets off")
	}
	for _, s := range []string{
		"token=" + drawn(20), "--password hunter2", "x://b:hunter2@h", "NO9386011117947",
		"sk-" + drawn(20),
	} {
		if got := shown(off, s, safety.RoleNone); got != s {
			t.Error(got)
		}
	}
}

func TestKinds(t *testing.T) {
	t.Parallel()
	got, want := map[safety.DataKind]bool{}, map[safety.DataKind]bool{
		safety.KindKey: true, safety.KindBearer: true, safety.KindJWT: true, safety.KindPrivate: true, safety.KindSecret: true,
		safety.KindEmail: false, safety.KindPhone: false, safety.KindCard: false, safety.KindIBAN: false, safety.KindID: false,
	}
	for _, k := range safety.DataKinds() {
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
	d := newDetector(f, safety.DetectorConfig{})
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
	for k, want := range map[safety.DataKind]map[string]bool{
		safety.KindSecret: secrets,
		safety.KindBearer: {sixteen: true, sixteen[1:]: false},
		safety.KindKey: {
			"sk-" + "Zx81kQp02LmVt7RbYc45": true, "AKIA" + "IOSFODNN7EXAMPLE": false, "sk-" + "test": true,
			"sk-" + "xxxx": false,
		},
	} {
		got := map[string]bool{}
		for s := range want {
			got[s] = safety.SecretInUse(k, s)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(k, diff)
		}
	}
}

// TestForms: keys with a form of their own, and texts that nearly have that form.
func TestForms(t *testing.T) {
	t.Parallel()
	d := newDetector(t, safety.DetectorConfig{})
	const hex32, mixed = "5e68a195668a1ecb4b9f27f79fed97a8", "Zx81kQp02LmVt7RbYc45Wd3n"
	for in, want := range map[string]safety.DataKind{
		"SK" + hex32:                                             safety.KindKey,
		"SK" + hex32 + "0":                                       "", // too long
		"TASK" + hex32:                                           "",
		"patAbCdEf12345678." + hex32 + hex32:                     safety.KindKey,
		"patAbCdEf12345678." + hex32:                             "",
		"1//0g" + mixed + mixed:                                  safety.KindKey,
		"http://h.test/1//0g/index":                              "",
		"curl --token " + mixed:                                  safety.KindSecret,
		"curl --token abc":                                       "",
		"cmd --key " + hex32:                                     "", // a hash
		"Subscription-Key: " + hex32:                             safety.KindKey,
		"api_key=" + hex32:                                       safety.KindKey,
		"SECRET_KEY = settings.secret_key":                       "",
		"SECRET_KEY=Settings.secret_1":                           safety.KindSecret,
		"SECRET_KEY = '" + mixed + "'":                           safety.KindSecret,
		"api_key = 'sk-...'":                                     "",
		"password_hash: " + hex32:                                "",
		"https://x.webhook.office.com/webhookb2/" + hex32 + "@y": safety.KindKey,
		"https://webhook.office.com.test/webhookb2/" + hex32:     "",
		"https://hooks.slack.com/services/T00000000/B00000000/x": safety.KindKey,
	} {
		f, _ := d.Next(in, 0)
		if f.Kind != want {
			t.Errorf("%s: %q, want %q", in, f.Kind, want)
		}
	}
}
