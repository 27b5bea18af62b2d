// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package redact

import (
	"fmt"
	"maps"
	"net"
	"net/url"
	"slices"
	"strings"

	"github.com/callvet/callvet"
)

// RefuseSpelled refuses an address or headers with a literal secret, because both are stored with the
// run: use ${NAME}. Secrets are recognized by name, such as api_key and Authorization. The error
// wraps callvet.ErrInvalid and repeats no value.
func RefuseSpelled(address string, headers map[string]string) error {
	u, err := url.Parse(WithoutVariables(address))
	if err != nil {
		u = &url.URL{} // opening it reports the error
	}
	if password, _ := u.User.Password(); password != "" {
		return spelled("a password", "give it in a header: --header 'Authorization: Basic ${BASIC}'")
	}
	query := u.Query()
	for _, name := range slices.Sorted(maps.Keys(query)) {
		if CredentialName(name) && slices.ContainsFunc(query[name], func(v string) bool { return v != "" }) {
			return spelled(name, fmt.Sprintf("write %s=${%s} and export %[2]s", name, variableOf(name)))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(headers)) {
		if CredentialName(name) && len(Variables(headers[name])) == 0 {
			return spelled("the header "+name,
				fmt.Sprintf("write '%s: ${%s}' and export %[2]s", name, variableOf(name)))
		}
	}
	return nil
}

func spelled(what, hint string) error {
	return &callvet.Hinted{Err: fmt.Errorf(
		"open target: %w: %s is spelled out, and addresses and headers are kept with the run", callvet.ErrInvalid,
		what), Hint: hint}
}

// variableOf is a name for a variable of the environment; PWD is the shell's own.
func variableOf(name string) string {
	if strings.EqualFold(name, "pwd") {
		return "PASSWORD"
	}
	return strings.Map(func(r rune) rune {
		if r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' {
			return r
		}
		return '_'
	}, strings.ToUpper(name))
}

// CredentialName reports whether a header or a query parameter of this name contains credentials,
// whatever its value.
func CredentialName(name string) bool {
	name = strings.ReplaceAll(strings.ToLower(name), "keyword", "")
	return slices.Contains([]string{"sig", "code", "pass"}, name) ||
		slices.ContainsFunc([]string{
			"auth", "token", "key", "secret", "passw", "passphrase", "pwd", "jwt", "bearer",
			"credential", "signature", "cookie",
		}, func(part string) bool {
			return strings.Contains(name, part)
		})
}

// ExposedAddress reports whether data sent to an address can be read in transit: plain http to another
// machine.
func ExposedAddress(u *url.URL) bool {
	if u.Scheme != "http" {
		return false
	}
	host := strings.TrimSuffix(strings.ToLower(u.Hostname()), ".")
	if host == "localhost" || strings.HasSuffix(host, ".localhost") {
		return false
	}
	ip := net.ParseIP(host)
	return ip == nil || !ip.IsLoopback() && !ip.IsUnspecified() // which means this machine when it is dialled
}

// HasCredential reports whether an address itself has a credential: a user, or a parameter that is
// named like one.
func HasCredential(u *url.URL) bool {
	if u.User != nil {
		return true
	}
	for name, values := range u.Query() {
		if CredentialName(name) && strings.Join(values, "") != "" {
			return true
		}
	}
	return false
}

// UnencryptedWarning is the warning about an exposed address that receives a secret.
func UnencryptedWarning(u *url.URL) string {
	return fmt.Sprintf(
		"the key for %s goes over plain http, where others can read it: use https, or a tunnel to localhost", u.Host)
}

// longestWord is how far back CutText searches for the end of a word, in bytes.
const longestWord = 512

// CutText truncates a text to at most most bytes, between two words: a part of a secret would not be
// recognized and masked. It is valid UTF-8 if s is.
func CutText(s string, most int) string {
	if len(s) <= most {
		return s
	}
	s = strings.ToValidUTF8(s[:most], "")
	if i := strings.LastIndexAny(s, " \t\r\n\"',;"); i >= 0 && len(s)-i <= longestWord {
		s = s[:i+1]
	}
	return s
}
