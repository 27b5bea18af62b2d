// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package labels

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/value"
)

// fingerprintVersion is part of each fingerprint: a new rule makes different fingerprints.
const fingerprintVersion = 1

// fingerprinted is the hashed content of a fingerprint.
type fingerprinted struct {
	Version int               `json:"version"`
	Task    string            `json:"task"`
	Asked   []string          `json:"asked"`
	Calls   []fingerprintCall `json:"calls"`
	Answer  string            `json:"answer"`
}

type fingerprintCall struct {
	Tool    string          `json:"tool"`
	Version string          `json:"version"`
	Args    json.RawMessage `json:"args"`
	Result  json.RawMessage `json:"result"`
	Status  callvet.Status  `json:"status"`
	Error   string          `json:"error"`
}

// Fingerprint identifies the output of an attempt: the question, the calls with their results, and
// the answer. It is 64 hexadecimal digits. Two attempts of one task have the same fingerprint when
// a person or a judge would see the same. The system prompt, the target, ids, times and costs are
// not part of it: a verdict does not depend on them. goal and input are the question of the task,
// in one form or the other.
func Fingerprint(goal string, input []callvet.Turn, t *callvet.Trace) string {
	f := fingerprinted{Version: fingerprintVersion, Task: t.CaseID, Answer: t.Answer}
	if goal != "" {
		f.Asked = append(f.Asked, goal)
	}
	for _, turns := range [][]callvet.Turn{input, t.Turns} {
		for i := range turns {
			if turns[i].Role == callvet.RoleUser {
				f.Asked = append(f.Asked, turns[i].Content)
			}
		}
	}
	for _, c := range t.Calls() {
		one := fingerprintCall{
			Tool: c.Tool, Version: c.Version, Args: value.Canonical(c.Args),
			Result: value.Canonical(c.Result), Status: c.Status, Error: c.Error,
		}
		if c.Args == nil && c.ArgsRaw != "" {
			one.Args = value.Quote(c.ArgsRaw)
		}
		f.Calls = append(f.Calls, one)
	}
	b, err := json.Marshal(f)
	if err != nil {
		panic(err) // texts and canonical values always encode
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}
