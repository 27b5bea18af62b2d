// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package redact

import (
	"path"
	"regexp"
	"slices"
	"strings"
)

// SecretName reports whether a variable is named like a secret. A word of the name is KEY, TOKEN,
// SECRET, PASSWORD, CREDENTIALS or a form of these, or the name is one of the AWS_ variables.
func SecretName(name string) bool {
	name = strings.ToUpper(name)
	if strings.HasPrefix(name, "AWS_") {
		return true
	}
	for word := range strings.SplitSeq(name, "_") {
		switch word {
		case "KEY", "KEYS", "APIKEY", "TOKEN", "TOKENS", "SECRET", "SECRETS", "PASSWORD", "PASSWD", "PASSPHRASE",
			"PASSWORDS", "PWD", "CREDENTIAL", "CREDENTIALS", "PAT", "JWT", "COOKIE":
			return name != "PWD" && name != "OLDPWD"
		}
		if strings.HasSuffix(word, "APIKEY") || strings.HasSuffix(word, "PASSWORD") ||
			strings.HasSuffix(word, "TOKEN") {
			return true
		}
	}
	return false
}

// region is the form of eu-north-1.
var region = regexp.MustCompile(`^[a-z]{2}(-[a-z]+)+-\d$`)

// setting reports whether the value of a variable with a secret's name is no secret: a path, an
// address without a password, a region, a word.
func setting(v string) bool {
	if strings.HasPrefix(v, "/") || strings.HasPrefix(v, "~") || strings.HasPrefix(v, "./") ||
		strings.Contains(v, "://") {
		return true
	}
	if region.MatchString(v) {
		return true
	}
	return len(v) < 12 && strings.Trim(v, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ") == ""
}

// ChildEnvironment is the part of environ (NAME=VALUE) that is passed to a child process: all
// variables except keys of providers and secrets by name. A pattern in allow (a name, or one with
// *) passes a variable. withheld are the names that are not passed, sorted.
func ChildEnvironment(environ, keys, allow []string) (pass, withheld []string) {
	pass = []string{}
	for _, kv := range environ {
		name, _, _ := strings.Cut(kv, "=")
		if !slices.Contains(keys, name) && !SecretName(name) || allowed(name, allow) {
			pass = append(pass, kv)
			continue
		}
		withheld = append(withheld, name)
	}
	slices.Sort(withheld)
	return pass, slices.Compact(withheld)
}

func allowed(name string, patterns []string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool {
		ok, err := path.Match(p, name)
		return ok && err == nil
	})
}
