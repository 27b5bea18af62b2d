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

// NewKeeper knows the values of the environment (NAME=VALUE) that are secret: those of the
// variables in keys, of variables that are named like a secret, and passwords in addresses.
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

// minSecret is how long a value is at least that is looked for: shorter ones ("none", "EMPTY")
// are stand-ins for local servers, and would only damage texts.
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

// LearnSent adds the value of a variable that a header is made of, whatever its name, unless it is
// a path, an address, a region or a word.
func (k *Keeper) LearnSent(v string) {
	if !setting(v) {
		k.Learn(v)
	}
}

// Values are those known now.
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

// Redactor is one that takes out the known values and, but for the kinds that are off, all
// that has the form of a secret or of personal data. The error is that of New.
func (k *Keeper) Redactor(off []Kind) (*Redactor, error) {
	return New(Config{Off: off, Values: k.Values()})
}

// PersonalKinds are the kinds that name a person; the others open a door.
func PersonalKinds() []Kind {
	var out []Kind
	for _, kind := range Kinds() {
		if !kind.Secret() {
			out = append(out, kind)
		}
	}
	return out
}

// Hide takes secrets out of a message for a person. Personal data stays: it names the file or
// the case that the message is about.
func (k *Keeper) Hide(text string) string {
	r, err := k.Redactor(PersonalKinds())
	if err != nil { // the kinds are its own
		return text
	}
	return r.Text(text)
}
