// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package redact

import (
	"encoding/json"
	"net/url"
	"slices"
	"strings"
	"sync"

	"github.com/callvet/callvet/score/safety"
)

// Keeper knows secrets. It is safe for concurrent use; the zero Keeper knows none.
type Keeper struct {
	mu     sync.Mutex
	values []string
	detect *safety.Detector // made once it is needed
}

// NewKeeper returns a Keeper with the secret values of the environment (NAME=VALUE): the
// variables in keys, variables with a secret's name, and passwords in addresses.
func NewKeeper(environ, keys []string) *Keeper {
	k := &Keeper{}
	for _, kv := range environ {
		name, v, _ := strings.Cut(kv, "=")
		v = strings.TrimSpace(v)
		if u, err := url.Parse(v); err == nil && u.User != nil {
			if p, ok := u.User.Password(); ok {
				k.Learn(p)
			}
		}
		if slices.Contains(keys, name) || SecretName(name) && !setting(v) {
			k.Learn(v)
		}
	}
	return k
}

// minSecret is the least length of a searched value: shorter values ("none", "EMPTY") are
// placeholders for local servers, and would only damage texts.
const minSecret = 8

// Learn adds a value, in the encodings that it may have.
func (k *Keeper) Learn(v string) {
	if len(v) < minSecret {
		return
	}
	forms := []string{v, url.QueryEscape(v), url.PathEscape(v)}
	if b, err := json.Marshal(v); err == nil {
		forms = append(forms, string(b[1:len(b)-1]))
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, f := range forms {
		if !slices.Contains(k.values, f) {
			k.values = append(k.values, f)
		}
	}
	// The longest first: one may be a part of another.
	slices.SortFunc(k.values, func(a, b string) int { return len(b) - len(a) })
}

// LearnSent adds the value of a variable in a header, whatever its name, unless it is a path, an
// address, a region or a word.
func (k *Keeper) LearnSent(v string) {
	if !setting(v) {
		k.Learn(v)
	}
}

// Values are the values known now.
func (k *Keeper) Values() []string {
	k.mu.Lock()
	defer k.mu.Unlock()
	return slices.Clone(k.values)
}

// detector finds secrets of every form.
func (k *Keeper) detector() (*safety.Detector, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	var err error
	if k.detect == nil {
		k.detect, err = safety.NewDetector(safety.DetectorConfig{})
	}
	return k.detect, err
}

// Redactor returns a Redactor that removes the known values and everything with the form of a
// secret or of personal data, except the kinds that are off. The error is the error of New.
func (k *Keeper) Redactor(off []Kind) (*Redactor, error) {
	return New(Config{Off: off, Values: k.Values()})
}

// PersonalKinds are the kinds that identify a person; the others grant access.
func PersonalKinds() []Kind {
	var out []Kind
	for _, kind := range Kinds() {
		if !kind.Secret() {
			out = append(out, kind)
		}
	}
	return out
}

// Hide removes secrets from a message for a person. Personal data stays, because it may name the
// file or the case of the message.
func (k *Keeper) Hide(text string) string {
	r, err := k.Redactor(PersonalKinds())
	if err != nil { // the kinds are built in
		return text
	}
	return r.Text(text)
}
