// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package callvet

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"reflect"
)

// Identity is a hash of the case's question and of its expectations: 32 hexadecimal digits. Texts
// that only describe the case, its tags, its repeats and its place in a file do not count. It is ""
// for a case that has nothing else.
func (c *Case) Identity() string {
	k := *c
	k.ID, k.Description, k.Tier, k.Tags, k.Family, k.Fields, k.Foreign = "", "", "", nil, "", nil, nil
	k.Position, k.Skip, k.Selectable, k.Repeat = Position{}, "", false, 0
	if reflect.DeepEqual(k, Case{}) {
		return ""
	}
	b, err := json.Marshal(k)
	if err != nil { // an invalid raw value; the message identifies it
		b = []byte(err.Error())
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:16])
}
