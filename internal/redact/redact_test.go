// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package redact

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/callvet/callvet/score/safety"
	"github.com/callvet/callvet/value"
)

func newRedactor(t testing.TB, c Config) *Redactor {
	t.Helper()
	r, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestText(t *testing.T) {
	t.Parallel()
	// Keys are put together here so that no scanner takes this file for a leak.
	key := "sk-" + "Zx81kQp02LmVt7RbYc45"
	pem := "-----BEGIN RSA PRIVATE " + "KEY-----\nMIIEow\n-----END RSA PRIVATE " + "KEY-----"
	for name, c := range map[string]struct{ in, want string }{
		"compared secret": {`password == "hush-4711" and n != 2`, `password == "[REDACTED:secret]" and n != 2`},
		"unequal secret":  {`x.api_key!='hush-4711'`, `x.api_key!='[REDACTED:secret]'`},
		"long token":      {"key=" + strings.Repeat("q7Xz9Kp2", 2000) + " ok", "key=[REDACTED:secret] ok"},
		"many keys":       {strings.Repeat("key:a-", 1e4), strings.Repeat("key:a-", 1e4)},
		"compared names":  {`password == confirmed and "=="`, `password == confirmed and "=="`},
		"email": {
			"write to <ana.perez+x@mail.example.com>, please.",
			"write to <[REDACTED:email]>, please.",
		},
		"no email":           {"user@host and @mention, a@b", "user@host and @mention, a@b"},
		"card":               {"card 4111 1111 1111 1111 ok", "card [REDACTED:card] ok"},
		"card off by one":    {"card 4111 1111 1111 1112 ok", "card 4111 1111 1111 1112 ok"},
		"card among letters": {"ref 4111111111111111x", "ref 4111111111111111x"},
		"iban":               {"to GB29NWBK60161331926819.", "to [REDACTED:iban]."},
		"iban groups":        {"DE89 3704 0044 0532 0130 00", "[REDACTED:iban]"},
		"iban wrong":         {"DE88 3704 0044 0532 0130 00", "DE88 3704 0044 0532 0130 00"},
		"phone":              {"call +46 70 123 45 67 now", "call [REDACTED:phone] now"},
		"phone brackets":     {"(555) 123-4567", "[REDACTED:phone]"},
		"phone in groups":    {"555-123-2002", "[REDACTED:phone]"},
		"order number":       {"order 5551232002, 2024-05-15 15:00:00", "order 5551232002, 2024-05-15 15:00:00"},
		"ssn":                {"ssn 219-09-9999", "ssn [REDACTED:national_id]"},
		"no ssn":             {"000-09-9999", "000-09-9999"},
		"cpf":                {"529.982.247-25", "[REDACTED:national_id]"},
		"dni":                {"12345678Z y X1234567L", "[REDACTED:national_id] y [REDACTED:national_id#2]"},
		"personnummer":       {"811218-9876", "[REDACTED:national_id]"},
		"key":                {"use " + key + " here", "use [REDACTED:api_key] here"},
		"not a key":          {"task-sk-learn and sk-learn-based-models", "task-sk-learn and sk-learn-based-models"},
		"bearer":             {"Authorization: Bearer abc123def456ghi7", "Authorization: Bearer [REDACTED:secret]"},
		"bearer alone":       {"send Bearer abc123def456ghi7", "send Bearer [REDACTED:bearer]"},
		"jwt":                {"eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3", "[REDACTED:jwt]"},
		"pem":                {"a " + pem + " b", "a [REDACTED:private_key] b"},
		"pem cut off":        {pem[:40], "[REDACTED:private_key]"},
		"assignment":         {"DB_PASSWORD=hunter2hunter", "DB_PASSWORD=[REDACTED:secret]"},
		"spoken of":          {"the password: required field", "the password: required field"},
		"url": {
			"https://x.test/?api_key=Q7w8e9r0t1y2&x=1",
			"https://x.test/?api_key=[REDACTED:secret]&x=1",
		},
		"random token":  {`token: "a8f3k2j5h7d9s1q4w6"`, `token: "[REDACTED:secret]"`},
		"written key":   {"key: window_days_thirty", "key: window_days_thirty"},
		"done already":  {"password=[REDACTED:secret]", "password=[REDACTED:secret]"},
		"id, then an @": {"219-09-9999@example.com", "[REDACTED:national_id]@example.com"},
		"two":           {"a@b.co c@d.org", "[REDACTED:email] [REDACTED:email#2]"},
		"fraction": {
			"31.41592653589793, 4.666666666666667 at 59.4111111111111111",
			"31.41592653589793, 4.666666666666667 at 59.4111111111111111",
		},
		"years": {
			"2005 2006 2007 2008 2009 2010 2011 2012 2013",
			"2005 2006 2007 2008 2009 2010 2011 2012 2013",
		},
		"uuid": {"41111111-1111-4111-8111-111111111111", "41111111-1111-4111-8111-111111111111"},
		"part of an id": {
			"inv-4111111111111111 and 4111111111111111-7",
			"inv-4111111111111111 and 4111111111111111-7",
		},
		"named an id": {
			"card_id='4111111111111111', order_id: 4111111111111111",
			"card_id='4111111111111111', order_id: 4111111111111111",
		},
		"card of 19 digits": {
			"my card 4030874397740603788, id 4030874397740603788",
			"my card [REDACTED:card], id 4030874397740603788",
		},
		"phone said to be":  {"Phone: 451 5986, invoice 451 5986", "Phone: [REDACTED:phone], invoice 451 5986"},
		"phone, extension":  {"345-899-3560x4587", "[REDACTED:phone]"},
		"iPhone":            {"keywords=iphone&qid=1753156414", "keywords=iphone&qid=1753156414"},
		"iban, small":       {"gb42nawi04454264788619", "[REDACTED:iban]"},
		"url with password": {"postgres://bob:hunter2@db.test/x", "postgres://[REDACTED:secret]@db.test/x"},
		"url of a repository": {
			"git clone git@github.com:a/b ssh://git@host/x",
			"git clone git@github.com:a/b ssh://git@host/x",
		},
		"url with token": {"https://tok3n8f2k5h7d9s1q4w6@host.test/", "https://[REDACTED:secret]@host.test/"},
		"signed url": {
			"https://s.test/o?sig=Zk81QpLmVt7RbYc4Zk81QpLm&x=1",
			"https://s.test/o?sig=[REDACTED:api_key]&x=1",
		},
		"basic": {"Authorization: Basic Ym9iOmh1bnRlcjI=", "Authorization: Basic [REDACTED:secret]"},
		"basic alone": {
			"send Basic Ym9iOmh1bnRlcjI= in basic terms",
			"send Basic [REDACTED:bearer] in basic terms",
		},
		"option": {"run --password hunter2 --verbose", "run --password [REDACTED:secret] --verbose"},
		"placeholders": {
			`password: <password>, token=${TOKEN_OF_MINE_1}, api_key="your_api_key", pwd: ****`,
			`password: <password>, token=${TOKEN_OF_MINE_1}, api_key="your_api_key", pwd: ****`,
		},
		"code": {
			"login(user, password=password); key = os.environ['API_KEY']; secret=str(x)",
			"login(user, password=password); key = os.environ['API_KEY']; secret=str(x)",
		},
		"link, no password": {
			"reset your password: https://a.test/reset",
			"reset your password: https://a.test/reset",
		},
		"slug": {"server_key: web3-research-mcp", "server_key: web3-research-mcp"},
		"hash under a key": {
			"cache_key: d41d8cd98f00b204e9800998ecf8427e",
			"cache_key: d41d8cd98f00b204e9800998ecf8427e",
		},
		"picture":             {"logo@2x.png", "logo@2x.png"},
		"json in text":        {`\"password\": \"hunter2x\"`, `\"password\": \"[REDACTED:secret]\"`},
		"headers in an error": {`{"message":"headers were {\"Authorization\": "Bearer x", \"x-api-key\": \"0123456789xyz\"}","code":500}`, `{"message":"headers were {\"Authorization\": "Bearer x", \"x-api-key\": \"[REDACTED:secret]\"}","code":500}`},
		"token to resume": {
			"data: {\"id\":7,\"resumeToken\":\"tok-123456\"}\n",
			"data: {\"id\":7,\"resumeToken\":\"[REDACTED:secret]\"}\n",
		},
		"nothing to be found": {"get_weather in Århus, 21 °C", "get_weather in Århus, 21 °C"},
	} {
		if got := newRedactor(t, Config{}).Text(c.in); got != c.want {
			t.Errorf("%s:\n got %q\nwant %q", name, got, c.want)
		}
	}
}

func TestJSON(t *testing.T) {
	t.Parallel()
	r := newRedactor(t, Config{
		Off: []Kind{safety.KindPhone}, Keys: []string{"pin"},
		Patterns: []Pattern{{"order", `\bORD-(?P<secret>\d+)`}, {"nickname", `Bobby`}},
	})
	in := `{"to":["a@b.com",1.50],"apiKey":"x","pin":1234,"auth":{"password":null,"user":"u"},"n":4111111111111111,"note":"ORD-77 of Bobby, +46701234567"}`
	want := `{"to":["[REDACTED:email]",1.50],"apiKey":"[REDACTED:secret]","pin":9999,"auth":{"password":null,"user":"u"},` +
		`"n":9999999999999999,"note":"ORD-[REDACTED:order] of [REDACTED:nickname], +46701234567"}`
	if d := cmp.Diff(want, string(r.JSON(json.RawMessage(in)))); d != "" {
		t.Error(d)
	}
	counts := map[Kind]int64{safety.KindEmail: 1, safety.KindSecret: 2, safety.KindCard: 1, "order": 1, "nickname": 1}
	if d := cmp.Diff(counts, r.Counts); d != "" {
		t.Error(d)
	}
	same := json.RawMessage(`{ "x" : [1, "a"] }`)
	if got := r.JSON(same); string(got) != string(same) {
		t.Errorf("a value without findings was rewritten: %s", got)
	}
	if got := r.JSON(json.RawMessage(`{"cut":"a@b.com`)); string(got) != `"{\"cut\":\"[REDACTED:email]"` {
		t.Errorf("text that is not JSON: %s", got)
	}
}

// TestTypes: redaction changes no type and no number that is not a card's or a person's; a
// second pass changes nothing.
func TestTypes(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		`{"lat":59.4111111111111111,"cost_usd":0.4000000000000002,"t":1700000000000000}`: `{"lat":59.4111111111111111,"cost_usd":0.4000000000000002,"t":1700000000000000}`,
		`[4111111111111111,"4111111111111111",5500005555555559,4111111111111111]`:        `[9999999999999999,"[REDACTED:card]",9999999999999998,9999999999999999]`,
		`{"password":{"type":"string","description":"at least 8"}}`:                      `{"password":{"type":"string","description":"at least 8"}}`,
		`{"credentials":{"user":"bob","port":5432}}`:                                     `{"credentials":{"user":"[REDACTED:secret]","port":5432}}`,
		`{"resetPassword":{"user":"bob","newPassword":"hunter2"}}`:                       `{"resetPassword":{"user":"bob","newPassword":"[REDACTED:secret]"}}`,
		`{"headers":[{"name":"X-Api-Key","value":"abc"},{"name":"Accept","value":"*"}]}`: `{"headers":[{"name":"X-Api-Key","value":"[REDACTED:secret]"},{"name":"Accept","value":"*"}]}`,
		`{"ana@x.com":1,"bob@x.com":2,"token":"a8f3k2j5h7d9s1q4w6"}`:                     `{"[REDACTED:email]":1,"[REDACTED:email#2]":2,"token":"[REDACTED:secret]"}`,
		`{"id":"4111111111111111","uuid":"41111111-1111-4111-8111-111111111111"}`:        `{"id":"4111111111111111","uuid":"41111111-1111-4111-8111-111111111111"}`,
		`{"key":"my-sk-known-1","4242":"sk-known-1"}`:                                    `{"key":"my-[REDACTED:secret]","4242":"[REDACTED:secret]"}`,
	} {
		r := newRedactor(t, Config{Values: []string{"sk-known-1"}})
		got := r.JSON(json.RawMessage(in))
		if d := cmp.Diff(want, string(got)); d != "" {
			t.Error(d)
		}
		if again := newRedactor(t, Config{}).JSON(got); string(again) != string(got) {
			t.Errorf("a second pass: %s, then %s", got, again)
		}
	}
}

