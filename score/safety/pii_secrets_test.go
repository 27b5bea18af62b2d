// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package safety_test

import (
	"encoding/base64"
	"maps"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/callvet/callvet/score/safety"
)

// drawn is n bytes that look drawn, of letters and digits. No key of a service stands in these
// files: they are put together here, so that no scanner takes the files for a leak.
func drawn(n int) string {
	return strings.Repeat("Zx81kQp02LmVt7RbYc45Wd3nHs6GfJ9uTe", 10)[:n]
}

// hexDigits is n hexadecimal digits that look drawn.
func hexDigits(n int) string {
	return strings.Repeat("5e68a195668a1ecb4b9f27f79fed97a8", 3)[:n]
}

func TestEmail(t *testing.T) {
	t.Parallel()
	finds(t, safety.RoleNone, map[string]string{
		"a@b.co":                          "<email>",
		"to ana.perez+x%y-z'o_1@m-x.a.cz": "to <email>",
		"A@B.CZ":                          "<email>",
		"<a@b.com>, c@d.org.":             "<<email>>, <email>.",
		".'-ana@b.com.-":                  ".'-<email>.-",
		"a@b.com@c.org":                   "<email>@c.org",
		"gita@b.com":                      "<email>",
		"a@2y.com a@2xy.com a@xx.com":     "<email> <email> <email>",
		"a@b.com_x":                       "<email>_x",
		"digits 8@9.com":                  "digits <email>",
	})
	ignores(
		t, safety.RoleNone,
		"x a@b.c", "@example.com", " .'@example.com", "ana@.example", "ana@ example.com", "me@home", "a@b_c.com",
		"ana@10.0.0.1", "a@b.c1m", "a@b.com1", "mail ana@", "ana@.-.",
		"git@github.com", "logo@2x.png", "a@b.com"[:5], "a!@b.", "(@b.com)",
	)
}

// TestPrivateKey: a block goes to the end of its last line, one that is cut off to the end of the text.
func TestPrivateKey(t *testing.T) {
	t.Parallel()
	const begin, end = "-----BEGIN RSA PRIVATE " + "KEY-----", "-----END RSA PRIVATE " + "KEY-----"
	finds(t, safety.RoleNone, map[string]string{
		"a " + begin + "\nMIIEow\n" + end + " b":                    "a <private_key> b",
		begin + "\nMII-----Eow\n" + end + "-":                       "<private_key>-",
		"a " + begin + "\nMIIEow\n-----END RSA PRI b":               "a <private_key>",
		"a " + begin + "\nMIIEow b":                                 "a <private_key>",
		begin + "\nMIIEow\n" + end + "\n" + begin + "\nMII\n" + end: "<private_key>\n<private_key>",
	})
	ignores(t, safety.RoleNone, "-----BEGIN CERTIFICATE-----\nMIIEow\n-----END CERTIFICATE-----",
		"-----BEGIN RSA PRIVATE "+"KEY and no more", "-----BEGIN "+"CERTIFICATE-----PRIVATE KEY", "-----BEGIN")
}

// TestCredentials: the text after the words Bearer and Basic, and signed tokens.
func TestCredentials(t *testing.T) {
	t.Parallel()
	basic := func(n int) string { // of n bytes of base64
		return base64.StdEncoding.EncodeToString([]byte("bob:" + strings.Repeat("x", n/4*3-4)))
	}
	const jwt = "eyJhbGciOiJIUzI1NiJ9" + ".e30." + "ab-_e" // 30 bytes, the fewest
	finds(t, safety.RoleNone, map[string]string{
		"Bearer abc123de":                  "Bearer <bearer>",
		"send bEARER ab.12+de/4=~-_z, now": "send bEARER <bearer>, now",
		"send Basic " + basic(8):           "send Basic <bearer>",
		"basic Ym8+OnM/Y3J+dA==, now":      "basic <bearer>, now",
		"Basic " + basic(256):              "Basic <bearer>",
		jwt:                                "<jwt>",
		"a " + jwt + "... b":               "a <jwt>... b",
		jwt + "xyz":                        "<jwt>",
	})
	ignores(
		t, safety.RoleNone,
		"Bearer abc123d", "Bearer of good news", "Bearer", "Bearer ", "bearer: abc", "the Bearertoken1", "a Bearer",
		"not a Bear",
		"Basic "+base64.StdEncoding.EncodeToString([]byte("a:b")), "Basic "+basic(260), "basic knowledge",
		"Basic YTpiYTpiY", "Basic "+base64.StdEncoding.EncodeToString([]byte("no colon")),
		"Basic "+basic(8)[:7]+"_", "Basic", "a Basic",
		jwt[:29], jwt[:25]+"ab.de", "eyJhbGciOiJIUzI1NiJ9.abcdefghijkl", jwt[1:],
		"eyJhbGciOiJIUzI1NiJ9e30abcdefghijk....",
	)
}