// TestEqual: within an attempt what was equal stays equal and what differed still differs,
// whatever was read first; the gold has the first numbers.
func TestEqual(t *testing.T) {
	t.Parallel()
	gold := json.RawMessage(`{"args":{"to":"gold@x.com"}}`)
	r := newRedactor(t, Config{})
	for range 2 {
		r.Begin()
		r.JSON(gold)
		if got := r.Text("other@x.com, then gold@x.com"); got != "[REDACTED:email#2], then [REDACTED:email]" {
			t.Error(got)
		}
		if got := string(r.JSON(gold)); got != `{"args":{"to":"[REDACTED:email]"}}` {
			t.Error(got)
		}
	}
	if r.Total() != 8 {
		t.Errorf("%d counted", r.Total())
	}
	if got := r.Check(
		`n == 4111111111111111 and s == "4111111111111111"`); got != `n == 9999999999999999 and s == "[REDACTED:card]"` {
		t.Error(got)
	}
}

func TestPayload(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		``:                                   ``,
		`{"password":"plain","n":1}`:         `{"password":"[REDACTED:secret]","n":1}`,
		`{"to":"a@b.com","n":1`:              `{"to":"[REDACTED:email]","n":1`,
		`{"n":1,"password":["a","b"]`:        `{"n":1,"password":[REDACTED:secret]`,
		`{'api_key' : {'x': 'y'`:             `{'api_key' :[REDACTED:secret]`,
		`"{\"to\":\"a@b.com\",\"secret\":\"`: `"{\"to\":\"[REDACTED:email]\",\"secret\":[REDACTED:secret]`,
		strings.Repeat(`a:`, 1e6):            strings.Repeat(`a:`, 1e6), // and soon
		`lookup(n: 7)`:                       `lookup(n: 7)`,
	} {
		if got := newRedactor(t, Config{}).Payload(in); got != want {
			t.Errorf("%s gives %s, want %s", in, got, want)
		}
	}
}

func TestNamesSecret(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]bool{
		``: false, `{"password":`: false, `{"a":[{"b":{"apiKey":null}}]}`: true, `{"a":"password"}`: false,
		`["secret"]`: false,
	} {
		if got := newRedactor(t, Config{}).NamesSecret(json.RawMessage(in)); got != want {
			t.Errorf("%s: %v", in, got)
		}
	}
}

func TestNewRefuses(t *testing.T) {
	t.Parallel()
	for _, c := range []Config{
		{Off: []Kind{"mail"}},
		{Patterns: []Pattern{{"x", "("}}},
		{Patterns: []Pattern{{"", "a"}}},
	} {
		if _, err := New(c); err == nil {
			t.Errorf("%+v was taken", c)
		}
	}
}

func FuzzJSON(f *testing.F) {
	for _, s := range []string{
		`{"password":"x","a":["b@c.de"]}`, `"+46 70 123 45 67"`, `{"a":`,
		`"Bearer abc123def456ghi7"`, `"X1234567L"`,
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		r := newRedactor(t, Config{})
		out := r.JSON(json.RawMessage(s))
		if len(s) > 0 && !json.Valid(out) {
			t.Fatalf("%q became %q, which is not JSON", s, out)
		}
		if value.Valid([]byte(s)) {
			if again := r.JSON(out); string(again) != string(out) && !strings.Contains(s, "REDACTED") {
				t.Logf("a second pass found more: %s, %s", out, again)
			}
		}
		r.Text(s)
	})
}

func BenchmarkJSON(b *testing.B) {
	r := newRedactor(b, Config{})
	in := json.RawMessage(
		`{"country":"AR","product_type":"electronics","result":{"window_days":30,"exceptions":["defecto de fabricación: 90 días"]},"note":"within 30 days of delivery, unopened"}`)
	b.SetBytes(int64(len(in)))
	for b.Loop() {
		r.JSON(in)
	}
}