// TestServices: keys of services by the form that each publishes.
func TestServices(t *testing.T) {
	t.Parallel()
	want := map[string]string{}
	for _, key := range []string{
		"sk-" + drawn(48), "sk-proj-" + drawn(74), "sk-ant-api03-" + drawn(93), "xai-" + drawn(80), "gsk_" + drawn(52),
		"hf_" + drawn(34), "r8_" + drawn(37), "AIza" + drawn(35),
		"AKIA" + "Z7QK2M4XW9P3R5T8", "ASIA" + "Z7QK2M4XW9P3R5T8", "ghp_" + drawn(36), "gho_" + drawn(36),
		"ghu_" + drawn(36), "ghs_" + drawn(36), "ghr_" + drawn(36),
		"github_pat_" + drawn(22) + "_" + drawn(59), "glpat-" + drawn(20), "xoxb-" + "2048163264-" + drawn(24),
		"xoxp-" + "2048163264-" + drawn(32),
		"xapp-" + "1-A048-" + drawn(30), "sk_live_" + drawn(24), "sk_test_" + drawn(24), "rk_live_" + drawn(24),
		"whsec_" + drawn(32), "SG." + drawn(22) + "." + drawn(43),
		"npm_" + drawn(36), "pypi-" + drawn(100), "dop_v1_" + hexDigits(64), "shpat_" + hexDigits(32),
		"dapi" + hexDigits(32), "key-" + hexDigits(32), "GOCSPX-" + drawn(28), "ya29." + drawn(60),
		"lin_api_" + drawn(40), "ntn_" + drawn(43), "PMAK-" + drawn(24) + "-" + drawn(34),
		"glsa_" + drawn(32) + "_" + hexDigits(8), "hvs." + drawn(90), "NRAK-" + drawn(27),
		"SK" + hexDigits(32), "pat" + drawn(14) + "." + hexDigits(64), "12345678:AA" + drawn(33),
		"1234567890:AA" + drawn(31) + "-_",
	} {
		want[key], want["key "+key+". ok"], want["key "+key+"-.-"] = "<api_key>", "key <api_key>. ok",
			"key <api_key>-.-"
	}
	for _, key := range []string{
		"SK" + hexDigits(32), "pat" + drawn(14) + "." + hexDigits(64),
		"12345678:AA" + drawn(33), "1234567890:AA" + drawn(31) + "-_",
	} {
		delete(want, "key "+key+"-.-") // the length is fixed: a dash makes it another word
	}
	finds(t, safety.RoleNone, want)
}

// TestLeast: a prefix with one byte fewer behind it than keys have is none.
func TestLeast(t *testing.T) {
	t.Parallel()
	want := map[string]string{}
	for prefix, least := range map[string]int{
		"EAACEdEose0cBA": 8, "sk_" + "live_": 12, "sk-": 16, "shpca_": 16, "ghp_": 20, "NRAK-": 20, "csk-": 24,
		"ATBB": 24, "AI" + "za": 30, "1//0": 30, "dapi": 32, "pat-na1-": 32,
	} {
		key := prefix + drawn(least)
		want["use "+key] = "use <api_key>"
		short := "use " + key[:len(key)-1]
		want[short], want[short+"-"], want["x"+key] = short, short+"-", "x"+key
	}
	finds(t, safety.RoleNone, want)
	ignores(
		t, safety.RoleNone,
		"SK"+hexDigits(31), "SK"+hexDigits(33), "SK"+hexDigits(32)+"g", "SK"+strings.Repeat("a", 32),
		"a SK"+hexDigits(31),
		"pat"+drawn(14), "pat"+drawn(13)+"-."+hexDigits(64), "pat"+drawn(14)+"-"+hexDigits(64),
		"pat"+drawn(14)+"."+hexDigits(63), "pat"+drawn(14)+"."+hexDigits(64)+"x", "a pat on it",
		"1234567:AA"+drawn(33), "12345678901:AA"+drawn(33), "12345678:AA"+drawn(32), "12345678:AA"+drawn(34),
		"12345678:AB"+drawn(33), "n 1234567:AA"+drawn(33),
		"sk-............................", "my sk-- and ....",
	)
}

func TestWebhooks(t *testing.T) {
	t.Parallel()
	want := map[string]string{}
	for _, address := range []string{
		"https://hooks.slack.com/services/", "https://discord.com/api/webhooks/",
		"https://discordapp.com/api/webhooks/", "https://x-y.webhook.office.com/webhookb2/",
		"https://outlook.office.com/webhook/", "https://hooks.zapier.com/hooks/catch/",
	} {
		want["post to "+address+"a-1/b@2_34, now"] = "post to " + address + "<api_key>, now"
		want[address+"a-1/b@2_3"] = address + "a-1/b@2_3" // nine bytes are too few
		want[strings.Replace(address, "https://", "https://a_", 1)+"a-1/b@2_34"] = strings.Replace(address, "https://",
			"https://a_", 1) + "a-1/b@2_34"
	}
	const office = "https://a_x-y.webhook.office.com/webhookb2/"
	want[office+"a-1/b@2_34"] = office + "<api_key>"
	finds(t, safety.RoleNone, want)
	ignores(t, safety.RoleNone, "http://hooks.slack.com/services/a-1/b@2_34", "https://hooks.slack.com/help/a-1/b@2_345",
		"https://webhook.office.com/webhookb2/a-1/b@2_34")
}

// TestUserinfo: a URL with a password, or with a name that looks drawn in its place.
func TestUserinfo(t *testing.T) {
	t.Parallel()
	const name = "Zx81kQp02LmVt7Rb" // 16 bytes, the fewest
	finds(t, safety.RoleNone, map[string]string{
		"postgres://bob:hunter2@db.test/x":               "postgres://<secret>@db.test/x",
		"see xyz://b:h@db.test":                          "see xyz://<secret>@db.test",
		"HTTPZ://b:h@db.test":                            "HTTPZ://<secret>@db.test",
		"https://" + name + "@db.test":                   "https://<secret>@db.test",
		"https://b:" + strings.Repeat("x1", 127) + "@c":  "https://<secret>@c",
		"https://b:x" + strings.Repeat("y1", 127) + "@c": "https://b:x" + strings.Repeat("y1", 127) + "@c", // 257 bytes
	})
	ignores(
		t, safety.RoleNone,
		"://bob:hunter2@db", "x ://bob:hunter2@db", "1://bob:hunter2@db", "x:/bob:hunter2@db",
		"https://"+name[:15]+"@db", "https://justsomelettersandnodigit@db",
		"https://bob:@db", "https://bob:password@db", "https://bob:<pass>@db", "https://bob:${PASS}@db",
		"https://[REDACTED:secret]@db",
		"https://@db", "https://bob:hunter2", "see http://a.test or b:hunter22@c", "http://a.test/b:hunter22@c",
		"http://a.test?b:hunter22@c", "http://a.test#b:hunter22@c", `"http://a.test"b:hunter22@c`,
		"http://", "at http://",
	)
}

func TestOptions(t *testing.T) {
	t.Parallel()
	finds(t, safety.RoleNone, map[string]string{
		"--password hunt11 --verbose":     "--password <secret> --verbose",
		"run --db-password 'hunter2;x'":   "run --db-password '<secret>;x'",
		"---password hunter2":             "---password <secret>",
		"run --token " + drawn(16):        "run --token <secret>",
		"run (--secret_key  \"hunter2\")": "run (--secret_key  \"<secret>\")",
	})
	ignores(
		t, safety.RoleNone,
		"--password hunt1", "run --password hunt1", "a--password hunter2", "a---password hunter2",
		"_--password hunter2", "--password --verbose", "--password <secret1>", "--password [REDACTED:secret]",
		"--password required", "--password", "use --password", "--password ", "--passwords-file hunter2",
		"--name hunter2", "--token "+drawn(15), "--token hunter2", "--sort-key window_days_30",
	)
}

// TestNamed: the value behind a name that announces a secret, whatever it is, or behind one that
// is called token or key and looks drawn.
func TestNamed(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 56) + "password" // 64 bytes, the longest name
	key := drawn(16)
	escaped := drawn(255) + `\`
	finds(t, safety.RoleNone, map[string]string{
		"password=hunter":                                 "password=<secret>",
		"password=hunter2 x":                              "password=<secret> x",
		"pwd=hunter2":                                     "pwd=<secret>",
		"password=sesame":                                 "password=<secret>",
		"password: sesame1":                               "password: <secret>",
		`password="hunter2"x`:                             `password="<secret>"x`,
		`password='hunter2'x`:                             `password='<secret>'x`,
		`password = "abc(def)1"`:                          `password = "<secret>"`,
		`password='abc(def)1'`:                            `password='<secret>'`,
		`password == "hush-4711" and n != 2`:              `password == "<secret>" and n != 2`,
		`x.api_key!='hush-4711'`:                          `x.api_key!='<secret>'`,
		`password="https://a.test"`:                       `password="<secret>"`,
		`{\"password\": \"hunter2x\", \"a\":1}`:           `{\"password\": \"<secret>\", \"a\":1}`,
		`{\'password\': \'hunter2x\'}`:                    `{\'password\': \'<secret>\'}`,
		`password=hunter\2\`:                              `password=<secret>`,
		`{\"key\": \"` + escaped + `"}`:                   `{\"key\": \"<secret>\"}`,
		"Authorization: Bearer hunter2x":                  "Authorization: Bearer <secret>",
		"Authorization: basic hunter2x":                   "Authorization: basic <secret>",
		long + "=hunter2":                                 long + "=<secret>",
		"--" + long + "=hunter2":                          "--" + long + "=<secret>",
		"a--" + long + "=hunter2":                         "a--" + long + "=<secret>", // so far back a name is read
		"password:" + strings.Repeat(" ", 11) + "hunter2": "password:" + strings.Repeat(" ", 11) + "<secret>",
		"token=" + key:                                    "token=<secret>",
		"sort_key: " + key + ";":                          "sort_key: <secret>;",
		`token="` + key + `("`:                            `token="<secret>"`,
		"key=" + drawn(300) + " ok":                       "key=<secret> ok",
		"api_key=" + hexDigits(32):                        "api_key=<api_key>",
		"subscription-key: " + hexDigits(32):              "subscription-key: <api_key>",
		"api_key=" + hexDigits(31):                        "api_key=<secret>",
		"client_secret=" + hexDigits(32):                  "client_secret=<secret>",
		"a.test?sig=" + drawn(16):                         "a.test?sig=<api_key>",
		"a.test?x=1&sig=" + drawn(16) + "&y=2":            "a.test?x=1&sig=<api_key>&y=2",
		"a.test?X-Amz-Signature=" + hexDigits(64):         "a.test?X-Amz-Signature=<api_key>",
		strings.Repeat("so ", 40) + "password: hunter2":   strings.Repeat("so ", 40) + "password: <secret>",
	})
	ignores(
		t, safety.RoleNone,
		"password=hunt1", "password: sesame", "password=required", "password=[REDACTED:secret]", "PWD=/home/ana",
		"OLDPWD=/home/ana", "password=https://a.test/reset", "wd=hunter2",
		"password=bearer ", "password: ", "=hunter2", ": hunter2", "!= 'hunter2'", `== "hunter2"`, "x"+long+"=hunter2",
		"password:"+strings.Repeat(" ", 12)+"hunter2",
		`password == confirmed`, "password !='", "token="+key[:15], "token="+key+"(", "token="+key+"[0",
		"key=window_days_thirty", "name="+key, "token="+hexDigits(32),
		"token=5e68a195-668a-4ecb-8b9f-27f79fed97a8", "token=5e68a195668a1ecb",
		"a.test?sig="+drawn(15), "sig="+drawn(16), "a sig="+drawn(16), "a.test?signed="+drawn(16), "the?sig",
		strings.Repeat("key:a-", 1000),
	)
}

// TestCode: a line of a program that passes a variable on contains no secret; the content of the
// query of a URL, and behind a name in capitals, is a value.
func TestCode(t *testing.T) {
	t.Parallel()
	finds(t, safety.RoleNone, map[string]string{
		"PASSWORD=settings.secret":        "PASSWORD=<secret>",
		"a.test?password=user_name":       "a.test?password=<secret>",
		"a.test?a=1&password=user_name&x": "a.test?a=1&password=<secret>&x",
		"PASSWORD = settings":             "PASSWORD = <secret>",
		"password=user.name1":             "password=<secret>",
		"password=hidden":                 "password=<secret>",
		"password=hidden;":                "password=<secret>;",
	})
	ignores(
		t, safety.RoleNone,
		"PASSWORD = settings.secret", "password=user.password", "password=user_name", "f(password=hidden)",
		"f(password=hidden, n)", "f(password=hidden).", "password=password", "password=Password",
		"secret=str(x)", "password=users[x", "login(a, password=secret_of)",
	)
}

// TestPlaceholders: a placeholder of a secret is no secret.
func TestPlaceholders(t *testing.T) {
	t.Parallel()
	got, want := map[string]bool{}, map[string]bool{}
	d := newDetector(t, safety.DetectorConfig{})
	for secret, values := range map[bool][]string{
		false: {
			"", "<password>", "{key}", "[key]", "(none)", "%PASSWORD%", "${TOKEN}", "$(pass show x)", "$TOKEN_1",
			"none", "Null", "true", "false", "string", "required", "undefined", "redacted",
			"CHANGEME", "unknown", "empty", "YOUR_API_KEY", "sk-...", "your_key", "your-key", "Your key", "***", "xxx",
			"XXX", "...", "---", "___", "###", "[REDACTED:secret]",
		},
		true: {
			"x", "<password", "(none", "%PASSWORD", "$", "$token", "$T-1", "nothing", "API", "your_", "yourself",
			"yours1", "your", "**", "xx", "aaa", "*x*", "sk-..", "a_B", "hunter2",
		},
	} {
		for _, s := range values {
			want[s] = secret
			_, got[s] = d.Whole(s, safety.RoleSecret)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// TestDrawn: the value of a token is a secret when it looks drawn: 16 bytes and more, with letters and
// digits, 3 bits of entropy a byte, and two digits, or two letters of both cases; or 24 bytes of letters
// with more than 4 bits.
func TestDrawn(t *testing.T) {
	t.Parallel()
	got, want := map[string]bool{}, map[string]bool{}
	d := newDetector(t, safety.DetectorConfig{})
	for secret, values := range map[bool][]string{
		true: {
			drawn(16), "gghhkkmm11223344", "abcdefghijklmno12", "abcdefghijklmnOP1", "ABCDEFGHIJKLMNop1",
			"ABCDEFGHIJKLMNOPQRSTUVWX", "abcdefghijklmnopqrstuvwx",
			"ABCDEFGHIJKLabcdefghijkl", "abcdefghijklMNOPQRSTUVWX", "ABCDEFGH12345678",
		},
		false: {
			drawn(15), "ggghkkmm11223344", "abcdefghijklmnop1", "abcdefghijklmnoP1", "ABCDEFGHIJKLMNOp1",
			"abcdefghijklmnopqrstuvw", "abcdefghijklmnopabcdefghijklmnop",
			"!\"#$%&'()*+,-./:;<=>?@[\\]^", "1234567890!\"#$%&'()*+,-./:;<=", drawn(8) + " " + drawn(8),
			drawn(8) + "\t" + drawn(8), "web3-research-xy",
			hexDigits(16), hexDigits(32), "5e68a195-668a-4ecb-8b9f-27f79fed97a8", "[REDACTED:secret#12]",
		},
	} {
		for _, s := range values {
			want[s] = secret
			_, got[s] = d.Whole(s, safety.RoleToken)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	// 2.5 bits are enough there, 2.41 are not
	short := map[string]string{"Bearer aabb1234": "Bearer <bearer>", "Bearer aaab1234": "Bearer aaab1234"}
	maps.Copy(short, map[string]string{
		"Bearer web3-research-xy": "Bearer web3-research-xy",
		"Bearer web3-research-x":  "Bearer <bearer>",
	})
	finds(t, safety.RoleNone, short)
}
